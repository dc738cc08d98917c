package postgres

import (
	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// textCall returns the SQL of a function of a text. Places are written as plain integers, because the functions take no
// bigint. Texts keep the collation "C", so they are compared by their bytes.
func textCall(e *bounded.Expr, x string) string {
	call := engine.TextCall(e, x, text)
	if e.Type == value.Integer {
		return "CAST(" + call + " AS bigint)"
	}
	return "((" + call + `) COLLATE "C")`
}
