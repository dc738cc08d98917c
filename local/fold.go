package local

import (
	"fmt"
	"math"
	"slices"
)

// Folded is what remains of reports that were counted and deleted: their number, and the number of them that support
// each value (see [Oracle]). All estimates of values stay the same. Analyses of single reports are lost: removing the
// reports of one sender, estimates for a part of the reports, and counts by time.
type Folded struct {
	Reports int64
	Support []int64 // of the values 0 … k − 1; nil if there are no reports
}

func (f Folded) plus(g Folded) Folded {
	if f.Reports == 0 {
		return Folded{g.Reports, slices.Clone(g.Support)}
	}
	if g.Reports > 0 {
		sum(f.Support, g.Support)
		f.Reports += g.Reports
	}
	return f
}

// FoldingSteps returns the number of elementary steps of folding this many reports. It grows with the number of reports
// for "olh" and "loloha" alone, because each of their reports has its own hash function.
func (o *Oracle) FoldingSteps(reports int64) float64 {
	return o.scheme.work(float64(reports), float64(o.params.Values))
}

// Fold returns the counts of all reports of the tally. The error is ErrWork.
func (t *Tally) Fold() (Folded, error) {
	if t.n == 0 {
		return Folded{}, nil
	}
	values, err := t.oracle.all()
	if err != nil {
		return Folded{}, err
	}
	support, err := t.support(values)
	return Folded{t.n, support}, err
}

// AddFolded adds folded reports of an oracle with the same parameters. The error is ErrParameter if the counts are not
// those of such reports, or ErrWork if there are more than MostReports. Then nothing is added.
func (t *Tally) AddFolded(f Folded) error {
	if f.Reports == 0 && len(f.Support) == 0 {
		return nil
	}
	outside := func(s int64) bool { return s < 0 || s > f.Reports }
	if f.Reports <= 0 || uint64(len(f.Support)) != t.oracle.params.Values || slices.ContainsFunc(f.Support, outside) {
		return fmt.Errorf("%w: the counts are from 0 to the number of folded reports, one for each value", ErrParameter)
	}
	if f.Reports > MostReports-t.n {
		return fmt.Errorf("%w: a tally has at most %d reports", ErrWork, int64(MostReports))
	}
	t.folded = t.folded.plus(f)
	t.n += f.Reports
	return nil
}

// Influence returns the effect of one malicious report on an estimated count: it raises the count by at most up, and
// lowers it by at most down.
//
// Claim: m malicious reports, in addition to honest ones, change the estimated count of each value by −m·q/(p − q) to
// m(1 − q)/(p − q), in the notation of [Oracle]. Both are attained, for one value. Proof: the estimate is (s − nq)/(p −
// q). It is a sum over reports: each adds (1 − q)/(p − q) if it supports the value, and −q/(p − q) if it does not.
// Check refuses all bytes that the randomizer never sends, and each sent report supports a value or does not. Since 0 <
// q < p < 1, the randomizer sends reports of both kinds about each value. ∎
//
// One report supports several values at once, except with "krr" and "coin", which support one. It supports at most k
// with "sue", "oue" and "rappor", exactly round(k/(e^ε + 1)) with "ss", the values of one cell of g with "olh", "flh",
// "loloha" and "hr", the values of up to 1,024 cells with "cms", of half of the cells with "hcms", and at most d with
// "dbit". So m senders can raise many values together, each by at most the stated amount.
func (o *Oracle) Influence() (down, up float64) { return o.other / o.gap, (1 - o.other) / o.gap }

// Suspect widens the intervals of estimates of this tally: each covers the count among the honest senders, at the
// confidence, if at most m of the reports are malicious. They may be any reports, and may depend on the honest ones.
// The estimates stay. For m ≥ n, the interval is 0 … n. The error is ErrParameter if m < 0, or the confidence is not
// above 0 and below 1.
//
// Proof. Let m' ≤ m reports be malicious, and let a of these support the value. The honest reports are n − m', and have
// the support s − a. So their own estimate x' is at least x − m'(1 − q)/(p − q) and at most x + m'q/(p − q) (see
// [Oracle.Influence]), and their own interval around x' covers their count at the confidence. The interval around x'
// grows with the number of reports, and the result contains the intervals for n reports around all counts between
// these. ∎
func (t *Tally) Suspect(m int64, confidence float64, estimates []Estimate) ([]Estimate, error) {
	if m < 0 || !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("%w: the number of malicious reports is at least 0, and the confidence in (0, 1)", ErrParameter)
	}
	out := slices.Clone(estimates)
	if m == 0 {
		return out, nil
	}
	n, largest := float64(t.n), 0.0
	for _, e := range estimates {
		largest = max(largest, e.Count)
	}
	down, up := t.oracle.Influence()
	extra, z := t.oracle.sharedBound(n, largest+float64(m)*down), math.Sqrt2*math.Erfinv(confidence)
	for i := range out {
		e := &out[i]
		if m >= t.n {
			e.Low, e.High = 0, n
			continue
		}
		e.Low, e.High = t.oracle.hull(n, e.Count-float64(m)*up, e.Count+float64(m)*down, z, extra)
	}
	return out, nil
}

// hull returns the smallest low end and the largest high end of the intervals around all counts from a to b.
func (o *Oracle) hull(n, a, b, z, extra float64) (low, high float64) {
	// An end is a convex or concave function of the count with its extremum where the variance is 0, apart from the
	// continuity correction, and linear beyond the counts that have an interval. So its extremum is at one of these.
	zero := -(o.sampling(n, 0) + extra) * n / (o.sampling(n, 1) - o.sampling(n, 0)) // infinite or NaN for a constant variance
	low, high = math.Inf(1), math.Inf(-1)
	for _, count := range []float64{a, b, zero - .5/o.gap, zero + .5/o.gap} {
		if !(count >= a && count <= b) {
			continue
		}
		l, h := o.interval(n, count, z, extra)
		low, high = min(low, l), max(high, h)
	}
	return low, high
}
