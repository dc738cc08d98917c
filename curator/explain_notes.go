package curator

import (
	"slices"
	"strings"
)

// Notes about the predicted errors of an explanation.
const (
	averageNote   = "An average's error is stated times n, its number of rows, because n is not known before asking."
	leavesNote    = "The answer, or the error, leaves "
	unforetoldYet = "No error is predicted for a value that is computed from several noisy parts, such as a " +
		"variance or a slope. Over few rows, its interval can be as wide as its bounds. A quotient whose divisor cannot be told " +
		"from 0 has none."
)

// AnswerNotes returns the Notes that apply to the answer too. It leaves out those about predicted errors and about
// the release time.
func (e *Explanation) AnswerNotes() []string {
	return slices.DeleteFunc(slices.Clone(e.Notes), func(n string) bool {
		return n == averageNote || n == unforetoldYet || strings.HasPrefix(n, leavesNote)
	})
}
