package post

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/text"
	"dither/internal/value"
)

// call binds a function, an aggregate or a window function.
func (s *scope) call(x *query.Call) (*node, error) {
	x = bind.Renamed(x)
	switch {
	case x.Over != nil:
		return s.windowed(x)
	case aggregates(x):
		return s.aggregate(x)
	case windowOnly[x.Name] && !bind.Foreign(x.Name): // LOCF without TIME_BUCKET_GAPFILL is refused below
		return nil, bind.Refuse(x.At, "write "+query.Print(x)+" OVER (ORDER BY x)", "%s needs OVER", x.Name)
	}
	if err := bind.Unnamed(x); err != nil {
		return nil, err
	}
	f, ok := functions[x.Name]
	_, ofText := text.Named(x.Name)
	if !ok && !ofText {
		return nil, bind.NoFunction(x, slices.Sorted(maps.Keys(functions)))
	}
	args, err := s.bindAll(x.Args)
	if err != nil {
		return nil, err
	}
	if !ok {
		return textCall(x.Name, args, x.At)
	}
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return nil, bind.Refuse(x.At, "", "wrong number of arguments for %s", x.Name)
	}
	return f.build(args, x.At)
}

// builder builds the call of a function. most is −1 for any number of arguments.
type builder struct {
	least, most int
	build       func(args []*node, at query.Pos) (*node, error)
}

var functions map[string]builder

func init() { //nolint:gochecknoinits // the table refers to functions that refer to the table
	functions = map[string]builder{
		"abs":      {1, 1, absolute},
		"floor":    {1, 1, toWhole(math.Floor)},
		"ceil":     {1, 1, toWhole(math.Ceil)},
		"ceiling":  {1, 1, toWhole(math.Ceil)},
		"round":    {1, 2, toPlaces(math.Round)},
		"trunc":    {1, 2, toPlaces(math.Trunc)},
		"sign":     {1, 1, sign},
		"sqrt":     {1, 1, root(math.Sqrt, 0, true)},
		"ln":       {1, 1, root(math.Log, 0, false)},
		"log":      {1, 2, logarithm},
		"log10":    {1, 1, root(math.Log10, 0, false)},
		"exp":      {1, 1, root(math.Exp, math.Inf(-1), true)},
		"mod":      {2, 2, func(a []*node, at query.Pos) (*node, error) { return arithmetic(query.Mod, a[0], a[1], at) }},
		"div":      {2, 2, divide2},
		"power":    {2, 2, power},
		"pow":      {2, 2, power},
		"coalesce": {1, -1, coalesce},
		"nullif":   {2, 2, func(a []*node, at query.Pos) (*node, error) { return nullIf(a[0], a[1], at) }},
		"greatest": {1, -1, func(a []*node, at query.Pos) (*node, error) { return extreme(true, a, at) }},
		"least":    {1, -1, func(a []*node, at query.Pos) (*node, error) { return extreme(false, a, at) }},
	}
	maps.Copy(functions, timeFunctions)
}

func absolute(a []*node, at query.Pos) (*node, error) {
	x := a[0]
	if err := asNumber(at, x); err != nil {
		return nil, err
	}
	of := func(vs []value.Value) value.Value {
		v := vs[0]
		if v.Type == value.Integer {
			if v.Int == math.MinInt64 {
				return value.NullOf(value.Integer)
			}
			return value.OfInt(max(v.Int, -v.Int))
		}
		return ofReal(math.Abs(v.Real))
	}
	out := function(x.typ, "", of, x)
	if !out.noisy || out.fixed != nil {
		return out, nil
	}
	out.eval = func(e *env, r *row) Cell {
		c := x.eval(e, r)
		if c.Value.Null || c.error == nil {
			return Cell{Value: typed(of([]value.Value{c.Value}), x.typ)}
		}
		i, ok := e.laws.interval(c.error, number(c.Value))
		if !ok {
			return Exact(of([]value.Value{c.Value}))
		}
		lo := math.Max(0, math.Max(i.Low, -i.High))
		m := ends(lo, math.Max(-i.Low, i.High))
		m.ends.Low = math.Max(m.ends.Low, 0)
		return Cell{Value: of([]value.Value{c.Value}), error: m}
	}
	return out, nil
}

// toWhole returns a builder for a rounding to an integer. The result of a real beyond 2⁶² is NULL.
func toWhole(round func(float64) float64) func([]*node, query.Pos) (*node, error) {
	return func(a []*node, at query.Pos) (*node, error) {
		if err := asNumber(at, a[0]); err != nil || a[0].typ == value.Integer {
			return a[0], err
		}
		return monotone(value.Integer, a[0], false, func(v value.Value) value.Value { return wholeOf(round(v.Real)) }, round), nil
	}
}

// sign builds SIGN: −1, 0 or 1.
func sign(a []*node, at query.Pos) (*node, error) {
	if err := asNumber(at, a[0]); err != nil {
		return nil, err
	}
	of := func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	}
	return monotone(value.Integer, a[0], false, func(v value.Value) value.Value { return wholeOf(of(number(v))) }, of), nil
}

// wholeOf returns a whole double as an integer, or NULL if it is beyond 2⁶².
func wholeOf(x float64) value.Value {
	if !finite(x) || math.Abs(x) > 1<<62 {
		return value.NullOf(value.Integer)
	}
	return value.OfInt(int64(x))
}

// toPlaces returns a builder for ROUND and TRUNC, which keep a constant number of decimal places.
func toPlaces(round func(float64) float64) func([]*node, query.Pos) (*node, error) {
	return func(a []*node, at query.Pos) (*node, error) {
		if len(a) == 1 {
			return toWhole(round)(a, at)
		}
		if err := asNumber(at, a...); err != nil {
			return nil, err
		}
		n := a[1].fixed
		if n == nil || n.Null || n.Type != value.Integer || bind.AbsInt(n.Int) > bind.MaxDigits {
			return nil, bind.Refuse(at, "", "the number of decimal places is a constant from -%d to %d", bind.MaxDigits, bind.MaxDigits)
		}
		places := n.Int
		to := func(x float64) float64 { return decimals(x, places, round) }
		if a[0].typ == value.Integer {
			if places >= 0 {
				return a[0], nil
			}
			return monotone(value.Integer, a[0], false, func(v value.Value) value.Value { return wholeOf(to(number(v))) }, to), nil
		}
		out := monotone(value.Real, toReal(a[0]), true, func(v value.Value) value.Value { return ofReal(to(v.Real)) }, to)
		out.work = capped(out.work + 20) // decimals computes with rationals
		return out, nil
	}
}

// decimals rounds x to a number of decimal places, exactly, and returns the double nearest to the result. It rounds the
// shortest decimal that is x, as PostgreSQL does when a real becomes a numeric.
func decimals(x float64, places int64, round func(float64) float64) float64 {
	if !finite(x) || places > 0 && math.Abs(x) > 1<<53 {
		return x
	}
	r, ok := new(big.Rat).SetString(ofShortest(x))
	if !ok {
		return x
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(bind.AbsInt(places)), nil))
	if places < 0 {
		scale.Inv(scale)
	}
	r.Mul(r, scale)
	half := new(big.Rat)
	if round(0.5) == 1 { // to the nearest, and otherwise towards 0
		half.SetFrac64(1, 2)
	}
	negative := r.Sign() < 0
	r.Add(r.Abs(r), half)
	n := new(big.Int).Quo(r.Num(), r.Denom())
	out, _ := new(big.Rat).Quo(new(big.Rat).SetInt(n), scale).Float64()
	if negative {
		return -out
	}
	return out
}

// root returns a builder for an increasing real function with a domain, outside of which it is NULL.
func root(f func(float64) float64, least float64, closed bool) func([]*node, query.Pos) (*node, error) {
	inside := func(x float64) bool { return x > least || closed && x == least }
	return func(a []*node, at query.Pos) (*node, error) {
		if err := asNumber(at, a[0]); err != nil {
			return nil, err
		}
		return monotone(value.Real, toReal(a[0]), true, func(v value.Value) value.Value {
			if !inside(v.Real) {
				return value.NullOf(value.Real)
			}
			return ofReal(f(v.Real))
		}, func(x float64) float64 { return f(math.Max(x, least)) }), nil
	}
}

// logarithm builds LOG(x) to base 10, and LOG(b, x).
func logarithm(a []*node, at query.Pos) (*node, error) {
	if len(a) == 1 {
		return root(math.Log10, 0, false)(a, at)
	}
	base, err := root(math.Log, 0, false)(a[:1], at)
	if err != nil {
		return nil, err
	}
	of, err := root(math.Log, 0, false)(a[1:], at)
	if err != nil {
		return nil, err
	}
	return arithmetic(query.Div, of, base, at)
}

// divide2 builds DIV, a quotient without its fraction.
func divide2(a []*node, at query.Pos) (*node, error) {
	if err := asNumber(at, a...); err != nil {
		return nil, err
	}
	if common(a[0], a[1]) == value.Integer {
		return function(value.Integer, whyProduct, func(vs []value.Value) value.Value {
			if vs[1].Int == 0 || vs[0].Int == math.MinInt64 && vs[1].Int == -1 {
				return value.NullOf(value.Integer)
			}
			return value.OfInt(vs[0].Int / vs[1].Int)
		}, a...), nil
	}
	q, err := arithmetic(query.Div, a[0], a[1], at)
	if err != nil {
		return nil, err
	}
	return toWhole(math.Trunc)([]*node{q}, at)
}

func power(a []*node, at query.Pos) (*node, error) {
	if err := asNumber(at, a...); err != nil {
		return nil, err
	}
	return function(value.Real, whyProduct, func(vs []value.Value) value.Value {
		return ofReal(math.Pow(number(vs[0]), number(vs[1])))
	}, a...), nil
}
