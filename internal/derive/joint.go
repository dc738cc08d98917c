package derive

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/noise"
)

// jointOf identifies the error of a centred sum d + c·n: the distributions of the errors of d and n, and their
// coefficients.
type jointOf struct {
	laws  [2]*noise.Combination
	times [2]float64
}

// lawOf returns the distribution of a measure's error, in grid units.
func (a *Answer) lawOf(m *plan.Measure) *noise.Combination {
	law := a.laws[m]
	if law == nil {
		law = &noise.Combination{}
		law.Add(1, a.measures[m].noise, 1)
		if a.laws == nil {
			a.laws = map[*plan.Measure]*noise.Combination{}
		}
		a.laws[m] = law
	}
	return law
}

func (c *cell) lawOf(m *plan.Measure) *noise.Combination {
	if c.grid != nil {
		return c.grid.of[m].law(c.place)
	}
	return c.answer.lawOf(m)
}

func (g *grid) lawOf(m *plan.Measure) *noise.Combination { return g.of[m].widest() }

// reachOfSum returns a distance that the error of a centred sum d + c·n exceeds with probability at most alpha, where f
// is its form.
//
// Claim: the result is such a distance, for released and for fitted numbers. Proof. Each measure is its exact sum, plus
// at most Rounding grid units, plus an error. For released numbers, the error is the measure's own noise. For fitted
// numbers, it is a linear combination of noises, whose distribution is that of lawOf. A fit reads numbers of one
// measure alone. Its coefficients depend on plans and prices, and never on a number (fit, Answer.From). d is a sum and
// n is a count, so they are different measures in every release, and their noises are independent. So are their errors,
// under the condition that Answer.From states. So the error of the form has the distribution Σ |slope|·error, since
// noises are symmetric, and noise.Combination has an upper bound on its quantile. ∎
func (a *Answer) reachOfSum(agg plan.Aggregate, f form, of errorBars, alpha float64) *big.Rat {
	ms := agg.Measures()
	if len(ms) != 2 { // with a declared number of rows, d alone has noise
		return f.apart(of, alpha)
	}
	key, rounding := jointOf{}, new(big.Rat)
	for i, m := range ms {
		size := new(big.Rat).Abs(f.slope[m])
		size.Mul(size, m.Unit())
		key.laws[i], key.times[i] = of.lawOf(m), exact.FloatUp(size)
		rounding.Add(rounding, size.Mul(size, new(big.Rat).SetInt(m.Rounding)))
	}
	law := a.joints[key]
	if law == nil {
		law = (&noise.Combination{}).Plus(key.laws[0], key.times[0]).Plus(key.laws[1], key.times[1])
		if a.joints == nil {
			a.joints = map[jointOf]*noise.Combination{}
		}
		a.joints[key] = law
	}
	q := new(big.Rat).SetFloat64(law.Quantile(alpha))
	if q == nil { // no quantile is known
		return f.apart(of, alpha/2)
	}
	return q.Add(q, rounding)
}

// apart returns Σ |slope| · reach of each measure at level alpha, exactly. If every measure is within its own reach,
// the form is within this distance of its true value. A measure that occurs twice counts with the sum of its slopes.
func (f form) apart(of errorBars, alpha float64) *big.Rat {
	out := new(big.Rat)
	for m, x := range f.slope {
		r := of.reachOf(m, alpha)
		out.Add(out, r.Mul(r, new(big.Rat).Abs(x)))
	}
	return out
}

// besides computes a sum from the measures of an average (plan.Aggregate.Centred). A sum of integers is an integer,
// also where the middle of the range is not: its value is rounded, half to even, and is then at most 1/2 further from
// the exact sum. Two integers whose distance is at most r + 1/2 are at most ⌊r + 1/2⌋ apart.
func (c *cell) besides(agg plan.Aggregate) Estimate {
	f, _ := formOfAggregate(agg)
	x := f.value(c)
	whole := wholeSum(agg) && c.grid.integers(agg)
	var n *big.Int
	if whole {
		n = halfToEven(x)
		x = new(big.Rat).SetInt(n)
	}
	e := Estimate{Whole: n, StdDev: math.NaN(), Interval: everything}
	e.Value, _ = x.Float64()
	if c.alpha == 0 {
		return e
	}
	reach := c.answer.reachOfSum(agg, f, c, c.alpha)
	if whole {
		reach = wholeReach(reach, agg)
		e.WholeLow, e.WholeHigh = new(big.Int).Sub(n, reach.Num()), new(big.Int).Add(n, reach.Num())
	}
	e.StdDev, e.Interval = f.stdDev(c), around(new(big.Rat).Sub(x, reach), new(big.Rat).Add(x, reach))
	return e
}

// wholeSum reports whether a centred sum is one of integers.
func wholeSum(agg plan.Aggregate) bool { return agg.Sum.X.Type == value.Integer }

// integers reports whether the measures of an aggregate are integers, as released numbers are. Fitted numbers are
// rational. The grid is nil for released numbers.
func (g *grid) integers(agg plan.Aggregate) bool {
	return g == nil || !slices.ContainsFunc(agg.Measures(), func(m *plan.Measure) bool { return !g.of[m].direct })
}

// wholeReach returns the distance from the rounded value of a sum of integers, for a distance from the value itself.
func wholeReach(reach *big.Rat, agg plan.Aggregate) *big.Rat {
	out := new(big.Rat).Set(reach)
	if !agg.Centre().IsInt() {
		out.Add(out, big.NewRat(1, 2))
	}
	return out.SetInt(exact.FloorRat(out))
}

// halfToEven returns the integer nearest to x, and the even one of two that are equally near.
func halfToEven(x *big.Rat) *big.Int {
	n := exact.FloorRat(new(big.Rat).Add(x, big.NewRat(1, 2)))
	if d := new(big.Rat).Sub(new(big.Rat).SetInt(n), x); d.Cmp(big.NewRat(1, 2)) == 0 && n.Bit(0) == 1 {
		n.Sub(n, big.NewInt(1))
	}
	return n
}

// Term is a released measure with its coefficient in a linear form.
type Term struct {
	Measure *plan.Measure
	Times   float64
	// Away bounds what rounding the form to whole numbers adds to its error, in the measure's own unit; 0 if it is not
	// rounded
	Away float64
}

// Terms returns the released measures whose linear form is the output, if the output is a count or a sum; nil for any
// other output.
func (a *Answer) Terms(o plan.Output) []Term {
	if m := a.Single(o); m != nil {
		return []Term{{Measure: m, Times: 1}}
	}
	if o.Post == nil || o.Post.Op != plan.PostAggregate || !a.plan.Aggregates[o.Post.Index].Centred() {
		return nil
	}
	agg, out := a.plan.Aggregates[o.Post.Index], []Term(nil)
	for _, m := range agg.Measures() {
		t := Term{Measure: m, Times: 1}
		if m == agg.Count {
			t.Times, _ = agg.Centre().Float64()
		} else if wholeSum(agg) && !agg.Centre().IsInt() {
			t.Away = 0.5
		}
		out = append(out, t)
	}
	return out
}

// Integers reports whether an output is a sum or a count of integers, whose released value is whole.
func (a *Answer) Integers(o plan.Output) bool {
	if m := a.Single(o); m != nil {
		return m.Grid == 0 && !m.Rounds() && m.Centre == 0
	}
	return a.Terms(o) != nil && wholeSum(a.plan.Aggregates[o.Post.Index])
}
