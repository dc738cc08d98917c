package bind

import (
	"math"
	"strconv"

	"dither/internal/query"
)

// spread returns the variance or the standard deviation of one unit's values as an expression of their average, their
// average square and their number. It returns nil for any other function, and for forms that innerCall refuses.
//
// With d = x − c, where c is the middle of x's range and h the largest |d|, the variance AVG(d²) − AVG(d)² does not
// depend on c and is at most h². Its rounding can make it negative or greater, so its absolute value is taken, and is
// at most h². VAR_SAMP multiplies it by n/(n − 1), which is NULL for fewer than two values and at most 2 for more. A
// CASE keeps NULL, unlike LEAST.
func (l *Scope) spread(x *query.Call) (query.Expr, error) {
	root, sample := false, false
	switch x.Name {
	case "var_pop":
	case "var_samp", "variance":
		sample = true
	case "stddev_pop":
		root = true
	case "stddev_samp", "stddev":
		root, sample = true, true
	default:
		return nil, nil
	}
	if x.Star || x.Distinct || len(x.Args) != 1 || len(x.Named) > 0 {
		return nil, nil
	}
	x = Unfiltered(x)
	e, err := l.inside.input.Row(x.Args[0])
	if err != nil {
		return nil, err
	}
	if err := Numeric(e, x.At); err != nil {
		return nil, err
	}
	lo, hi := RangeFloats(e.Range, e.Type)
	centre := math.Floor(lo/2 + hi/2)
	half := math.Max(hi-centre, centre-lo)
	binary := func(op query.BinaryOp, a, b query.Expr) query.Expr {
		return &query.Binary{At: x.At, Op: op, L: a, R: b}
	}
	call := func(name string, arg query.Expr) query.Expr {
		return &query.Call{At: x.At, Name: name, Args: []query.Expr{arg}}
	}
	number := func(v float64) query.Expr { // v ≥ 0
		kind, text := query.DecimalLiteral, strconv.FormatFloat(v, 'g', -1, 64)
		if v == math.Trunc(v) && v < 1<<53 {
			kind, text = query.IntegerLiteral, strconv.FormatInt(int64(v), 10)
		}
		return &query.Literal{At: x.At, Kind: kind, Text: text}
	}
	atMost := func(v query.Expr, most float64) query.Expr {
		return &query.Case{
			At: x.At, Whens: []query.When{{Cond: binary(query.Gt, v, number(most)), Result: number(most)}}, Else: v,
		}
	}
	d := x.Args[0]
	switch {
	case centre > 0:
		d = binary(query.Sub, d, number(centre))
	case centre < 0:
		d = binary(query.Add, d, number(-centre))
	}
	mean := call("avg", d)
	out := atMost(call("abs", binary(query.Sub, call("avg", binary(query.Mul, d, d)), binary(query.Mul, mean, mean))), half*half)
	if sample {
		n := call("count", x.Args[0])
		fewer := binary(query.Sub, n, number(1))
		several := &query.Case{At: x.At, Whens: []query.When{{Cond: binary(query.Gt, fewer, number(0)), Result: fewer}}}
		share := binary(query.Div, &query.Cast{At: x.At, X: n, Type: "real"}, several)
		out = atMost(binary(query.Mul, out, share), 2*half*half)
	}
	if root {
		out = call("sqrt", out)
	}
	return out, nil
}

// spread returns an item of a subquery with its variances and standard deviations written out.
func (in *inner) spread(item query.Expr) (query.Expr, error) {
	l := &Scope{inside: &inside{input: in.rows}}
	return query.Rewrite(item, func(x query.Expr) (query.Expr, error) {
		c, ok := x.(*query.Call)
		if !ok || c.Over != nil {
			return x, nil
		}
		if out, err := l.spread(c); err != nil || out != nil {
			return out, err
		}
		return x, nil
	})
}
