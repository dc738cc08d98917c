package curator

import (
	"cmp"

	"dither/internal/query"
)

// Statements splits a text at the semicolons between its statements, as PostgreSQL does: a semicolon inside a quoted
// text, a name or a comment splits nothing. It returns no empty statement. Errors are *Error, with the line and column in
// the text, for example for a quote without an end.
func Statements(sql string) ([]string, error) {
	out, err := query.Statements(sql)
	if err != nil {
		return nil, cmp.Or(worded(err), untold())
	}
	return out, nil
}
