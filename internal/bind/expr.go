package bind

import (
	"dither/internal/bounded"
	"dither/internal/value"
)

// Constant returns the expression of one value.
func Constant(v value.Value) *bounded.Expr {
	return &bounded.Expr{Op: bounded.OpConst, Type: v.Type, Const: v, Range: rangeOf(v), Nullable: v.Null}
}

// IsUntypedNull reports whether e is the literal NULL that no context has given a type.
func IsUntypedNull(e *bounded.Expr) bool {
	return e.Op == bounded.OpConst && e.Const.Null && e.Type == 0
}

// AnyColumn reports whether e reads a column for which the function `is` returns true.
func AnyColumn(e *bounded.Expr, is func(*bounded.Expr) bool) bool {
	found := false
	e.Walk(func(x *bounded.Expr) { found = found || x.Op == bounded.OpColumn && is(x) })
	return found
}
