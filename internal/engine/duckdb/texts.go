package duckdb

import (
	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// textCall returns the SQL of a function of a text. DuckDB trims by the functions of one side, or by trim, and octet_length
// takes a blob.
func textCall(e *bounded.Expr, x string) string {
	as := *e
	switch e.Text {
	case "btrim":
		as.Text = "trim"
	case "octet_length":
		as.Text = "strlen"
	}
	call := engine.TextCall(&as, x, text)
	if e.Type == value.Integer {
		return "CAST(" + call + " AS BIGINT)"
	}
	return call
}
