package derive

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/noise"
)

// form is the exact linear form constant + Σ slope·measure, where each measure is in its own unit.
type form struct {
	constant *big.Rat
	slope    map[*plan.Measure]*big.Rat
}

// errorBars returns the known errors of measures, in one row or in the rows where they are largest.
type errorBars interface {
	reachOf(m *plan.Measure, alpha float64) *big.Rat
	stdDevOf(m *plan.Measure) float64
	lawOf(m *plan.Measure) *noise.Combination
}

func (a *Answer) reachOf(m *plan.Measure, alpha float64) *big.Rat {
	return m.Units(a.measures[m].reach(alpha))
}
func (a *Answer) stdDevOf(m *plan.Measure) float64 { return a.measures[m].stdDev() }

func newForm() form { return form{constant: new(big.Rat), slope: map[*plan.Measure]*big.Rat{}} }

// formOf returns p as a linear form of measures, as form does, and computes it once for each p.
func (a *Answer) formOf(p *plan.Post) (form, bool) {
	known, ok := a.forms[p]
	if !ok {
		if f, is := a.form(p); is {
			known = &f
		}
		if a.forms == nil {
			a.forms = map[*plan.Post]*form{}
		}
		a.forms[p] = known
	}
	if known == nil {
		return form{}, false
	}
	return *known, true
}

// form returns p as a linear form of measures. It returns false if p is not linear.
func (a *Answer) form(p *plan.Post) (form, bool) {
	out := newForm()
	switch p.Op {
	case plan.PostConst:
		if p.Const.Null {
			return out, false
		}
		if p.Const.Type == value.Real {
			return out, out.constant.SetFloat64(p.Const.Real) != nil
		}
		out.constant.SetInt64(p.Const.Int)
		return out, true
	case plan.PostAggregate:
		return formOfAggregate(a.plan.Aggregates[p.Index])
	case plan.PostNeg, plan.PostAdd, plan.PostSub, plan.PostMul, plan.PostDiv:
	default:
		return out, false
	}
	fs := make([]form, len(p.Args))
	for i, arg := range p.Args {
		f, ok := a.form(arg)
		if !ok {
			return out, false
		}
		fs[i] = f
	}
	one, minus := big.NewRat(1, 1), big.NewRat(-1, 1)
	switch {
	case p.Op == plan.PostNeg:
		return out.plus(fs[0], minus), true
	case p.Op == plan.PostAdd:
		return out.plus(fs[0], one).plus(fs[1], one), true
	case p.Op == plan.PostSub:
		return out.plus(fs[0], one).plus(fs[1], minus), true
	case p.Op == plan.PostMul && len(fs[0].slope) == 0:
		return out.plus(fs[1], fs[0].constant), true
	case p.Op == plan.PostMul && len(fs[1].slope) == 0:
		return out.plus(fs[0], fs[1].constant), true
	case p.Op == plan.PostDiv && len(fs[1].slope) == 0 && fs[1].constant.Sign() != 0:
		return out.plus(fs[0], new(big.Rat).Inv(fs[1].constant)), true
	}
	return out, false
}

// formOfAggregate returns a count or a sum as a linear form of its measures.
func formOfAggregate(agg plan.Aggregate) (form, bool) {
	out := newForm()
	switch {
	case len(agg.Measures()) == 0 || agg.Func == plan.Average:
		return out, false
	case agg.Centred() && agg.Rows > 0:
		out.constant.Mul(agg.Centre(), new(big.Rat).SetInt64(agg.Rows))
	case agg.Centred():
		out.slope[agg.Count] = agg.Centre()
	default:
		out.slope[agg.Measures()[0]] = big.NewRat(1, 1)
		return out, true
	}
	out.slope[agg.Sum] = big.NewRat(1, 1)
	return out, true
}

// plus returns f + times·g.
func (f form) plus(g form, times *big.Rat) form {
	out := newForm()
	out.constant.Add(f.constant, new(big.Rat).Mul(times, g.constant))
	for m, x := range f.slope {
		out.slope[m] = new(big.Rat).Set(x)
	}
	for m, x := range g.slope {
		if out.slope[m] == nil {
			out.slope[m] = new(big.Rat)
		}
		out.slope[m].Add(out.slope[m], new(big.Rat).Mul(times, x))
	}
	return out
}

// stdDev returns the standard deviation of the form. The noises of the measures are independent.
func (f form) stdDev(of errorBars) float64 {
	v := 0.0
	for m, x := range f.slope {
		s, _ := x.Float64()
		sd := of.stdDevOf(m)
		v += s * s * sd * sd
	}
	return math.Sqrt(v)
}

// value returns the value of the form from the released numbers.
func (f form) value(c *cell) *big.Rat {
	x := new(big.Rat).Set(f.constant)
	for m, slope := range f.slope {
		term := c.amount(m)
		x.Add(x, term.Mul(term, slope))
	}
	return x
}

// share returns the share of alpha for each measure of the form, in an expression of so many aggregates. A centred sum
// has two measures, so there can be more measures than aggregates.
func (f form) share(alpha float64, aggregates int) float64 {
	return alpha / float64(max(aggregates, len(f.slope), 1))
}

// estimate returns the estimate of the form from the released numbers. Each measure's interval is at level alpha.
func (f form) estimate(c *cell, alpha float64) Estimate {
	x := f.value(c)
	reach := f.apart(c, alpha)
	e := Estimate{StdDev: f.stdDev(c), Interval: Interval{
		exact.FloatDown(new(big.Rat).Sub(x, reach)), exact.FloatUp(new(big.Rat).Add(x, reach)),
	}}
	e.Value, _ = x.Float64()
	if math.IsInf(e.Value, 0) {
		return Estimate{Null: true, StdDev: math.NaN(), Interval: everything}
	}
	return e
}
