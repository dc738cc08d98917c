package derive

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/noise"
)

// average computes AVG from a noisy centred sum S and a noisy count N, in the sum's grid units.
//
// Its interval is that of Fieller [1954], for noise of any distribution. Let s and n > 0 be the true bounded sum
// and count, and θ = s/n, so that s − θn = 0. Write S = s + A and N = n + C with the noises A and C. For the true
// θ, S − θN = A − θC, and noise.DifferenceTail bounds the tail of this difference. (The noise is symmetric, so the
// sign of θ does not matter.) The set of all θ that this bound does not reject at level α contains the true θ with
// probability at least 1 − α. The interval is the hull of this set within the bounds of θ, which are public. If the
// noisy count is not positive, the value is NULL and the interval is the bounds.
type average struct {
	sum, count *released
	bounds     Interval // bounds of the average, from the plan
}

func (a *average) estimate(s, n *big.Int, alpha float64) Estimate {
	e := a.point(s, n)
	if e.Null {
		return e
	}
	f := fieller{alpha: alpha, s: toFloat(s), n: toFloat(n), a: a.sum.noise, c: a.count.noise, evaluations: 4000}
	hull := f.hull(Interval{float64(a.sum.Lo), float64(a.sum.Hi)})
	// Rounding to the grid moves each row by at most half a grid unit, so it moves the average by at most as much.
	half := 0.5
	if a.sum.Rounding.Sign() == 0 {
		half = 0
	}
	e.Interval = Interval{a.valueDown(hull.Low - half), a.valueUp(hull.High + half)}.within(a.bounds)
	e.Low, e.High = math.Min(e.Low, e.Value), math.Max(e.High, e.Value)
	return e
}

// point returns the value without an interval other than the bounds. The value is clamped to the bounds.
func (a *average) point(s, n *big.Int) Estimate {
	e := Estimate{StdDev: math.NaN(), Interval: a.bounds}
	if n.Sign() <= 0 {
		e.Null = true
		return e
	}
	e.Value = math.Min(math.Max(a.value(toFloat(s)/toFloat(n)), a.bounds.Low), a.bounds.High)
	return e
}

// value converts theta, a centred average in grid units, to the column's unit. valueDown and valueUp do the same
// and round outward. The grid unit is a power of two, so products with it are exact unless they underflow.
func (a *average) value(theta float64) float64 { return (theta + float64(a.sum.Centre)) * a.sum.unit }

func (a *average) valueDown(theta float64) float64 {
	return exact.MulDown(exact.AddDown(theta, exact.FloatDown(a.centre())), a.sum.unit)
}

func (a *average) valueUp(theta float64) float64 {
	return exact.MulUp(exact.AddUp(theta, exact.FloatUp(a.centre())), a.sum.unit)
}

func (a *average) centre() *big.Rat { return new(big.Rat).SetInt64(a.sum.Centre) }

func toFloat(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

// fieller computes the hull of the accepted values θ of the quotient (see average).
type fieller struct {
	alpha, s, n float64
	a, c        noise.Distribution
	evaluations int
}

// slack is the relative width at which the search stops. It is larger than the relative rounding error of u and v
// in excluded.
const slack = 1e-9

// excluded reports whether every θ between lo and hi is rejected. That is so if the least |S − θN| for these θ is too
// large even for the widest noise, because the tail grows with |θ|. The type average defines S, N and θ.
func (f *fieller) excluded(lo, hi float64) bool {
	f.evaluations--
	u, v := f.s-lo*f.n, f.s-hi*f.n
	if u == 0 || v == 0 || (u > 0) != (v > 0) {
		return false
	}
	theta := math.Max(math.Abs(lo), math.Abs(hi))
	// the rounding error of u and v, whose terms may cancel, and of s and n themselves
	rounding := 0x1p-50 * (math.Abs(f.s) + theta*f.n)
	y := (math.Min(math.Abs(u), math.Abs(v)) - rounding) * (1 - slack)
	return y > 0 && noise.DifferenceTail(f.a, f.c, theta, y) <= f.alpha
}

func (f *fieller) hull(bounds Interval) Interval {
	low, ok := f.first(bounds.Low, bounds.High, 40)
	if !ok { // no θ is accepted, so the result is the clamped estimate itself
		point := math.Min(math.Max(f.s/f.n, bounds.Low), bounds.High)
		return Interval{point, point}
	}
	high, _ := f.last(low, bounds.High, 40)
	return Interval{low, math.Max(low, high)}
}

// first returns the lower end of the accepted θ between lo and hi, rounded down. It returns false if none is
// accepted.
func (f *fieller) first(lo, hi float64, depth int) (float64, bool) {
	if f.excluded(lo, hi) {
		return 0, false
	}
	if depth == 0 || f.evaluations < 0 || hi-lo <= slack*math.Abs(lo) {
		return lo, true
	}
	middle := lo + (hi-lo)/2
	if x, ok := f.first(lo, middle, depth-1); ok {
		return x, true
	}
	return f.first(middle, hi, depth-1)
}

// last returns the upper end of the accepted θ between lo and hi, rounded up. It returns false if none is accepted.
func (f *fieller) last(lo, hi float64, depth int) (float64, bool) {
	if f.excluded(lo, hi) {
		return 0, false
	}
	if depth == 0 || f.evaluations < 0 || hi-lo <= slack*math.Abs(hi) {
		return hi, true
	}
	middle := lo + (hi-lo)/2
	if x, ok := f.last(middle, hi, depth-1); ok {
		return x, true
	}
	return f.last(lo, middle, depth-1)
}

// spread returns the standard deviation of the average times the true count, to first order. theta is the true
// average, centred and in the sum's grid units.
func (a *average) spread(theta float64) float64 {
	return math.Hypot(a.sum.noise.StdDev(), theta*a.count.noise.StdDev()) * a.sum.unit
}

// reach returns the half-width of the interval times the true count, for an average in the middle of its bounds.
func (a *average) reach(alpha float64) float64 {
	return toFloat(a.sum.limit(alpha)) * a.sum.unit
}

// mean computes AVG over a declared number of rows from a noisy centred sum, or a variance from a noisy spread. Nothing
// but the sum has noise, so the interval is the sum's, divided by this number, within the bounds of the average. The
// standard deviation is that before clamping the value to these bounds.
func (c *cell) mean(agg plan.Aggregate) Estimate {
	rows, centre := new(big.Rat).SetInt64(agg.Rows), agg.Centre()
	of := func(sum *big.Rat) *big.Rat {
		x := new(big.Rat).Quo(sum, rows)
		return x.Add(x, centre)
	}
	sum := c.amount(agg.Sum)
	e := Estimate{StdDev: math.NaN(), Interval: Interval{agg.Lo, agg.Hi}}
	value, _ := of(sum).Float64()
	e.Value = math.Min(math.Max(value, agg.Lo), agg.Hi)
	if c.alpha == 0 {
		return e
	}
	e.StdDev = c.stdDevOf(agg.Sum) / float64(agg.Rows)
	reach := c.reachOf(agg.Sum, c.alpha)
	low, high := new(big.Rat).Sub(sum, reach), new(big.Rat).Add(sum, reach)
	e.Interval = around(of(low), of(high)).within(e.Interval)
	e.Low, e.High = math.Min(e.Low, e.Value), math.Max(e.High, e.Value)
	return e
}

func newAverage(agg plan.Aggregate, of map[*plan.Measure]*released) *average {
	return &average{sum: of[agg.Sum], count: of[agg.Count], bounds: Interval{agg.Lo, agg.Hi}}
}
