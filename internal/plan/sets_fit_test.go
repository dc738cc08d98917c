package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
)

// Sets of so many expressions that fitting them together takes for ever are refused: also where each has one value, and the answer few cells.
func TestSetsAreFittable(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	list := func(n int, format string) string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(out, ", ")
	}
	const one, two = "CASE WHEN b THEN %[1]d ELSE %[1]d END", "COALESCE(x > %d, FALSE)"
	for groupBy, fits := range map[string]bool{
		"CUBE (" + list(6, two) + ")":                   true,
		"ROLLUP (" + list(10, two) + ")":                true,
		"GROUPING SETS ((" + list(12, one) + "), ())":   true,
		"GROUPING SETS ((" + list(16, one) + "), ())":   false,
		"GROUPING SETS ((" + list(70, one) + "), ())":   false,
		"GROUPING SETS ((" + list(16, two) + "), ())":   false,
		"GROUPING SETS (" + list(17, one) + ")":         false,
		"ROLLUP (" + list(16, two) + ")":                false,
		"GROUPING SETS (" + list(12, two) + ", (), ())": true,
	} {
		_, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t GROUP BY " + groupBy})
		if fits && err != nil || !fits && (err == nil || !strings.Contains(err.Error(), "to be fitted together")) {
			t.Errorf("%.60s …: %v", groupBy, err)
		}
	}
}
