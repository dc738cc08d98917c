package hypothesis

import (
	"math"
	"slices"

	"dither/noise"
)

// Strata are noisy counts of people in strata, such as age groups, for each group that is compared.
type Strata struct {
	Events [][]float64        // [group][stratum]: people to whom the event happened
	Others [][]float64        // [group][stratum]: people to whom it did not
	Noise  noise.Distribution // of each count, independently; nil means no noise
	// Weights are the shares of the strata in the standard population, for direct standardisation. nil takes the strata
	// of all groups together, from the noisy counts.
	Weights []float64
	// Rates are the standard rates of the strata, for indirect standardisation. nil takes those of all groups together,
	// from the noisy counts.
	Rates []float64
	// Ordered says that the strata are in order, as ages are. Neighbouring strata are then merged, alike for all groups,
	// until they have enough people.
	Ordered bool
	How
}

// Rate is a rate of one group, with its interval.
type Rate struct {
	Events, People float64 // noisy counts
	Crude          float64 // events a person
	Value          float64 // the standardised rate, or NaN if too few people are in a stratum
	StdError       float64 // from sampling and from noise
	Low, High      float64
	Merged         [][2]int // the first and the last stratum of each merged one, if Ordered
}

// Direct returns the directly standardised rate of each group: Σ w·d/n over the strata, with the events d of the group
// in a stratum, its people n, and the weights w of the standard population. It is the rate that the group would have with
// the strata of that population.
//
// The rate of a group in which a stratum has too few people is NaN: fewer than 5, or so few that their number without the
// event is less than five standard deviations of the noise of all its people. (If most people have the event, the number
// with it decides.) If the strata are in order, such a stratum is merged with its neighbours instead: from the lowest,
// each merged stratum ends as soon as every group has enough people in it, and a rest joins the last one. So all groups
// are standardised for the same strata, and their rates can be compared. A group with too few people in all strata
// together has no rate, and does not decide. Intervals cover noise and sampling, to first order.
func (s Strata) Direct(confidence float64) ([]Rate, error) { return s.standardised(confidence, true) }

// Indirect returns the standardised ratio of each group: its events divided by those that it would have at the standard
// rates of the strata, Σ n·r. A ratio of 1 is that of the standard. Everything else is as in [Strata.Direct], except that
// only the strata of all groups together need enough people, and the group as a whole. Strata are not merged if their
// rates are given.
func (s Strata) Indirect(confidence float64) ([]Rate, error) {
	return s.standardised(confidence, false)
}

func (s Strata) standardised(confidence float64, direct bool) ([]Rate, error) {
	groups, strata, how, err := s.check(confidence, direct)
	if err != nil {
		return nil, err
	}
	x := make([]float64, 0, 2*groups*strata)
	for g := range groups {
		x = append(append(x, s.Events[g]...), s.Others[g]...)
	}
	out, rated := make([]Rate, groups), []int{}
	for g := range out {
		r := &out[g]
		for j := range strata {
			r.Events, r.People = r.Events+s.Events[g][j], r.People+s.Events[g][j]+s.Others[g][j]
		}
		r.Crude, r.Value, r.Low, r.High = math.NaN(), math.NaN(), 0, math.Inf(1)
		if direct {
			r.High = 1
		}
		if s.enough(r.Events, r.People, 2*r.Events > r.People, strata) {
			r.Crude = min(1, max(0, r.Events/r.People))
			rated = append(rated, g)
		}
	}
	var common [][2]int
	var enough bool
	if s.Ordered {
		common, enough = s.parts(rated, groups, strata, direct)
	}
	for _, g := range rated {
		r, parts, ok := &out[g], common, enough
		r.Merged = common
		if !s.Ordered { // nothing is merged, and each group has a rate or not
			parts, ok = s.parts([]int{g}, groups, strata, direct)
		}
		if !ok {
			continue
		}
		f := func(x []float64) float64 { return s.rate(x, g, groups, strata, parts, direct) }
		value := f(x)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		few := fewMore(groups, strata, parts, direct)
		p := how.propagate(x, few, newLaw(s.Noise), confidence, f)
		top := r.High
		r.Value, r.StdError = min(top, max(0, value)), p.sd
		r.Low, r.High = min(r.Value, max(0, value-p.reach)), max(r.Value, min(top, value+p.reach))
	}
	return out, nil
}

// fewMore returns what sampling variances add to the counts, because a small count may be small by chance. For a rate, that
// is half a person with the event and half a person without it in each part, whose weight may be large. For a ratio, where
// only the sum of the events matters, it is one more event in each group.
func fewMore(groups, strata int, parts [][2]int, direct bool) []float64 {
	few := make([]float64, 2*groups*strata)
	for g := range groups {
		for _, part := range parts {
			for j := part[0]; j <= part[1]; j++ {
				if !direct {
					few[2*g*strata+j] = 1 / float64(strata)
					continue
				}
				half := .5 / float64(part[1]-part[0]+1)
				few[2*g*strata+j], few[(2*g+1)*strata+j] = half, half
			}
		}
	}
	return few
}

// enough reports whether n people, of whom d have the event, are far enough above 0 to divide by n. Both are sums of noisy
// counts of some cells. frequent says that most people have the event.
//
// The decision is by the people without the event, or by those with it if they are more frequent, so that it hardly biases
// the rate: its noise to first order is that of d − r·n at the rate r, and the rarer of the two counts dominates it. A
// decision by n would prefer the samples in which noise adds events.
func (s Strata) enough(d, n float64, frequent bool, cells int) bool {
	more := n - d
	if frequent {
		more = d
	}
	return n >= fewExpected && more >= atRisk*math.Sqrt(2*float64(cells)*variance(s.Noise))
}

// parts divides the strata into those of the rates of some groups, which are merged ones if the strata are in order. ok is
// false if some part has too few people.
func (s Strata) parts(of []int, groups, strata int, direct bool) (parts [][2]int, ok bool) {
	last := strata - 1
	// events and people of groups in strata
	sums := func(group, until, from, to int) (d, n float64) {
		for h := group; h < until; h++ {
			for j := from; j <= to; j++ {
				d, n = d+s.Events[h][j], n+s.Events[h][j]+s.Others[h][j]
			}
		}
		return d, n
	}
	few := func(group, until, from, to int) bool {
		d, n := sums(group, until, from, to)
		all, people := sums(group, until, 0, last)
		return !s.enough(d, n, 2*all > people, (until-group)*(to-from+1))
	}
	own, pooled := direct, direct && s.Weights == nil || !direct && s.Rates == nil
	enough := func(from, to int) bool {
		alone := func(g int) bool { return few(g, g+1, from, to) }
		if own && slices.ContainsFunc(of, alone) {
			return false
		}
		return !pooled || !few(0, groups, from, to)
	}
	merge := s.Ordered && (own || pooled)
	from, ok := 0, true
	for to := range strata {
		if enough := enough(from, to); enough || !merge {
			parts, from, ok = append(parts, [2]int{from, to}), to+1, ok && enough
		}
	}
	if from <= last { // a rest, without enough people
		parts, ok = append(parts, [2]int{from, last}), false
	}
	for i := len(parts) - 1; merge && !ok && i > 0; i-- {
		parts[i-1][1], parts = last, parts[:i]
		ok = enough(parts[i-1][0], last)
	}
	return parts, ok
}

// rate returns the standardised rate or ratio of group g, from all counts.
func (s Strata) rate(x []float64, g, groups, strata int, parts [][2]int, direct bool) float64 {
	// events and people of a group in a part
	sums := func(h int, part [2]int) (d, n float64) {
		for j := part[0]; j <= part[1]; j++ {
			d, n = d+x[2*h*strata+j], n+x[2*h*strata+j]+x[(2*h+1)*strata+j]
		}
		return d, n
	}
	pooledD, pooledN, total := make([]float64, len(parts)), make([]float64, len(parts)), 0.0
	for h := range groups {
		for i, part := range parts {
			d, n := sums(h, part)
			pooledD[i], pooledN[i], total = pooledD[i]+d, pooledN[i]+n, total+n
		}
	}
	events, expected, rate := 0.0, 0.0, 0.0
	for i, part := range parts {
		d, n := sums(g, part)
		events += d
		switch {
		case direct && s.Weights != nil:
			weight := 0.0
			for j := part[0]; j <= part[1]; j++ {
				weight += s.Weights[j]
			}
			rate += weight * d / n
		case direct:
			rate += pooledN[i] / total * d / n
		case s.Rates != nil: // each part is one stratum
			expected += n * s.Rates[part[0]]
		default:
			expected += n * pooledD[i] / pooledN[i]
		}
	}
	switch {
	case direct:
		return rate
	case expected > 0:
		return events / expected
	}
	return math.NaN()
}

func (s Strata) check(confidence float64, direct bool) (groups, strata int, how How, err error) {
	if how, err = s.How.check(); err != nil {
		return
	}
	switch {
	case how.Method != Projected:
		return 0, 0, how, wrong("rates have one method only")
	case !(confidence > 0 && confidence < 1):
		return 0, 0, how, wrong("the confidence must be between 0 and 1")
	}
	if groups, strata, err = paired("rates", "strata", s.Events, s.Others); err != nil {
		return 0, 0, how, err
	}
	switch {
	case direct && s.Weights != nil:
		_, err = distribution(s.Weights, strata)
	case !direct && s.Rates != nil:
		if len(s.Rates) != strata {
			err = wrong("there are %d rates for %d strata", len(s.Rates), strata)
		}
		for _, r := range s.Rates {
			if !(r > 0 && r <= 1) {
				err = wrong("each rate must be above 0 and at most 1")
			}
		}
	}
	return groups, strata, how, err
}
