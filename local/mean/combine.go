package mean

import (
	"fmt"
	"math"
)

// Combined is an estimate from several strata: groups of people whose reports have one randomizer each.
type Combined struct {
	Estimate
	Effect float64 // the most by which one false report moves the mean
}

// Sum estimates the mean of the numbers of all senders together, whatever made people choose their stratum, such as
// their own ε. It is the mean of the strata's means, weighted by their numbers of reports.
//
// Claim: it is unbiased for the mean of the senders' numbers. Proof: each stratum's mean is unbiased for that of its
// senders, and the weights are their shares of all senders. ∎
//
// The variance is that of the strata's means, and that of drawing the strata of the senders: Σ w(m − M)²/N, for means m
// with the weights w and the mean M. So the interval covers the mean of the population too, if the senders are a random
// sample of it. The error of reports makes the second part larger than it is, on average. The interval is normal. The
// error is ErrParameter: there is no stratum, or one without reports.
func Sum(confidence float64, strata []*Tally) (Combined, error) {
	n := 0.0
	for _, t := range strata {
		n += float64(t.n)
	}
	return combine(confidence, strata, func(t *Tally) float64 { return float64(t.n) / n }, 1/n)
}

// Pool estimates the mean from strata to which people were assigned independently of their numbers. Then each stratum's
// mean estimates the same one. The weight of a stratum depends on its number of reports and its declared parameters
// alone, not on what was reported: the weights that have the least variance if it is the largest one for any numbers.
// The interval and the error are as for [Sum]. If people chose their ε themselves, the result is biased: use Sum.
func Pool(confidence float64, strata []*Tally) (Combined, error) {
	precision := func(t *Tally) float64 { return float64(t.n) / (t.r.Worst() + 1) }
	all := 0.0
	for _, t := range strata {
		all += precision(t)
	}
	return combine(confidence, strata, func(t *Tally) float64 { return precision(t) / all }, 0)
}

// combine adds up the means of strata with weights. between is the factor of the variance between them.
func combine(
	confidence float64, strata []*Tally, weight func(*Tally) float64, between float64,
) (out Combined, err error) {
	if len(strata) == 0 {
		return out, fmt.Errorf("%w: there is no stratum", ErrParameter)
	}
	variance := 0.0
	for i, t := range strata {
		if t.n == 0 {
			return out, fmt.Errorf("%w: stratum %d has no reports", ErrParameter, i+1)
		}
		e, err := t.Estimate(confidence)
		if err != nil {
			return out, err
		}
		w := weight(t)
		out.N += e.N
		out.Mean += w * e.Mean
		variance += w * w * e.Stddev * e.Stddev
		out.Effect = max(out.Effect, 2*w*t.r.Largest()/float64(t.n))
	}
	for _, t := range strata {
		variance += between * weight(t) * (t.mean - out.Mean) * (t.mean - out.Mean)
	}
	out.Stddev = math.Sqrt(variance)
	z := math.Sqrt2 * math.Erfinv(confidence)
	out.Low, out.High = out.Mean-z*out.Stddev, out.Mean+z*out.Stddev
	return out, nil
}
