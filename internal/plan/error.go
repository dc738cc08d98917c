package plan

import (
	"strconv"

	"dither/internal/bind"
)

// Error is a refusal of a question by any phase of planning.
type Error = bind.Error

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}
