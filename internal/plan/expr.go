package plan

import (
	"dither/internal/bounded"
	"dither/internal/value"
)

func constant(v value.Value) *bounded.Expr {
	return &bounded.Expr{Op: bounded.OpConst, Type: v.Type, Const: v, Range: rangeOf(v), Nullable: v.Null}
}

// isUntypedNull holds for the literal NULL before a context gave it a type.
func isUntypedNull(e *bounded.Expr) bool {
	return e.Op == bounded.OpConst && e.Const.Null && e.Type == 0
}
