// Package derive computes an answer from released numbers: values, standard deviations and intervals of aggregates,
// and of expressions over them. It reads noisy numbers and public parameters only, so everything in it is
// post-processing, and free.
package derive

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/parallel"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/noise"
)

// Estimate is one released or derived number with its margin of error.
//
// The interval covers the noise and the rounding to the grid. It is around the bounded quantity: the sum, count or
// average of the cleaned and capped values. It covers neither sampling nor the effect of bounds.
type Estimate struct {
	Null   bool
	Value  float64
	Whole  *big.Int // the value, if it is an integer by nature; otherwise nil
	StdDev float64  // NaN if it is unknown, as for a quotient with a noisy denominator
	Interval
	WholeLow, WholeHigh *big.Int     // the ends of the interval, if Whole is set
	Choice              *value.Value // for a mode: the value that was chosen
}

// Interval is a closed interval. An infinite end is no bound.
type Interval struct{ Low, High float64 }

var everything = Interval{math.Inf(-1), math.Inf(1)}

// outward returns the interval widened by the rounding error of one floating-point operation.
func (i Interval) outward() Interval {
	return Interval{math.Nextafter(i.Low, math.Inf(-1)), math.Nextafter(i.High, math.Inf(1))}
}

// around returns the smallest interval of doubles that contains low and high.
func around(low, high *big.Rat) Interval { return Interval{exact.FloatDown(low), exact.FloatUp(high)} }

func (i Interval) within(o Interval) Interval {
	return Interval{math.Min(math.Max(i.Low, o.Low), o.High), math.Max(math.Min(i.High, o.High), o.Low)}
}

// released is one measure of the plan with its noise.
type released struct {
	*plan.Measure
	noise     noise.Distribution
	unit      float64              // 2^Scale; products with it are exact
	limits    map[float64]*big.Int // quantiles of the noise, by level
	quantiles map[float64]*big.Int
}

// released prepares a measure for estimates. Measures with the same noise share its quantiles.
func (n *noises) released(m *plan.Measure) (*released, error) {
	of, err := n.of(m)
	if err != nil {
		return nil, err
	}
	return &released{
		Measure:   m,
		noise:     of.noise,
		unit:      math.Ldexp(1, m.Scale()),
		limits:    of.limits,
		quantiles: map[float64]*big.Int{},
	}, nil
}

// of returns the noise of a measure with the quantiles computed so far. Measures with the same noise share the
// result, whose Measure is nil.
func (n *noises) of(m *plan.Measure) (*released, error) {
	i := n.number(m)
	if n.all[i] == nil {
		d, err := NoiseOf(m)
		if err != nil {
			return nil, err
		}
		n.all[i] = &released{noise: d, limits: map[float64]*big.Int{}}
	}
	return n.all[i], nil
}

// noises gives each distinct noise a number. Noises are equal if their kind and parameter are.
type noises struct {
	same map[noiseOf]int
	text map[string]int
	all  []*released
}

type noiseOf struct {
	noise     plan.Noise
	parameter *big.Rat
}

func (n *noises) number(m *plan.Measure) int {
	if i, ok := n.same[noiseOf{m.Noise, m.Parameter}]; ok {
		return i
	}
	if n.same == nil {
		n.same, n.text = map[noiseOf]int{}, map[string]int{}
	}
	text := string(m.Noise) + " " + m.Parameter.RatString()
	i, ok := n.text[text]
	if !ok {
		i = len(n.all)
		n.text[text] = i
		n.all = append(n.all, nil)
	}
	n.same[noiseOf{m.Noise, m.Parameter}] = i
	return i
}

// Ahead computes, in parallel and before they are needed, all quantiles of noise distributions for intervals at level
// alpha.
func (a *Answer) Ahead(alpha float64) {
	all := a.noises.all
	found := make([]*big.Int, len(all))
	parallel.Each(len(all), func(i int) {
		if all[i] != nil && all[i].limits[alpha] == nil {
			found[i] = all[i].noise.Quantile(alpha)
		}
	})
	for i, q := range found {
		if q != nil {
			all[i].limits[alpha] = q
		}
	}
}

// NoiseOf returns the distribution of the noise on each cell of a measure, in grid units. It returns an error if
// the parameter of the noise is invalid.
func NoiseOf(m *plan.Measure) (noise.Distribution, error) { return m.Noise.Distribution(m.Parameter) }

// limit returns the quantile of the noise: its magnitude exceeds this with probability at most alpha.
func (r *released) limit(alpha float64) *big.Int {
	q := r.limits[alpha]
	if q == nil {
		q = r.noise.Quantile(alpha)
		r.limits[alpha] = q
	}
	return q
}

// reach returns a distance, in grid units. The released number is within this distance of the true sum with
// probability at least 1 − alpha. It is the noise's quantile plus the most by which rounding can have moved the
// sum.
func (r *released) reach(alpha float64) *big.Int {
	q, ok := r.quantiles[alpha]
	if !ok {
		q = new(big.Int).Add(r.limit(alpha), r.Rounding)
		r.quantiles[alpha] = q
	}
	return q
}

func (r *released) stdDev() float64 { return r.noise.StdDev() * r.unit }

// float converts grid units to the measure's own unit.
func (r *released) float(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f * r.unit
}

// point returns the value of a released number, without an interval.
func (r *released) point(z *big.Int) Estimate {
	return Estimate{Value: r.float(z), StdDev: math.NaN(), Interval: everything}
}

// estimate returns the estimate of a count or a sum, given its released number.
func (r *released) estimate(z *big.Int, alpha float64) Estimate {
	q := r.reach(alpha)
	lo, hi := new(big.Int).Sub(z, q), new(big.Int).Add(z, q)
	e := Estimate{Value: r.float(z), StdDev: r.stdDev(), Interval: around(r.Units(lo), r.Units(hi))}
	if r.Grid == 0 && !r.Rounds() && r.Centre == 0 {
		e.Whole, e.WholeLow, e.WholeHigh = z, lo, hi
	}
	return e
}
