package curator

import (
	"slices"
	"strings"
)

// Notes about the predicted errors of an explanation.
const (
	averageNote   = "An average's error is given times n, the number of rows it is over, which is not known before asking."
	leavesNote    = "The answer, or that there is none, leaves "
	unforetoldYet = "No error is foretold of what is computed from several noisy parts, as a variance or a slope: " +
		"over few rows its interval can be as wide as its bounds."
)

// AnswerNotes returns the Notes that apply to the answer too. It leaves out those about predicted errors and about
// the release time.
func (e *Explanation) AnswerNotes() []string {
	return slices.DeleteFunc(slices.Clone(e.Notes), func(n string) bool {
		return n == averageNote || n == unforetoldYet || strings.HasPrefix(n, leavesNote)
	})
}
