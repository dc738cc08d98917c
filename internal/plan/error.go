package plan

import (
	"fmt"
	"strings"

	"dither/internal/query"
)

// Error is a refusal: the question is outside what the policy or the dialect allows. It is a function of the question and
// the policy alone.
type Error struct {
	Pos     query.Pos // the zero Pos where no one place is to blame
	Message string
	Hint    string
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Column, e.Message)
}

func refuse(at query.Pos, hint, format string, args ...any) *Error {
	return &Error{Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// nearest offers the candidate that name was probably meant to be, as a hint, or "".
func nearest(name string, candidates []string) string {
	best, distance := "", len(name)/3+2
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(candidates) == 0 || len(candidates) > 30 {
		return ""
	}
	return "there is " + strings.Join(candidates, ", ")
}

// editDistance is Levenshtein's, on bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
