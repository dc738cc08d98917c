package bounded

import (
	"dither/internal/policy"
	"dither/internal/value"
)

// Certain reports whether an expression has a value in every row of the statement's table, which of declares: it reads
// columns that sealing refuses to fill with NULL, and whose values are not listed, and no operation makes NULL of their
// values. It is false for relations.
//
// Cleaning makes NULL only of NULL, of NaN and ±Inf, and of values that are not listed. Questions refuse a version that
// was sealed under another declaration, so what sealing refuses is in no row.
func (b *Statement) Certain(e *Expr, of *policy.Table) bool {
	switch e.Op {
	case OpIs, OpNil:
		return true
	case OpConst:
		return !e.Const.Null
	case OpColumn:
		c := b.Columns[e.Column]
		return b.Source == nil && of != nil && !of.Source.Live() && !c.Nullable && c.Values == nil && c.ValuesFrom == nil &&
			c.Type != value.Real
	case OpDiv, OpQuo, OpMod:
		by := e.Args[1]
		if by.Op != OpConst || by.Const.Int == 0 && by.Const.Real == 0 {
			return false
		}
	case OpSqrt, OpLn:
		return false
	}
	for _, a := range e.Args {
		if !b.Certain(a, of) {
			return false
		}
	}
	return true
}
