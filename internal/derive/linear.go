package derive

import (
	"math"

	"dither/internal/plan"
)

// form is constant + Σ slope·measure.
type form struct {
	constant float64
	slope    map[*plan.Measure]float64
}

func (a *Answer) form(p *plan.Post) (form, bool) {
	none := form{slope: map[*plan.Measure]float64{}}
	switch p.Op {
	case plan.PostConst:
		none.constant = exactly(p.Const).Value
		return none, true
	case plan.PostAggregate:
		agg := a.plan.Aggregates[p.Index]
		if agg.Func == plan.Average {
			return none, false
		}
		none.slope[agg.Measures()[0]] = 1
		return none, true
	case plan.PostNeg, plan.PostAdd, plan.PostSub, plan.PostMul, plan.PostDiv:
	default:
		return none, false
	}
	fs := make([]form, len(p.Args))
	for i, arg := range p.Args {
		f, ok := a.form(arg)
		if !ok {
			return none, false
		}
		fs[i] = f
	}
	switch {
	case p.Op == plan.PostNeg:
		return none.plus(fs[0], -1), true
	case p.Op == plan.PostAdd:
		return none.plus(fs[0], 1).plus(fs[1], 1), true
	case p.Op == plan.PostSub:
		return none.plus(fs[0], 1).plus(fs[1], -1), true
	case p.Op == plan.PostMul && len(fs[0].slope) == 0:
		return none.plus(fs[1], fs[0].constant), true
	case p.Op == plan.PostMul && len(fs[1].slope) == 0:
		return none.plus(fs[0], fs[1].constant), true
	case p.Op == plan.PostDiv && len(fs[1].slope) == 0 && fs[1].constant != 0:
		return none.plus(fs[0], 1/fs[1].constant), true
	}
	return none, false
}

// stdDev is that of the form: the measures' noises are independent.
func (f form) stdDev(a *Answer) float64 {
	v := 0.0
	for m, x := range f.slope {
		sd := a.measures[m].stdDev()
		v += x * x * sd * sd
	}
	return math.Sqrt(v)
}

// plus is f + times·g.
func (f form) plus(g form, times float64) form {
	out := form{constant: f.constant + times*g.constant, slope: map[*plan.Measure]float64{}}
	for m, x := range f.slope {
		out.slope[m] += x
	}
	for m, x := range g.slope {
		out.slope[m] += times * x
	}
	return out
}
