package plan_test

import (
	"testing"

	"dither/internal/plan"
)

// Bounds that reach beyond what the policy allows are the policy's: however far they reach, it is one question, which is replayed.
func TestWideBoundsAreOneQuestion(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for _, alike := range [][]string{
		{
			"SELECT SUM(days, contribution_bounds_per_group => (0, 1000000)) FROM visits", "SELECT SUM(days, contribution_bounds_per_group => (0, 2000000)) FROM visits",
		},
		{
			"SELECT COUNT(*, contribution_bounds_per_group => (0, 1000000)) FROM visits", "SELECT COUNT(*, contribution_bounds_per_group => (-5, 2000000)) FROM visits",
		},
		{
			"SELECT SUM(days) FROM visits", "SELECT SUM(days, contribution_bounds_per_row => (-1000000, 1000000)) FROM visits", "SELECT SUM(days, bounds => (-7, 2e9)) FROM visits",
		},
		{"SELECT SUM(days, bounds => (2, 1000000)) FROM visits", "SELECT SUM(days, bounds => (2, 2000000)) FROM visits"},
	} {
		var first string
		for i, sql := range alike {
			q, err := plan.Build(p, plan.Request{SQL: sql})
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if i == 0 {
				first = q.Canonical(1)
			} else if got := q.Canonical(1); got != first {
				t.Errorf("%s:\n%s\nis not\n%s", sql, got, first)
			}
		}
	}
}
