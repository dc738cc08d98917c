package local

import (
	"fmt"
	"math"
)

// MostReports is the largest number of reports of a tally.
const MostReports = 1 << 40

// mostWork limits the elementary steps of an estimate: some minutes.
const mostWork = 1 << 37

// Tally accumulates the reports of one oracle. It is not safe for concurrent use; merge tallies instead.
type Tally struct {
	oracle *Oracle
	tally  tally
	n      int64
	folded Folded // in n, and not in tally
}

// NewTally returns a tally without reports.
func (o *Oracle) NewTally() *Tally { return &Tally{oracle: o, tally: o.scheme.tally()} }

// Reports returns the number of added reports.
func (t *Tally) Reports() int64 { return t.n }

// Add adds a report. It returns ErrReport, and adds nothing, if the randomizer never sends these bytes. A valid
// report may still be a lie. It changes the support of each value by at most 1, so m such reports change each
// estimate by at most [Oracle.Weight] times m.
func (t *Tally) Add(report []byte) error {
	if err := t.oracle.Check(report); err != nil {
		return err
	}
	if t.n >= MostReports {
		return fmt.Errorf("%w: a tally has at most %d reports", ErrWork, int64(MostReports))
	}
	t.tally.add(report)
	t.n++
	return nil
}

// Merge adds the reports of another tally, whose oracle must have the same parameters. Otherwise the error is
// ErrParameter. It is ErrWork if both have more than MostReports. After an error, nothing is added.
func (t *Tally) Merge(other *Tally) error {
	a, b := t.oracle.params, other.oracle.params
	if a.Mechanism != b.Mechanism || a.Values != b.Values || a.Seed != b.Seed || a.Positions != b.Positions ||
		a.First.Cmp(b.First) != 0 || a.Epsilon.Cmp(b.Epsilon) != 0 {
		return fmt.Errorf("%w: the tallies have reports of different oracles", ErrParameter)
	}
	if other.n > MostReports-t.n {
		return fmt.Errorf("%w: a tally has at most %d reports", ErrWork, int64(MostReports))
	}
	t.tally.merge(other.tally)
	t.folded = t.folded.plus(other.folded)
	t.n += other.n
	return nil
}

// Weight returns 1/(p − q), which bounds the change of an estimated count by one report.
func (o *Oracle) Weight() float64 { return 1 / o.gap }

// Variance returns the variance of the estimated frequency of a value, if n people report and a share of them has the
// value. It is
//
//	q(1 − q)/(n(p − q)²) + frequency·(1 − p − q)/(n(p − q))
//
// [Wang, Blocki, Li & Jha 2017], which holds for every oracle here (see the proof). The oracles with shared hash
// functions ("flh", "cms", "hcms") add Σf²/(C(g − 1)), where C is the number of functions, g that of their cells, and
// the sum is over the frequencies of all other values. Variance adds its largest value, at which one other value has
// all other people: (1 − frequency)²/(C(g − 1)). This part is over the draw of the functions, and does not fall with
// n. [Oracle.SharedVariance] has the factor.
//
// Proof. The reports of different people are independent. A person with the value supports it with probability p,
// any other with q. So the support is a sum of independent Bernoulli variables, of variance n·f·p(1 − p) + n(1 −
// f)q(1 − q), which (p − q)² n² divides. Since p(1 − p) − q(1 − q) = (p − q)(1 − p − q), this is the formula.
//
// With shared functions, let I be the share of the C functions that map another value to the cell of this one. Given
// the functions, its people support this value with probability q + (p − q)(I − 1/g)/(1 − 1/g), so it biases the
// estimated frequency by f(I − 1/g)/(1 − 1/g). Over the draw of the functions this has the mean 0 and the variance
// f²·(1/g)(1 − 1/g)/C/(1 − 1/g)² = f²/(C(g − 1)). The biases of two other values are uncorrelated, since the
// functions map any three values independently (see hash). So the variances add. ∎ (The cells are uniform up to
// 10⁻¹³.)
func (o *Oracle) Variance(n int64, frequency float64) float64 {
	rest := 1 - frequency
	return o.sampling(float64(n), frequency)/float64(n)/float64(n) + o.scheme.shared()*rest*rest
}

// SharedVariance returns 1/(C(g − 1)), the factor of [Oracle.Variance], or 0 for oracles without shared functions.
func (o *Oracle) SharedVariance() float64 { return o.scheme.shared() }

// sampling returns the variance of an estimated count, apart from that of shared functions.
func (o *Oracle) sampling(n, frequency float64) float64 {
	q, gap := o.other, o.gap
	return n * (q*(1-q)/gap/gap + frequency*(1-gap-2*q)/gap)
}

// Estimate is the estimated number of people with a value.
type Estimate struct {
	Value     uint64
	Count     float64 // unbiased, so it may be below 0 or above the number of reports
	Stddev    float64 // the standard deviation of Count, at the estimated frequency
	Low, High float64 // a confidence interval; see Tally.Estimate
}

// Estimate estimates the number of people with each of the values, or with every value of the domain if there are
// none. The confidence is in (0, 1), such as .95.
//
// The interval holds the counts c whose support would not be surprising: |s − nq − c(p − q)| ≤ z·√(variance at c) +
// ½, in the notation of [Oracle], with z of the normal distribution. So it is Wilson's interval with a continuity
// correction, for a sum of independent coins [Wilson 1927]. Its coverage is approximate for few reports. It is for
// one value that was chosen in advance. With shared hash functions, its variance includes an upper bound on theirs.
//
// The counts are those of the reports' senders, not of a population that they are a sample of.
//
// Errors are ErrParameter (the confidence), ErrValue and ErrWork.
func (t *Tally) Estimate(confidence float64, values ...uint64) ([]Estimate, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("%w: the confidence is above 0 and below 1", ErrParameter)
	}
	o := t.oracle
	for _, v := range values {
		if v >= o.params.Values {
			return nil, fmt.Errorf("%w: a value is not below %d", ErrValue, o.params.Values)
		}
	}
	if len(values) == 0 {
		var err error
		if values, err = o.all(); err != nil {
			return nil, err
		}
	}
	support, err := t.support(values)
	if err != nil {
		return nil, err
	}
	out := make([]Estimate, len(values))
	q, gap := o.other, o.gap
	n, largest := float64(t.n), 0.0
	for i, v := range values {
		out[i] = Estimate{Value: v, Count: (float64(support[i]) - n*q) / gap}
		largest = max(largest, out[i].Count)
	}
	extra := o.sharedBound(n, largest)
	z := math.Sqrt2 * math.Erfinv(confidence)
	for i := range out {
		e := &out[i]
		if n == 0 {
			continue
		}
		f := min(max(e.Count/n, 0), 1)
		e.Stddev = math.Sqrt(o.sampling(n, f) + extra)
		e.Low, e.High = o.interval(n, e.Count, z, extra)
	}
	return out, nil
}

// all returns the values of the domain, or ErrWork.
func (o *Oracle) all() ([]uint64, error) {
	if o.params.Values > MaxValues {
		return nil, fmt.Errorf("%w: at most %d values are estimated at once", ErrWork, MaxValues)
	}
	values := make([]uint64, o.params.Values)
	for i := range values {
		values[i] = uint64(i)
	}
	return values, nil
}

// support returns the number of reports that support each of the values, or ErrWork.
func (t *Tally) support(values []uint64) ([]int64, error) {
	o, reports := t.oracle, t.n-t.folded.Reports
	if o.scheme.work(float64(reports), float64(len(values))) > mostWork {
		return nil, fmt.Errorf("%w: %s would take hours for %d reports and %d values; hr takes seconds", ErrWork,
			o.params.Mechanism, reports, len(values))
	}
	support := t.tally.support(values)
	if t.folded.Reports > 0 {
		sum(support, pick(t.folded.Support, values))
	}
	return support, nil
}

// sharedBound bounds the variance of shared functions in an estimated count: n²·Σf²/(C(g − 1)), where Σf² is at most
// the largest frequency. The true largest frequency exceeds the largest estimate by more than five of its standard
// deviations with probability below 10⁻⁶. So F is taken as the largest solution of F − largest/n = 5√(variance at F).
func (o *Oracle) sharedBound(n, largest float64) float64 {
	factor := o.scheme.shared()
	if factor == 0 || n == 0 {
		return 0
	}
	f := 1.0
	for range 100 { // the right side grows as √F, so this falls to the largest solution, or stays at 1
		f = min(1, max(largest, 0)/n+5*math.Sqrt(o.sampling(n, f)/n/n+factor*f))
	}
	return n * n * factor * f
}

// interval returns the solutions c of |count − c| = z·√(variance at c) + ½/(p − q). The variance is linear in c.
func (o *Oracle) interval(n, count, z, extra float64) (low, high float64) {
	gap := o.gap
	at0 := o.sampling(n, 0) + extra
	slope := (o.sampling(n, 1) - o.sampling(n, 0)) / n
	solve := func(center, sign float64) float64 {
		// (c − center)² = z²(at0 + slope·c)
		half := center + z*z*slope/2
		root := half*half - center*center + z*z*at0
		return half + sign*math.Sqrt(max(root, 0))
	}
	return solve(count-.5/gap, -1), solve(count+.5/gap, 1)
}
