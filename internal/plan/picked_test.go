package plan_test

import (
	"slices"
	"strings"
	"testing"
)

// A question whose rows are picked by noisy numbers notes that their intervals hold less often, and no other question
// does.
func TestPickedRowsAreNoted(t *testing.T) {
	for after, noted := range map[string]bool{
		"":                                   false,
		" HAVING COUNT(*) > 5":               true,
		" HAVING department IS NOT NULL":     false,
		" ORDER BY 2 DESC":                   false,
		" ORDER BY 2 DESC LIMIT 1":           true,
		" ORDER BY 2 DESC OFFSET 1":          true,
		" ORDER BY 2 DESC LIMIT 10000":       false,
		" ORDER BY department LIMIT 1":       false,
		" ORDER BY department, 2 LIMIT 1":    true,
		" ORDER BY department DESC OFFSET 1": false,
		" LIMIT 1":                           false,
	} {
		q := build(t, "add-remove", "SELECT department, COUNT(*) FROM visits GROUP BY department"+after)
		is := func(n string) bool { return strings.HasPrefix(n, "HAVING, or ORDER BY with LIMIT, picks rows") }
		if slices.ContainsFunc(q.Notes, is) != noted || slices.ContainsFunc(q.AnswerNotes(), is) != noted {
			t.Errorf("%s: notes %q", after, q.Notes)
		}
	}
}
