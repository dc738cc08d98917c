package local

import (
	"fmt"
	"math"
)

// Frequency is the estimated share of a population that has a value.
type Frequency struct {
	Value                        uint64
	Frequency, Stddev, Low, High float64
}

// poolWeights returns the weights of strata in [Pool], which add up to 1.
func poolWeights(strata []*Tally) []float64 {
	total, out := 0.0, make([]float64, len(strata))
	for i, t := range strata {
		out[i] = 1 / t.oracle.Variance(t.n, 0)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// PoolEffect returns the most by which one false report changes a frequency that [Pool] estimates. A stratum has few
// reports for its weight if their ε is large, so one of them may change the frequency far more than one of all reports.
// The errors are those of Pool.
func PoolEffect(strata []*Tally) (float64, error) {
	if err := checkStrata(strata); err != nil {
		return 0, err
	}
	most := 0.0
	for i, w := range poolWeights(strata) {
		most = max(most, w*strata[i].oracle.Weight()/float64(strata[i].n))
	}
	return most, nil
}

// Pool estimates frequencies from strata whose people report with different ε, or by different mechanisms. It assumes
// that the collector assigned people to strata at random, or otherwise independently of their values. If people
// choose their own ε, their choice may depend on the value, and no weights are right: add up the counts of the strata
// instead, which stay unbiased for the people who reported.
//
// The weight of a stratum is proportional to the inverse of its variance at frequency 0. So weights depend on the
// numbers of reports and the declared parameters alone, and not on the reports. Weights that depend on estimated
// frequencies would bias the result.
//
// The interval includes the sampling of the strata's people from their population. It holds the frequencies f at which
// the estimate F would not be surprising: |F − f| ≤ z·√(variance at f), with a continuity correction. For one stratum
// this is Wilson's interval, because its support is binomial. For several it is approximate.
//
// The error is ErrParameter if there is no stratum, a stratum has no reports, the numbers of values differ, or two strata
// share hash functions by the same seed: their errors would be correlated. Otherwise it is an error of Tally.Estimate.
func Pool(confidence float64, strata []*Tally, values ...uint64) ([]Frequency, error) {
	if err := checkStrata(strata); err != nil {
		return nil, err
	}
	weights := poolWeights(strata)
	var out []Frequency
	var extra []float64                       // the variances by shared hash functions
	var at0, slope, sampled, discrete float64 // the other variance at f is at0 + slope·f + sampled·f(1 − f)
	for i, t := range strata {
		w, n := weights[i], float64(t.n)
		estimates, err := t.Estimate(confidence, values...)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out, extra = make([]Frequency, len(estimates)), make([]float64, len(estimates))
		}
		o := t.oracle
		at0 += w * w * o.sampling(n, 0) / n / n
		slope += w * w * (o.sampling(n, 1) - o.sampling(n, 0)) / n / n
		sampled += w * w / n
		discrete += w * .5 / o.gap / n
		for j, e := range estimates {
			out[j].Value = e.Value
			out[j].Frequency += w * e.Count / n
			f := min(max(e.Count/n, 0), 1)
			extra[j] += w * w * max(e.Stddev*e.Stddev-o.sampling(n, f), 0) / n / n
			out[j].Stddev += w * w * e.Stddev * e.Stddev / n / n // the variance, until the end
		}
	}
	z := math.Sqrt2 * math.Erfinv(confidence)
	for j := range out {
		f := &out[j]
		share := min(max(f.Frequency, 0), 1)
		f.Stddev = math.Sqrt(f.Stddev + share*(1-share)*sampled)
		solve := func(center, sign float64) float64 {
			// (f − center)² = z²(at0 + extra + (slope + sampled)·f − sampled·f²)
			a, half := 1+z*z*sampled, center+z*z*(slope+sampled)/2
			root := half*half - a*(center*center-z*z*(at0+extra[j]))
			return (half + sign*math.Sqrt(max(root, 0))) / a
		}
		f.Low = min(solve(f.Frequency-discrete, -1), f.Frequency) // min and max: at 0 and 1, no frequency solves it
		f.High = max(solve(f.Frequency+discrete, 1), f.Frequency)
	}
	return out, nil
}

// Sum adds up the estimated counts of strata. The result is unbiased for the number of senders with a value in all strata
// together, whatever made people choose their stratum, such as their own ε. The variances add, because the reports of
// different people are independent. The interval is normal. The errors are those of [Pool].
func Sum(confidence float64, strata []*Tally, values ...uint64) ([]Estimate, error) {
	if err := checkStrata(strata); err != nil {
		return nil, err
	}
	var out []Estimate
	for _, t := range strata {
		estimates, err := t.Estimate(confidence, values...)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = make([]Estimate, len(estimates))
		}
		for j, e := range estimates {
			out[j].Value = e.Value
			out[j].Count += e.Count
			out[j].Stddev = math.Hypot(out[j].Stddev, e.Stddev)
		}
	}
	z := math.Sqrt2 * math.Erfinv(confidence)
	for j := range out {
		e := &out[j]
		e.Low, e.High = e.Count-z*e.Stddev, e.Count+z*e.Stddev
	}
	return out, nil
}

func checkStrata(strata []*Tally) error {
	if len(strata) == 0 {
		return fmt.Errorf("%w: there is no stratum", ErrParameter)
	}
	seeds := map[uint64]bool{}
	for i, t := range strata {
		if t.n == 0 || t.oracle.params.Values != strata[0].oracle.params.Values {
			return fmt.Errorf("%w: stratum %d has no reports, or another number of values", ErrParameter, i+1)
		}
		if t.oracle.SharedVariance() == 0 {
			continue
		}
		if seeds[t.oracle.params.Seed] {
			return fmt.Errorf("%w: strata with shared hash functions need different seeds", ErrParameter)
		}
		seeds[t.oracle.params.Seed] = true
	}
	return nil
}
