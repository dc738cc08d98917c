package bind

import (
	"math"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The conditions of a CASE narrow the range of its results: CASE WHEN x > 100 THEN 100 ELSE x END is at most 100.
// They narrow the range of the CASE only, and not of the x inside it, because an engine may compute x before it
// evaluates the condition.

// branches returns the range of a CASE: the union of the ranges of its results. The range of a result is narrowed
// by its own condition, which is true, and by the conditions before it, which are not. Results that are NULL or
// that no row can reach do not count.
func branches(conditions, results []*bounded.Expr) bounded.Range {
	var out bounded.Range
	first := true
	for i, e := range results {
		if e.Op == bounded.OpConst && e.Const.Null {
			continue
		}
		r, reached := e.Range, true
		if e.Op != bounded.OpConst {
			r, reached = rangeWhere(e, conditions, i)
		}
		switch {
		case !reached:
		case first:
			out, first = r, false
		default:
			out = unionRange(out, r)
		}
	}
	if first {
		return unionOf(results)
	}
	return out
}

// rangeWhere returns the range of e in rows where conditions[i] is true and no earlier condition is. The boolean is
// false if there can be no such row. If i is past the end, all conditions are earlier ones (the ELSE of a CASE).
func rangeWhere(e *bounded.Expr, conditions []*bounded.Expr, i int) (r bounded.Range, possible bool) {
	of, possible := e, true
	if e.Op == bounded.OpToReal {
		of = e.Args[0]
	}
	r = of.Range
	narrow := func(x *bounded.Expr, op bounded.Op, v value.Value) {
		if x.Op == bounded.OpToReal && of.Type == value.Integer {
			x = x.Args[0]
		}
		if possible && x.Same(of) {
			r, possible = comparedRange(r, of.Type, op, v)
		}
	}
	for _, c := range conditions[:min(i, len(conditions))] {
		said(c, false, narrow)
	}
	if i < len(conditions) {
		said(conditions[i], true, narrow)
	}
	if e != of {
		r = toReal(&bounded.Expr{Type: value.Integer, Range: r}).Range
	}
	return r, possible
}

// said calls f with comparisons of an expression with a constant that follow from a condition c. With holds, it
// assumes that c is true; otherwise, that c is false or unknown. Each comparison is then true or unknown, and
// unknown only if the compared expression is NULL. So the comparison is true of every non-NULL value of the
// expression.
func said(c *bounded.Expr, holds bool, f func(x *bounded.Expr, op bounded.Op, v value.Value)) {
	switch c.Op {
	case bounded.OpNot:
		said(c.Args[0], !holds, f)
	case bounded.OpIs: // if IS TRUE is false, its argument is false or unknown
		said(c.Args[0], holds, f)
	case bounded.OpAnd, bounded.OpOr:
		if holds == (c.Op == bounded.OpAnd) {
			for _, a := range c.Args {
				said(a, holds, f)
			}
		}
	case bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe:
		x, v, op := c.Args[0], c.Args[1], c.Op
		if x.Op == bounded.OpConst {
			x, v, op = v, x, turned[op]
		}
		if !holds {
			op = opposite[op]
		}
		if v.Op == bounded.OpConst && !v.Const.Null {
			f(x, op, v.Const)
		}
	case bounded.OpIn:
		if !holds {
			return
		}
		least, greatest := c.Args[1].Const, c.Args[1].Const
		for _, a := range c.Args[2:] {
			if value.Compare(a.Const, least) < 0 {
				least = a.Const
			}
			if value.Compare(a.Const, greatest) > 0 {
				greatest = a.Const
			}
		}
		f(c.Args[0], bounded.OpGe, least)
		f(c.Args[0], bounded.OpLe, greatest)
	default:
	}
}

var (
	turned = map[bounded.Op]bounded.Op{
		bounded.OpEq: bounded.OpEq,
		bounded.OpNe: bounded.OpNe,
		bounded.OpLt: bounded.OpGt,
		bounded.OpLe: bounded.OpGe,
		bounded.OpGt: bounded.OpLt,
		bounded.OpGe: bounded.OpLe,
	}
	opposite = map[bounded.Op]bounded.Op{
		bounded.OpEq: bounded.OpNe,
		bounded.OpNe: bounded.OpEq,
		bounded.OpLt: bounded.OpGe,
		bounded.OpLe: bounded.OpGt,
		bounded.OpGt: bounded.OpLe,
		bounded.OpGe: bounded.OpLt,
	}
)

// comparedRange returns the part of r, a range of values of type t, that satisfies the comparison op with v. The
// boolean is false if no value does.
func comparedRange(r bounded.Range, t value.Type, op bounded.Op, v value.Value) (bounded.Range, bool) {
	up, down := op == bounded.OpGt || op == bounded.OpGe ||
		op == bounded.OpEq, op == bounded.OpLt || op == bounded.OpLe ||
		op == bounded.OpEq
	switch {
	case t == value.Real && v.Type == value.Real:
		if up {
			r.Lo = math.Max(r.Lo, v.Real)
		}
		if down {
			r.Hi = math.Min(r.Hi, v.Real)
		}
		return settledRange(r), r.Lo <= r.Hi
	case t.Whole():
		lo, hi := v.Int, v.Int
		// an integer is compared as a double, which is exact below 2^53 and keeps the order above it
		if v.Type == value.Real {
			if math.Abs(v.Real) >= 1<<53 {
				return r, true
			}
			lo, hi = int64(math.Ceil(v.Real)), int64(math.Floor(v.Real))
		}
		whole := lo == hi
		if op == bounded.OpGt && whole && lo < math.MaxInt64 {
			lo++
		}
		if op == bounded.OpLt && whole && hi > math.MinInt64 {
			hi--
		}
		if up {
			r.IntLo = max(r.IntLo, lo)
		}
		if down {
			r.IntHi = min(r.IntHi, hi)
		}
		return r, r.IntLo <= r.IntHi
	}
	return r, true
}
