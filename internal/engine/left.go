package engine

import (
	"slices"

	"dither/internal/bounded"
)

// AllRowsAreLeft reports whether no row can be dropped by WHERE, by a key, by a restriction to parts or by a NULL
// coordinate. The map complete states which columns have a value in every row. If the result were true by mistake, too
// few rows of a unit would be kept, never too many.
func AllRowsAreLeft(b *bounded.Statement, complete map[string]bool) bool {
	for _, k := range b.Keys {
		if !k.NullGroup() && !InEveryRow(b, k.Expr, complete) {
			return false
		}
	}
	if b.RowVectors != nil &&
		slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return !InEveryRow(b, m.X, complete) }) {
		return false
	}
	return b.Where == nil && b.Part == nil
}

// InEveryRow reports whether e has a value in every row: its columns have one, and its operations return NULL for no
// values other than NULL.
func InEveryRow(b *bounded.Statement, e *bounded.Expr, complete map[string]bool) bool {
	switch e.Op {
	case bounded.OpColumn:
		c := b.Columns[e.Column]
		return complete[c.Name] && c.Values == nil // cleaning makes undeclared values NULL
	case bounded.OpConst:
		return !e.Const.Null
	case bounded.OpAdd, bounded.OpSub, bounded.OpMul, bounded.OpNeg, bounded.OpToReal, bounded.OpToInteger,
		bounded.OpFloor, bounded.OpCeil, bounded.OpRound,
		bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe, bounded.OpAnd, bounded.OpOr,
		bounded.OpNot, bounded.OpCase,
		bounded.OpLeast, bounded.OpGreatest, bounded.OpAbs, bounded.OpSign:
		return !slices.ContainsFunc(e.Args, func(a *bounded.Expr) bool { return !InEveryRow(b, a, complete) })
	}
	return false
}
