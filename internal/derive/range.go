package derive

import (
	"slices"

	"dither/internal/plan"
	"dither/internal/value"
)

// Range returns an interval that contains an output's value whatever is released. The bounds of the policy and of the
// question determine it. An interval that covers it says nothing about the rows.
func (a *Answer) Range(o plan.Output) Interval {
	if o.Post == nil {
		return everything
	}
	return rangeOf(a.plan, o.Post)
}

// Never reports whether an output has no value whatever is released: it divides by 0, or takes the root of a number
// below 0.
func (a *Answer) Never(o plan.Output) bool { return o.Post != nil && never(a.plan, o.Post) }

// rangeOf returns the range of p's value, by interval arithmetic. Counts and sums have noise, so they may be any
// number.
func rangeOf(of *plan.Plan, p *plan.Post) Interval {
	switch p.Op {
	case plan.PostAggregate:
		agg := of.Aggregates[p.Index]
		switch {
		case agg.Func == plan.Average:
			return Interval{agg.Lo, agg.Hi}
		case agg.Quantile != nil && agg.Quantile.Value.Rounds():
			return Interval{agg.Quantile.Value.X.Range.Lo, agg.Quantile.Value.X.Range.Hi}
		case agg.Mode != nil && agg.Mode.Of.Expr.Type == value.Integer:
			values := agg.Mode.Of.Values
			return Interval{float64(values[0].Int), float64(values[len(values)-1].Int)}
		case agg.Quantile != nil && agg.Quantile.Value.X.Type == value.Integer:
			return Interval{float64(agg.Quantile.Value.Lo), float64(agg.Quantile.Value.Hi)}
		}
		return everything
	case plan.PostConst:
		return exactly(p.Const).Interval
	case plan.PostSub:
		if x, y := p.Args[0], p.Args[1]; x.Op == plan.PostAggregate && y.Op == plan.PostAggregate && x.Index == y.Index {
			return Interval{}
		}
	case plan.PostNeg, plan.PostAdd, plan.PostMul, plan.PostDiv, plan.PostQuo, plan.PostRound, plan.PostAbs, plan.PostSqrt,
		plan.PostLeast, plan.PostGreatest:
	default:
		return everything
	}
	args := make([]Estimate, len(p.Args))
	for i, x := range p.Args {
		args[i].Interval = rangeOf(of, x)
	}
	return intervalOf(p, args)
}

// never reports whether p is NULL whatever is released.
func never(of *plan.Plan, p *plan.Post) bool {
	switch p.Op {
	case plan.PostConst:
		return p.Const.Null
	case plan.PostDiv, plan.PostQuo:
		if rangeOf(of, p.Args[1]) == (Interval{}) {
			return true
		}
	case plan.PostSqrt:
		if rangeOf(of, p.Args[0]).High < 0 {
			return true
		}
	case plan.PostNeg, plan.PostAdd, plan.PostSub, plan.PostMul, plan.PostRound, plan.PostAbs:
	default:
		return false
	}
	for _, x := range p.Args {
		if never(of, x) {
			return true
		}
	}
	return false
}

// Unbounded reports whether an output has no finite interval whatever is released: it divides by an expression of modes
// that may be 0. The interval of a mode is the range of its values, so it contains 0 at any price.
func (a *Answer) Unbounded(o plan.Output) bool { return o.Post != nil && unbounded(a.plan, o.Post) }

func unbounded(of *plan.Plan, p *plan.Post) bool {
	switch p.Op {
	case plan.PostDiv, plan.PostQuo:
		divisor, fixed := p.Args[1], true
		for _, i := range aggregates(divisor) {
			fixed = fixed && of.Aggregates[i].Mode != nil
		}
		if r := rangeOf(of, divisor); fixed && r.Low <= 0 && r.High >= 0 {
			return true
		}
	case plan.PostNeg, plan.PostAdd, plan.PostSub, plan.PostMul, plan.PostRound:
	default:
		return false
	}
	return slices.ContainsFunc(p.Args, func(x *plan.Post) bool { return unbounded(of, x) })
}
