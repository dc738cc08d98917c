package engine

import (
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// TextCall returns a call of the function of a text, given the SQL of the text and a dialect's text constants. Both
// dialects have these functions under the same names. They count code points.
func TextCall(e *bounded.Expr, x string, text func(string) string) string {
	args := []string{x}
	for _, a := range e.Args[1:] {
		if a.Type == value.Text {
			args = append(args, text(a.Const.Text))
		} else {
			args = append(args, strconv.FormatInt(a.Const.Int, 10))
		}
	}
	return e.Text + "(" + strings.Join(args, ", ") + ")"
}
