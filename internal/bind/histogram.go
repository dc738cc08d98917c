package bind

import (
	"math/big"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/policy"
	"dither/internal/query"
)

// widthBucket translates WIDTH_BUCKET(x, low, high, n). The interval [low, high) is divided into n equal parts,
// numbered from 1. The result is the number of the part that has x, 0 if x < low, and n + 1 if x ≥ high. The
// expression is CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1 ELSE FLOOR((x − low) · n / (high − low)) + 1
// END. Its ELSE is clamped to 1 … n, because the division may round.
func (l *Scope) widthBucket(x *query.Call) (*bounded.Expr, error) {
	if x.Star || x.Distinct || x.Filter != nil || len(x.Args) != 4 {
		return nil, Refuse(x.At, "", "width_bucket takes a number, a lower bound, an upper bound and the number of buckets")
	}
	low, high, n := NumberLiteral(x.Args[1]), NumberLiteral(x.Args[2]), NumberLiteral(x.Args[3])
	if low == nil || high == nil || floatOf(low) >= floatOf(high) {
		return nil, Refuse(
			x.At,
			"write width_bucket(x, 0, 100, 10)",
			"width_bucket needs two constant bounds, the lower one first",
		)
	}
	if n == nil || !n.IsInt() || n.Sign() <= 0 || n.Cmp(big.NewRat(policy.MaxKeys-2, 1)) > 0 {
		return nil, Refuse(x.At, "", "width_bucket needs a constant number of buckets, from 1 to %d", policy.MaxKeys-2)
	}
	e, err := l.Row(x.Args[0])
	if err != nil {
		return nil, err
	}
	if err := Numeric(e, x.At); err != nil {
		return nil, err
	}
	binary := func(op query.BinaryOp, a, b query.Expr) query.Expr {
		return &query.Binary{At: x.At, Op: op, L: a, R: b}
	}
	call := func(name string, args ...query.Expr) query.Expr { return &query.Call{At: x.At, Name: name, Args: args} }
	whole := func(n int64) query.Expr {
		return &query.Literal{At: x.At, Kind: query.IntegerLiteral, Text: strconv.FormatInt(n, 10)}
	}
	of, lowest, highest, count := x.Args[0], x.Args[1], x.Args[2], n.Num().Int64()
	width := binary(query.Sub, highest, lowest)
	share := &query.Cast{At: x.At, X: binary(query.Mul, binary(query.Sub, of, lowest), whole(count)), Type: "real"}
	floor := call("floor", binary(query.Div, share, width))
	part := binary(query.Add, call("least", call("greatest", floor, whole(0)), whole(count-1)), whole(1))
	// NULL if x is NULL, because LEAST and GREATEST ignore it
	inside := binary(query.Add, part, binary(query.Mul, whole(0), floor))
	var outside []query.When // the conditions that x's bounds leave possible
	least, most := RangeFloats(e.Range, e.Type)
	if least < floatOf(low) {
		outside = append(outside, query.When{Cond: binary(query.Lt, of, lowest), Result: whole(0)})
	}
	if most >= floatOf(high) {
		outside = append(outside, query.When{Cond: binary(query.Ge, of, highest), Result: whole(count + 1)})
	}
	if outside == nil {
		return l.Row(inside)
	}
	return l.Row(&query.Case{At: x.At, Whens: outside, Else: inside})
}

// NumberLiteral returns the value of a numeric constant, or nil if x is none.
func NumberLiteral(x query.Expr) *big.Rat {
	c, ok := x.(*query.Literal)
	if !ok || c.Kind != query.IntegerLiteral && c.Kind != query.DecimalLiteral {
		return nil
	}
	r, err := exact.ParseDecimal(c.Text)
	if err != nil {
		return nil
	}
	return r
}

// NumberOption returns the value of an option: a number, or numbers with + - * / between them. It returns nil if the
// value is none, or if it is no finite decimal, as 1/3.
func NumberOption(x query.Expr) *big.Rat {
	b, ok := x.(*query.Binary)
	if !ok {
		return NumberLiteral(x)
	}
	l, r := NumberOption(b.L), NumberOption(b.R)
	if l == nil || r == nil {
		return nil
	}
	out := new(big.Rat)
	switch b.Op {
	case query.Add:
		out.Add(l, r)
	case query.Sub:
		out.Sub(l, r)
	case query.Mul:
		out.Mul(l, r)
	case query.Div:
		if r.Sign() == 0 {
			return nil
		}
		out.Quo(l, r)
	default:
		return nil
	}
	if _, finite := out.FloatPrec(); !finite {
		return nil
	}
	return out
}

func floatOf(r *big.Rat) float64 { f, _ := r.Float64(); return f }
