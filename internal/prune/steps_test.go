package prune_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/prune"
)

// A free question cannot make the search take more steps than its bound: beyond it, every group may have rows.
func TestStepsAreBounded(t *testing.T) {
	p, err := policy.Decode([]byte(`
version: 1
population: {name: test}
budget: {epsilon: 1}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns: {a: {type: integer, bounds: [0, 9999]}, b: {type: integer, bounds: [0, 9999]}}
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	spent := false
	for _, form := range []struct{ is, by string }{{"<>", " AND "}, {"=", " OR "}} {
		var conditions []string
		for i := range 99 {
			conditions = append(conditions, fmt.Sprintf("(a * %d + b) %% %d %s %d", i+1, i+8, form.is, i+1))
		}
		sql := "SELECT a, b, COUNT(*) FROM t WHERE a < 100 AND b < 100 AND (" + strings.Join(conditions, form.by) + ") GROUP BY a, b"
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		rows := prune.Where(q.Where, q.Columns)
		rows.Groups(q.Keys)
		// one operation takes at most 20,000 steps for each argument, and each operation on the way up may end one
		if rows.Steps() > prune.MaxSteps+500_000 {
			t.Errorf("%s: %d steps", sql, rows.Steps())
		}
		spent = spent || rows.Steps() > prune.MaxSteps
	}
	if !spent {
		t.Error("no search reached its bound")
	}
}
