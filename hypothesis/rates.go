package hypothesis

import (
	"math"

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
	How
}

// Rate is a rate of one group, with its interval.
type Rate struct {
	Events, People float64 // noisy counts
	Crude          float64 // events a person
	Value          float64 // the standardised rate, or NaN if too few people are in a stratum
	StdError       float64 // from sampling and from noise
	Low, High      float64
}

// Direct returns the directly standardised rate of each group: Σ w·d/n over the strata, with the events d of the group
// in a stratum, its people n, and the weights w of the standard population. It is the rate that the group would have with
// the strata of that population.
//
// The rate of a group in which a stratum has fewer than 5 people, or less than five standard deviations of the noise of
// their number, is NaN. Intervals cover noise and sampling, to first order.
func (s Strata) Direct(confidence float64) ([]Rate, error) { return s.standardised(confidence, true) }

// Indirect returns the standardised ratio of each group: its events divided by those that it would have at the standard
// rates of the strata, Σ n·r. A ratio of 1 is that of the standard. Everything else is as in [Strata.Direct], except that
// only the strata of all groups together need enough people, and the group as a whole.
func (s Strata) Indirect(confidence float64) ([]Rate, error) {
	return s.standardised(confidence, false)
}

func (s Strata) standardised(confidence float64, direct bool) ([]Rate, error) {
	groups, strata, how, err := s.check(confidence, direct)
	if err != nil {
		return nil, err
	}
	x, few := make([]float64, 0, 2*groups*strata), make([]float64, 2*groups*strata)
	for g := range groups {
		x = append(append(x, s.Events[g]...), s.Others[g]...)
		for j := range strata {
			few[2*g*strata+j] = 1 / float64(strata) // one more event in each group
		}
	}
	sd := math.Sqrt(variance(s.Noise))
	enough := func(n float64, cells int) bool {
		return n >= fewExpected && n >= atRisk*sd*math.Sqrt(float64(cells))
	}
	pooled := true
	for j := range strata {
		n := 0.0
		for g := range groups {
			n += s.Events[g][j] + s.Others[g][j]
		}
		pooled = pooled && enough(n, 2*groups)
	}
	out := make([]Rate, groups)
	for g := range out {
		r := &out[g]
		all := true
		for j := range strata {
			n := s.Events[g][j] + s.Others[g][j]
			r.Events, r.People = r.Events+s.Events[g][j], r.People+n
			all = all && enough(n, 2)
		}
		r.Crude, r.Value, r.Low, r.High = math.NaN(), math.NaN(), 0, math.Inf(1)
		if direct {
			r.High = 1
		}
		if !enough(r.People, 2*strata) {
			continue
		}
		r.Crude = min(1, max(0, r.Events/r.People))
		if direct && (!all || s.Weights == nil && !pooled) || !direct && s.Rates == nil && !pooled {
			continue
		}
		f := func(x []float64) float64 { return s.rate(x, g, groups, strata, direct) }
		value := f(x)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		p := how.propagate(x, few, newLaw(s.Noise), confidence, f)
		top := r.High
		r.Value, r.StdError = min(top, max(0, value)), p.sd
		r.Low, r.High = min(r.Value, max(0, value-p.reach)), max(r.Value, min(top, value+p.reach))
	}
	return out, nil
}

// rate returns the standardised rate or ratio of group g, from all counts.
func (s Strata) rate(x []float64, g, groups, strata int, direct bool) float64 {
	d := func(g, j int) float64 { return x[2*g*strata+j] }
	n := func(g, j int) float64 { return x[2*g*strata+j] + x[(2*g+1)*strata+j] }
	pooledD, pooledN, total := make([]float64, strata), make([]float64, strata), 0.0
	for h := range groups {
		for j := range strata {
			pooledD[j], pooledN[j] = pooledD[j]+d(h, j), pooledN[j]+n(h, j)
			total += n(h, j)
		}
	}
	events, expected, rate := 0.0, 0.0, 0.0
	for j := range strata {
		events += d(g, j)
		switch {
		case direct && s.Weights != nil:
			rate += s.Weights[j] * d(g, j) / n(g, j)
		case direct:
			rate += pooledN[j] / total * d(g, j) / n(g, j)
		case s.Rates != nil:
			expected += n(g, j) * s.Rates[j]
		default:
			expected += n(g, j) * pooledD[j] / pooledN[j]
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
