package engine

import (
	"slices"

	"dither/internal/plan"
)

// AllRowsAreLeft holds where neither WHERE nor a key nor a part drops a row, nor a coordinate that is NULL, given which columns have a value in every row. Where that is wrong, fewer
// rows than could be are kept of a unit, never more.
func AllRowsAreLeft(b *plan.Bounded, complete map[string]bool) bool {
	for _, k := range b.Keys {
		if !k.NullGroup() && !neverNull(b, k.Expr, complete) {
			return false
		}
	}
	if b.RowVectors != nil && slices.ContainsFunc(b.Measures, func(m *plan.BoundedMeasure) bool { return !neverNull(b, m.X, complete) }) {
		return false
	}
	return b.Where == nil && b.Part == nil
}

// neverNull holds where e has a value in every row: its columns do, and its operations make no NULL of values.
func neverNull(b *plan.Bounded, e *plan.Expr, complete map[string]bool) bool {
	switch e.Op {
	case plan.OpColumn:
		c := b.Columns[e.Column]
		return complete[c.Name] && c.Values == nil // what is not among the declared values becomes NULL
	case plan.OpConst:
		return !e.Const.Null
	case plan.OpAdd, plan.OpSub, plan.OpMul, plan.OpNeg, plan.OpToReal, plan.OpToInteger, plan.OpFloor, plan.OpCeil, plan.OpRound,
		plan.OpEq, plan.OpNe, plan.OpLt, plan.OpLe, plan.OpGt, plan.OpGe, plan.OpAnd, plan.OpOr, plan.OpNot, plan.OpCase,
		plan.OpLeast, plan.OpGreatest, plan.OpAbs, plan.OpSign:
		return !slices.ContainsFunc(e.Args, func(a *plan.Expr) bool { return !neverNull(b, a, complete) })
	}
	return false
}
