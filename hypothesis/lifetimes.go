package hypothesis

import (
	"math"
	"slices"
	"sort"

	"dither/noise"
)

// Lifetimes are noisy counts of people by the period in which they were last observed, for each group. Periods are in
// order. A person who was observed in a period was at risk in it and in every period before.
type Lifetimes struct {
	Events   [][]float64        // [group][period]: people to whom the event happened in this period
	Censored [][]float64        // [group][period]: people who were observed last in this period, without the event
	Noise    noise.Distribution // of each count, independently; nil means no noise
	// Grouped says that times are known to the period only, so people may leave before events of their last period. Then
	// all statistics assume that they leave evenly over a period, but at the end of the last one: the grid may end before
	// people leave. Otherwise people leave after the events of their last period.
	Grouped bool
	// Single says which periods have a single time, after whose events people leave even if Grouped is set. It is nil if
	// there is none.
	Single []bool
	How
}

// check checks the lifetimes, and returns the numbers of groups and of periods.
func (l Lifetimes) check() (groups, periods int, how How, err error) {
	if how, err = l.How.check(); err != nil {
		return
	}
	if how.Method != Projected {
		return 0, 0, how, wrong("lifetimes have one method only")
	}
	groups, periods, err = paired("lifetimes", "periods", l.Events, l.Censored)
	if err == nil && l.Single != nil && len(l.Single) != periods {
		err = wrong("there are %d periods, and %d say whether they have a single time", periods, len(l.Single))
	}
	return groups, periods, how, err
}

// paired checks two lists of counts for each group, all of the same length, and returns the numbers of groups and of
// counts in a list. The words say what the lists are of, and what a count is of.
func paired(of, each string, a, b [][]float64) (groups, length int, err error) {
	if groups = len(a); groups == 0 || len(b) != groups {
		return 0, 0, wrong("%s need two lists of counts for each group, of at least one", of)
	}
	if length = len(a[0]); length == 0 || 2*groups*length > MaxCells {
		return 0, 0, wrong("%s need 1 to %d counts", of, MaxCells)
	}
	for g := range groups {
		if len(a[g]) != length || len(b[g]) != length {
			return 0, 0, wrong("all groups must have the same %s", each)
		}
		if err := checkNumbers("counts", slices.Concat(a[g], b[g])...); err != nil {
			return 0, 0, err
		}
	}
	return groups, length, nil
}

// lifeTable has, for each period, the events d, the people at risk n at its start, and those at risk at its events. With
// grouped times, the latter are without half of the people who leave in the period [Cutler & Ederer 1958].
type lifeTable struct {
	d, n, at []float64
	grouped  []bool // periods of several times
}

func (l Lifetimes) table(events, censored []float64) lifeTable {
	t := lifeTable{events, make([]float64, len(events)), make([]float64, len(events)), make([]bool, len(events))}
	for j := range t.grouped {
		t.grouped[j] = l.Grouped && (l.Single == nil || !l.Single[j])
	}
	n := 0.0
	for j := len(events) - 1; j >= 0; j-- {
		n += events[j] + censored[j]
		t.n[j], t.at[j] = n, n
		if early := t.early(j); early > 0 { // noise may let more people leave than there are
			t.at[j] = max((1-early)*n, n-early*censored[j])
		}
	}
	return t
}

// early returns the part of the people who leave in period j that leaves before its events.
func (t lifeTable) early(j int) float64 {
	if t.grouped[j] && j < len(t.d)-1 {
		return 0.5
	}
	return 0
}

// atRisk is how many standard deviations of its noise the number of people at risk must be above 0. With three, some
// intervals of curves of 150 people covered 80 % instead of 95 %.
const atRisk = 5

// horizon returns the number of periods before the first in which too few are at risk to estimate anything: fewer than
// 5, or less than [atRisk] standard deviations of the noise of their number. s2 is the variance of the noise of a
// count,
// and groups is over how many groups the counts were added up.
func (t lifeTable) horizon(s2 float64, groups int) int {
	for j, n := range t.n {
		if !(n >= fewExpected && n >= atRisk*math.Sqrt(2*s2*float64(groups*(len(t.n)-j)))) {
			return j
		}
	}
	return len(t.n)
}

// hazard returns the share of those at risk in period j to whom the event happens in it, within [0, 1].
func (t lifeTable) hazard(j int) float64 { return min(1, max(0, t.d[j]/t.at[j])) }

// uneven returns the table if all who leave in a period leave before its events, or after them.
func (t lifeTable) uneven(before bool) lifeTable {
	out := lifeTable{t.d, t.n, slices.Clone(t.n), t.grouped}
	for j := range out.at {
		if before && t.early(j) > 0 {
			out.at[j] = max(0, t.d[j]) + max(0, t.n[j+1])
		}
	}
	return out
}

// staying returns the share of those at risk in period j to whom the event does not happen in it. It is above 1 if noise
// makes the number of events negative.
func (t lifeTable) staying(j int) float64 {
	if t.at[j] > 0 {
		return max(0, 1-t.d[j]/t.at[j])
	}
	return 0
}

// Survived is a point of a survival curve: the share of people to whom the event has not happened by the end of a
// period.
type Survived struct {
	AtRisk    float64 // noisy number of people at risk at the start of the period
	Share     float64 // in [0, 1]; it never rises
	StdError  float64 // from sampling and from noise
	Low, High float64 // the interval for this point alone
	// the band: with the given confidence, it contains the shares of all periods of the curve together; its ends never rise
	BandLow, BandHigh float64
	// Grouping is the most by which Share may be off if times are grouped and people do not leave evenly over periods before
	// the last one of the grid. Intervals and bands do not cover it.
	Grouping float64
}

// Coarse reports whether people who do not leave evenly over periods could make the interval cover less often than it
// says: by more than half of its standard error, with which a 95 % interval still covers in 92 % of samples.
func (p Survived) Coarse() bool { return p.Grouping > p.StdError/2 }

// Curve returns the Kaplan–Meier curve of a group, with intervals and a band. The curve ends before the first period in
// which fewer than 5 people are at risk, or less than five standard deviations of the noise of their number; it may be
// empty.
//
// With d events among n people at risk in a period, the share is Π(1 − d/n) over the periods up to it. Noise may make
// it rise; the curve is the nearest one within [0, 1] that does not. To first order, the relative error of the product
// is Σ(w·ν − δ/(n − d)), where δ and ν are the noise of d and n, and w = d/(n(n − d)). Sampling adds Greenwood's
// variance
// Σw, or that of [fewEvents] if it is larger. The quantiles of the error, at a point and of its largest multiple over
// the
// curve, come from simulated noise of the known distribution and normal sampling errors. They are accurate in the limit
// of many people at risk. The middle of an interval is the product, moved towards a half by two people on either side,
// and
// each interval contains the curve.
//
// The ends of the band never rise. Where the band S_t ∈ [L_t, U_t] holds at all t together, the narrower band does too:
// the true S never rises, so S_t ≤ S_s ≤ U_s for every s ≤ t, and S_t ≥ S_u ≥ L_u for every u ≥ t. So S_t is at most the
// least U_s and at least the largest L_u, with the same confidence. The intervals of single points may rise. The argument
// would need two of them to hold together, so the least of several upper ends would cover less often than it says.
//
// With [Lifetimes.Grouped], n is without half of the people who leave in a period of several times. Let c people leave in
// it, c_i of them before event i. The factor of the Kaplan–Meier curve by exact times is Π_i (1 − 1/(n − i + 1 − c_i)),
// with n at the start of the period. It falls with each c_i, from (n − d)/n if all c_i are 0, to (n − c − d)/(n − c) if all
// are c. So the curve by exact times is between the products of these two. So is the curve here, before noise, and Grouping
// is its distance from the farther one. If people leave evenly, and few periods are long compared with the time until the
// event, the curve is off by much less. In the last period all who are left count as leaving at its end. Grouping does not
// bound its share: if all who leave leave before the events, the share is 0.
func (l Lifetimes) Curve(group int, confidence float64) ([]Survived, error) {
	groups, periods, how, err := l.check()
	switch {
	case err != nil:
		return nil, err
	case group < 0 || group >= groups:
		return nil, wrong("there is no group %d", group)
	case !(confidence > 0 && confidence < 1):
		return nil, wrong("the confidence must be between 0 and 1")
	}
	t := l.table(l.Events[group], l.Censored[group])
	out := make([]Survived, t.horizon(variance(l.Noise), 1))
	if len(out) == 0 {
		return out, nil
	}
	c := curve{
		t, make([]float64, periods), make([]float64, periods), make([]float64, periods), make([]float64, periods),
	}
	raw, centre, greenwood := make([]float64, len(out)), make([]float64, len(out)), 0.0
	before, after := t.uneven(true), t.uneven(false)
	share, lowest, highest := 1.0, 1.0, 1.0
	for j := range out {
		d := min(max(t.d[j], 0), t.at[j])
		left := max(t.at[j]-d, 0.5)
		c.slope[j], c.direct[j] = d/(t.at[j]*left), 1/left
		greenwood += c.slope[j]
		share *= 1 - t.d[j]/t.at[j]
		raw[j] = min(1, max(0, share))
		if l.Grouped {
			lowest, highest = lowest*before.staying(j), highest*after.staying(j)
			out[j].Grouping = max(0, raw[j]-min(1, lowest), min(1, highest)-raw[j])
		}
		size := min(t.n[0], t.at[j]/max(raw[j], 1e-9)) // as many people without censoring have about the same error [Peto 1977]
		c.sampling[j] = max(greenwood, fewEvents(raw[j], size))
		c.level[j] = max(raw[j], (size*raw[j]+2)/(size+4))
		out[j].AtRisk, centre[j] = t.n[j], share+2*(1-2*raw[j])/(size+4)
	}
	errors, largest := c.simulate(out, newLaw(l.Noise), newStream(how.Seed), min(how.Simulations, 1+4e7/periods))
	band := quantileOf(largest, confidence)
	falling := decreasing(raw)
	for j := range out {
		p := &out[j]
		p.Share = falling[j]
		around := func(by float64) (low, high float64) {
			low, high = centre[j]-by*p.StdError, centre[j]+by*p.StdError
			return min(p.Share, max(0, low)), max(p.Share, min(1, high))
		}
		p.Low, p.High = around(quantileOf(errors[j], confidence))
		p.BandLow, p.BandHigh = around(band)
	}
	fall(out)
	return out, nil
}

// fall narrows a band to one whose ends never rise. It still contains the curve, which never rises either.
func fall(band []Survived) {
	for j := 1; j < len(band); j++ {
		band[j].BandHigh = min(band[j].BandHigh, band[j-1].BandHigh)
	}
	for j := len(band) - 2; j >= 0; j-- {
		band[j].BandLow = max(band[j].BandLow, band[j+1].BandLow)
	}
}

// fewEvents returns the sampling variance of the logarithm of a share of n people, with two more people on either side
// [Agresti & Coull 1998]: Greenwood's is too small where few events are expected.
func fewEvents(share, n float64) float64 {
	p := (n*share + 2) / (n + 4)
	return p * (1 - p) / (n + 4) / max(p*p, share*share)
}

// decreasing returns the sequence closest to x, in squares, that never rises, by pooling adjacent violators.
func decreasing(x []float64) []float64 {
	type block struct{ sum, size float64 }
	var blocks []block
	for _, v := range x {
		blocks = append(blocks, block{v, 1})
		for k := len(blocks) - 1; k > 0 && blocks[k-1].sum*blocks[k].size <= blocks[k].sum*blocks[k-1].size; k-- {
			blocks[k-1] = block{blocks[k-1].sum + blocks[k].sum, blocks[k-1].size + blocks[k].size}
			blocks = blocks[:k]
		}
	}
	out := make([]float64, 0, len(x))
	for _, b := range blocks {
		for range int(b.size) {
			out = append(out, b.sum/b.size)
		}
	}
	return out
}

// curve has the derivatives of the logarithm of a survival curve.
type curve struct {
	lifeTable
	slope    []float64 // by the people at risk at the events of each period, up to it
	direct   []float64 // by minus the events of each period
	sampling []float64 // Greenwood's variance up to each period
	level    []float64 // the share that turns a relative error into one of the share: above 0, also where the share is 0
}

// simulate draws errors of a curve's points. It sets the points' standard errors, and returns the sizes of the errors
// as
// multiples of these: at each point, and the largest of each simulation.
func (c curve) simulate(points []Survived, l *law, s *stream, times int) (at [][]float64, largest []float64) {
	periods, last := len(c.n), len(points)
	drawn := make([][]float64, last)
	for j := range drawn {
		drawn[j] = make([]float64, times)
	}
	delta, nu := make([]float64, periods), make([]float64, periods)
	for b := range times {
		sum := 0.0
		for j := periods - 1; j >= 0; j-- {
			delta[j] = l.draw(s)
			censored := l.draw(s)
			sum += delta[j] + censored
			nu[j] = sum
			if early := c.early(j); early > 0 {
				nu[j] -= early * censored
			}
		}
		noise, sampled, before := 0.0, 0.0, 0.0
		for j := range last {
			noise += c.slope[j]*nu[j] - c.direct[j]*delta[j]
			sampled += s.normal() * math.Sqrt(max(0, c.sampling[j]-before))
			before = c.sampling[j]
			drawn[j][b] = c.level[j] * (noise + sampled)
		}
	}
	largest = make([]float64, times)
	for j := range last {
		squares := 0.0
		for _, e := range drawn[j] {
			squares += e * e
		}
		points[j].StdError = math.Sqrt(squares / float64(times))
		for b, e := range drawn[j] {
			if points[j].StdError > 0 {
				drawn[j][b] = math.Abs(e) / points[j].StdError
			}
			largest[b] = max(largest[b], drawn[j][b])
		}
	}
	return drawn, largest
}

// quantileOf returns the least of the numbers that is at least as large as a share of them. It sorts them.
func quantileOf(x []float64, share float64) float64 {
	sort.Float64s(x)
	return x[min(len(x)-1, int(math.Ceil(share*float64(len(x)+1)))-1)]
}
