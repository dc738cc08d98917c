package engine

import (
	"slices"

	"dither/internal/bounded"
)

// AllRowsAreLeft holds where neither WHERE nor a key nor a part drops a row, nor a coordinate that is NULL, given which
// columns have a value in every row. Where that is wrong, fewer rows than could be are kept of a unit, never more.
func AllRowsAreLeft(b *bounded.Statement, complete map[string]bool) bool {
	for _, k := range b.Keys {
		if !k.NullGroup() && !neverNull(b, k.Expr, complete) {
			return false
		}
	}
	if b.RowVectors != nil &&
		slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return !neverNull(b, m.X, complete) }) {
		return false
	}
	return b.Where == nil && b.Part == nil
}

// neverNull holds where e has a value in every row: its columns do, and its operations make no NULL of values.
func neverNull(b *bounded.Statement, e *bounded.Expr, complete map[string]bool) bool {
	switch e.Op {
	case bounded.OpColumn:
		c := b.Columns[e.Column]
		return complete[c.Name] && c.Values == nil // what is not among the declared values becomes NULL
	case bounded.OpConst:
		return !e.Const.Null
	case bounded.OpAdd, bounded.OpSub, bounded.OpMul, bounded.OpNeg, bounded.OpToReal, bounded.OpToInteger,
		bounded.OpFloor, bounded.OpCeil, bounded.OpRound,
		bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe, bounded.OpAnd, bounded.OpOr,
		bounded.OpNot, bounded.OpCase,
		bounded.OpLeast, bounded.OpGreatest, bounded.OpAbs, bounded.OpSign:
		return !slices.ContainsFunc(e.Args, func(a *bounded.Expr) bool { return !neverNull(b, a, complete) })
	}
	return false
}
