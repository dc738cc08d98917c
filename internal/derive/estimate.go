// Package derive computes an answer from released numbers: values, standard deviations and intervals of aggregates, and
// of expressions over them. It sees noisy numbers and public parameters only. Everything in it is post-processing, and
// free.
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

// Estimate is one released or derived number with its error bar.
//
// The interval covers the noise and the rounding to the grid, around the bounded quantity: the sum, count or average of
// the cleaned and capped values. It covers neither sampling nor the effect of bounds.
type Estimate struct {
	Null   bool
	Value  float64
	Whole  *big.Int // the value, if it is an integer by nature; else nil
	StdDev float64  // NaN if there is none: a quotient's noisy denominator has no variance
	Interval
	WholeLow, WholeHigh *big.Int     // the interval's ends, if Whole is set
	Choice              *value.Value // for a mode, chosen from a list
}

// Interval is a closed interval; an infinite end is none.
type Interval struct{ Low, High float64 }

var everything = Interval{math.Inf(-1), math.Inf(1)}

// widened by the rounding of one float operation.
func (i Interval) outward() Interval {
	return Interval{math.Nextafter(i.Low, math.Inf(-1)), math.Nextafter(i.High, math.Inf(1))}
}

// around is the smallest interval of doubles with both ends in it.
func around(low, high *big.Rat) Interval { return Interval{exact.FloatDown(low), exact.FloatUp(high)} }

func (i Interval) within(o Interval) Interval {
	return Interval{math.Min(math.Max(i.Low, o.Low), o.High), math.Max(math.Min(i.High, o.High), o.Low)}
}

// released is one measure of the plan with its noise.
type released struct {
	*plan.Measure
	noise     noise.Distribution
	unit      float64              // a power of two: products with it are exact
	limits    map[float64]*big.Int // quantiles of the noise
	quantiles map[float64]*big.Int
}

// released prepares a measure. Results about a noise are shared by all measures that have it.
func (n *noises) released(m *plan.Measure) (*released, error) {
	of, err := n.of(m)
	if err != nil {
		return nil, err
	}
	return &released{
		Measure:   m,
		noise:     of.noise,
		unit:      math.Ldexp(1, m.Grid),
		limits:    of.limits,
		quantiles: map[float64]*big.Int{},
	}, nil
}

// of returns the noise of a measure, with the results about it.
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

// noises numbers the distinct noises of measures: identical parameters, or equal ones, have one number.
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

// Ahead finds, at once, all quantiles of noises that intervals at level alpha need.
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

// NoiseOf is the distribution of the noise on each of a measure's cells, in grid units. The error is of its parameter.
func NoiseOf(m *plan.Measure) (noise.Distribution, error) { return m.Noise.Distribution(m.Parameter) }

// limit is the noise's quantile.
func (r *released) limit(alpha float64) *big.Int {
	q := r.limits[alpha]
	if q == nil {
		q = r.noise.Quantile(alpha)
		r.limits[alpha] = q
	}
	return q
}

// reach is the distance, in grid units, that the released number keeps from the true sum with probability at least 1
// − alpha: the noise's quantile, plus the most by which rounding can have moved the sum.
func (r *released) reach(alpha float64) *big.Int {
	q, ok := r.quantiles[alpha]
	if !ok {
		q = new(big.Int).Add(r.limit(alpha), r.Rounding)
		r.quantiles[alpha] = q
	}
	return q
}

func (r *released) stdDev() float64 { return r.noise.StdDev() * r.unit }

// float converts grid units to the measure's unit.
func (r *released) float(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f * r.unit
}

// point is the value alone.
func (r *released) point(z *big.Int) Estimate {
	return Estimate{Value: r.float(z), StdDev: math.NaN(), Interval: everything}
}

// estimate of a count or a sum, from its released number.
func (r *released) estimate(z *big.Int, alpha float64) Estimate {
	q := r.reach(alpha)
	lo, hi := new(big.Int).Sub(z, q), new(big.Int).Add(z, q)
	e := Estimate{Value: r.float(z), StdDev: r.stdDev(), Interval: around(r.Units(lo), r.Units(hi))}
	if r.Grid == 0 && !r.Rounds() && r.Centre == 0 {
		e.Whole, e.WholeLow, e.WholeHigh = z, lo, hi
	}
	return e
}
