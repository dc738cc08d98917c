package plan

import (
	"strconv"

	"dither/internal/bind"
)

// Error is a refusal of the planner, in whichever phase.
type Error = bind.Error

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}
