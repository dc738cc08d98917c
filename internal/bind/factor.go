package bind

import (
	"slices"

	"dither/internal/query"
)

// factored returns conditions whose conjunction is x. If x is an OR, the conditions that all its operands share come
// first, once each, and then the OR of what remains:
//
//	(a = b AND c) OR (a = b AND d)   becomes   a = b, c OR d
//
// Claim: the conjunction has the value of x, for every row, NULLs included. Proof: AND and OR are the minimum and the
// maximum in the order FALSE < NULL < TRUE. Minimum and maximum distribute over each other, and are idempotent and
// associative. So (s AND c) OR (s AND d) is s AND (c OR d). If an operand is s alone, the value is s, because
// s OR (s AND d) is s. ∎
func factored(x query.Expr) []query.Expr {
	var operands [][]query.Expr
	for _, operand := range alternatives(x) {
		operands = append(operands, split(operand))
	}
	if len(operands) == 1 {
		return []query.Expr{x}
	}
	var common []query.Expr
	in := func(xs []query.Expr, x query.Expr) bool {
		return slices.ContainsFunc(xs, func(y query.Expr) bool { return sameText(x, y) })
	}
	for _, c := range operands[0] {
		everywhere := !slices.ContainsFunc(operands[1:], func(o []query.Expr) bool { return !in(o, c) })
		if everywhere && !in(common, c) {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return []query.Expr{x}
	}
	var rest query.Expr
	for _, o := range operands {
		var operand query.Expr
		for _, c := range o {
			if !in(common, c) {
				operand = both(operand, c)
			}
		}
		if operand == nil {
			return common
		}
		if rest == nil {
			rest = operand
		} else {
			rest = &query.Binary{At: x.Pos(), Op: query.Or, L: rest, R: operand}
		}
	}
	return append(common, rest)
}

// alternatives returns the operands of OR.
func alternatives(x query.Expr) []query.Expr {
	if b, ok := x.(*query.Binary); ok && b.Op == query.Or {
		return append(alternatives(b.L), alternatives(b.R)...)
	}
	return []query.Expr{x}
}

// sameText reports whether two conditions have the same text, or are one equality with its sides exchanged.
func sameText(x, y query.Expr) bool {
	if query.Print(x) == query.Print(y) {
		return true
	}
	a, ok := x.(*query.Binary)
	b, too := y.(*query.Binary)
	return ok && too && a.Op == query.Eq && b.Op == query.Eq && query.Print(a.L) == query.Print(b.R) && query.Print(a.R) == query.Print(b.L)
}
