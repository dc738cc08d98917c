package derive

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/value"
)

// cell is one row of an answer, over which expressions are evaluated.
type cell struct {
	answer *Answer
	group  int           // the row's index among the released numbers
	keys   []value.Value // in the order of the plan's keys
	sums   []*big.Int    // in the order of the plan's measures
	alpha  float64       // level of each aggregate's interval; 0 if only values are needed
	known  map[estimated]Estimate
	// If set, the measures are estimates from several numbers. Then sums is used for quantiles and modes only, and
	// is nil if the plan has no released numbers of its own.
	grid  *grid
	place int // the row's cell in grid
}

// estimated identifies the estimate of an aggregate whose interval fails with probability at most alpha. Each is
// computed once in a row.
type estimated struct {
	aggregate int
	alpha     float64
}

// number evaluates p with its interval. The intervals of the aggregates hold together with probability at least 1 −
// (number of aggregates) · alpha (Bonferroni), and every step maps valid intervals to a valid interval.
func (c *cell) number(p *plan.Post) Estimate {
	switch p.Op {
	case plan.PostAggregate:
		return c.aggregate(p.Index)
	case plan.PostGrouping:
		return exactly(c.grouping(p))
	case plan.PostConst:
		return exactly(p.Const)
	case plan.PostKey:
		return exactly(p.Grid.Shown(c.keys[p.Index]))
	}
	args := make([]Estimate, len(p.Args))
	for i, a := range p.Args {
		args[i] = c.number(a)
	}
	return combine(p, args)
}

func (c *cell) aggregate(i int) Estimate {
	key := estimated{i, c.alpha}
	e, ok := c.known[key]
	if !ok {
		agg := c.answer.plan.Aggregates[i]
		e = c.compute(agg)
		// there is only one table, so no totals have to match
		if c.grid == nil && c.answer.whole && agg.Func == plan.CountFunc {
			e.Whole = notNegative(c.sum(agg.Count))
			e.Value = toFloat(e.Whole)
		}
		c.known[key] = e
	}
	return e
}

func (c *cell) compute(agg plan.Aggregate) Estimate {
	ms := agg.Measures()
	switch {
	case agg.Quantile != nil:
		return c.quantile(agg.Quantile, c.alpha)
	case agg.Mode != nil:
		return c.chosen(agg.Mode)
	case agg.Centred():
		return c.besides(agg)
	case agg.Rows > 0:
		return c.mean(agg)
	case c.grid != nil:
		return c.fromGrid(agg)
	case agg.Func == plan.Average && c.alpha == 0:
		return newAverage(agg, c.answer.measures).point(c.sum(ms[0]), c.sum(ms[1]))
	case agg.Func == plan.Average:
		return newAverage(agg, c.answer.measures).estimate(c.sum(ms[0]), c.sum(ms[1]), c.alpha)
	case c.alpha == 0:
		return c.answer.measures[ms[0]].point(c.sum(ms[0]))
	}
	return c.answer.measures[ms[0]].estimate(c.sum(ms[0]), c.alpha)
}

func (c *cell) sum(m *plan.Measure) *big.Int { return c.sums[c.answer.index[m]] }

// part returns the estimate of one measure.
func (c *cell) part(m *plan.Measure, alpha float64) Estimate {
	if c.grid != nil {
		return c.grid.of[m].estimateOf(c.place, alpha)
	}
	return c.answer.measures[m].estimate(c.sum(m), alpha)
}

// amount returns the released value of a measure, in its own unit.
func (c *cell) amount(m *plan.Measure) *big.Rat {
	if c.grid != nil {
		return c.grid.of[m].rat(c.place)
	}
	return m.Units(c.sum(m))
}

// reachOf returns the half-width of a measure's interval at level alpha, and stdDevOf its standard deviation. Both
// are in the measure's own unit.
func (c *cell) reachOf(m *plan.Measure, alpha float64) *big.Rat {
	if c.grid != nil {
		return c.grid.of[m].reachOf(c.place, alpha)
	}
	return c.answer.reachOf(m, alpha)
}

func (c *cell) stdDevOf(m *plan.Measure) float64 {
	if c.grid != nil {
		f := c.grid.of[m]
		return f.law(c.place).StdDev() * f.unit
	}
	return c.answer.stdDevOf(m)
}

// exactly returns the estimate of a number that is known exactly.
func exactly(v value.Value) Estimate {
	if v.Null {
		return Estimate{Null: true, StdDev: math.NaN(), Interval: everything}
	}
	if v.Type == value.Real {
		return Estimate{Value: v.Real, Interval: Interval{v.Real, v.Real}}
	}
	n := big.NewInt(v.Int)
	return Estimate{
		Value:     float64(v.Int),
		Whole:     n,
		Interval:  around(new(big.Rat).SetInt(n), new(big.Rat).SetInt(n)),
		WholeLow:  n,
		WholeHigh: n,
	}
}

// combine applies the operation of p to the values of args, and to their intervals by interval arithmetic.
func combine(p *plan.Post, args []Estimate) Estimate {
	e := Estimate{StdDev: math.NaN(), Interval: intervalOf(p, args)}
	for _, a := range args {
		if a.Null {
			e.Null = true
			return e
		}
	}
	x := args[0].Value
	switch p.Op {
	case plan.PostNeg:
		e.Value = -x
	case plan.PostAdd:
		e.Value = x + args[1].Value
	case plan.PostSub:
		e.Value = x - args[1].Value
	case plan.PostMul:
		e.Value = x * args[1].Value
	case plan.PostDiv:
		e.Null = args[1].Value == 0
		e.Value = x / args[1].Value
	case plan.PostQuo:
		e.Null = args[1].Value == 0
		e.Value = math.Trunc(x / args[1].Value)
	case plan.PostRound:
		e.Value = roundTo(x, p.Digits)
	case plan.PostAbs:
		e.Value = math.Abs(x)
	case plan.PostSqrt:
		e.Null = x < 0
		e.Value = math.Sqrt(math.Max(x, 0))
	case plan.PostLeast, plan.PostGreatest:
		e.Value = x
		for _, a := range args[1:] {
			if (a.Value < e.Value) == (p.Op == plan.PostLeast) {
				e.Value = a.Value
			}
		}
	}
	if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return Estimate{Null: true, StdDev: math.NaN(), Interval: everything}
	}
	if !e.Null { // rounding must not put the value outside its own interval
		e.Low, e.High = math.Min(e.Low, e.Value), math.Max(e.High, e.Value)
	}
	return e
}

func intervalOf(p *plan.Post, args []Estimate) Interval {
	a := args[0].Interval
	var b Interval
	if len(args) > 1 {
		b = args[1].Interval
	}
	var out Interval
	switch p.Op {
	case plan.PostNeg:
		return Interval{-a.High, -a.Low}
	case plan.PostAdd:
		out = Interval{a.Low + b.Low, a.High + b.High}
	case plan.PostSub:
		out = Interval{a.Low - b.High, a.High - b.Low}
	case plan.PostMul:
		if p.Args[0] == p.Args[1] { // a square
			a = a.magnitude()
			b = a
		}
		out = hullOf(a.Low*b.Low, a.Low*b.High, a.High*b.Low, a.High*b.High)
	case plan.PostDiv:
		if b.Low <= 0 && b.High >= 0 {
			return everything
		}
		out = hullOf(a.Low/b.Low, a.Low/b.High, a.High/b.Low, a.High/b.High)
	case plan.PostQuo:
		if b.Low <= 0 && b.High >= 0 {
			return everything
		}
		out = hullOf(a.Low/b.Low, a.Low/b.High, a.High/b.Low, a.High/b.High)
		return Interval{math.Trunc(out.Low), math.Trunc(out.High)} // dropping the fraction is monotone
	// rounding is monotone; a result with decimals is only nearly a double, so the interval is widened below
	case plan.PostRound:
		out = Interval{roundTo(a.Low, p.Digits), roundTo(a.High, p.Digits)}
		if p.Digits <= 0 {
			return out
		}
	case plan.PostAbs:
		out = a.magnitude()
	case plan.PostSqrt: // if all of a is below 0, the root is NULL and any interval is valid
		if a.High < 0 {
			return everything
		}
		out = Interval{math.Sqrt(math.Max(a.Low, 0)), math.Sqrt(a.High)}
	case plan.PostLeast, plan.PostGreatest:
		pick := math.Min
		if p.Op == plan.PostGreatest {
			pick = math.Max
		}
		out = a
		for _, x := range args[1:] {
			out = Interval{pick(out.Low, x.Low), pick(out.High, x.High)}
		}
		return out
	}
	if math.IsNaN(out.Low) || math.IsNaN(out.High) { // 0 · ∞ or ∞ − ∞
		return everything
	}
	wide := out.outward()
	// a root, or a product of numbers that are not negative
	if out.Low >= 0 && (p.Op == plan.PostSqrt || p.Op == plan.PostMul) {
		wide.Low = math.Max(wide.Low, 0)
	}
	return wide
}

// magnitude returns the interval of |x|.
func (i Interval) magnitude() Interval {
	return Interval{math.Max(0, math.Max(i.Low, -i.High)), math.Max(math.Abs(i.Low), math.Abs(i.High))}
}

func hullOf(xs ...float64) Interval {
	out := Interval{xs[0], xs[0]}
	for _, x := range xs[1:] {
		out = Interval{math.Min(out.Low, x), math.Max(out.High, x)} // a NaN remains
	}
	return out
}

// roundTo rounds x half away from zero to digits decimal places, exactly, and returns the double nearest to the
// result. A number that is too large to have decimal places is returned as it is.
func roundTo(x float64, digits int) float64 {
	if digits == 0 {
		return math.Round(x)
	}
	r := new(big.Rat).SetFloat64(x)
	if r == nil || digits > 0 && math.Abs(x) > 1<<53 {
		return x
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(digits, -digits))), nil))
	if digits < 0 {
		scale.Inv(scale)
	}
	half := big.NewRat(1, 2)
	n := exact.FloorRat(half.Add(half, new(big.Rat).Abs(r.Mul(r, scale))))
	out, _ := new(big.Rat).Quo(new(big.Rat).SetInt(n), scale).Float64()
	return math.Copysign(out, x)
}

// truth is a value of SQL's three-valued logic.
type truth int

const (
	isFalse truth = iota
	unknown
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// condition evaluates a boolean expression over the released values. It uses no intervals.
func (c *cell) condition(p *plan.Post) truth {
	switch p.Op {
	case plan.PostAnd:
		if c.condition(p.Args[0]) == isFalse {
			return isFalse
		}
		return min(c.condition(p.Args[0]), c.condition(p.Args[1]))
	case plan.PostOr:
		if c.condition(p.Args[0]) == isTrue {
			return isTrue
		}
		return max(c.condition(p.Args[0]), c.condition(p.Args[1]))
	case plan.PostNot:
		return isTrue - c.condition(p.Args[0])
	case plan.PostTrue:
		return truthOf(c.condition(p.Args[0]) == isTrue)
	case plan.PostNull:
		if p.Args[0].Type == value.Boolean {
			return truthOf(c.condition(p.Args[0]) == unknown)
		}
		return truthOf(c.scalar(p.Args[0]).Null)
	case plan.PostKey, plan.PostConst, plan.PostAggregate:
		v := c.scalar(p)
		if v.Null {
			return unknown
		}
		return truthOf(v.Bool)
	}
	l, r := c.comparable(p.Args[0]), c.comparable(p.Args[1])
	if l.Null || r.Null {
		return unknown
	}
	return truthOf(holds(p.Op, value.Compare(l, r)))
}

func holds(op plan.PostOp, order int) bool {
	switch op {
	case plan.PostEq:
		return order == 0
	case plan.PostNe:
		return order != 0
	case plan.PostLt:
		return order < 0
	case plan.PostLe:
		return order <= 0
	case plan.PostGt:
		return order > 0
	}
	return order >= 0
}

// scalar returns the value of p: that of a key or a constant, or a number.
func (c *cell) scalar(p *plan.Post) value.Value {
	if v, ok := c.picked(p); ok {
		return v
	}
	switch {
	case p.Op == plan.PostKey:
		return p.Grid.Shown(c.keys[p.Index])
	case p.Op == plan.PostConst:
		return p.Const
	case p.Op == plan.PostGrouping:
		return c.grouping(p)
	case p.Type == value.Boolean:
		t := c.condition(p)
		return value.Value{Type: value.Boolean, Null: t == unknown, Bool: t == isTrue}
	}
	values := *c
	values.alpha = 0
	e := values.number(p)
	return value.Value{Type: value.Real, Null: e.Null, Real: e.Value}
}

// comparable returns the value of p. It converts an integer to a real, so that all numbers can be compared.
func (c *cell) comparable(p *plan.Post) value.Value {
	v := c.scalar(p)
	if v.Type == value.Integer {
		return value.Value{Type: value.Real, Null: v.Null, Real: float64(v.Int)}
	}
	return v
}
