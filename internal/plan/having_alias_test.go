package plan_test

import (
	"testing"

	"dither/internal/plan"
)

// HAVING takes the aliases of output columns. A column takes precedence over an alias of the same name.
func TestHavingTakesAliases(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for sql, same := range map[string]string{
		"SELECT voted, COUNT(*) AS n FROM people GROUP BY voted HAVING n > 10": "SELECT voted, COUNT(*) AS n FROM people GROUP BY voted HAVING COUNT(*) > 10",
		"SELECT voted AS s, COUNT(*) AS n, SUM(age) AS total FROM people GROUP BY s HAVING total / n > 3 AND s": "SELECT voted AS s, COUNT(*) AS n, SUM(age) AS total " +
			"FROM people GROUP BY voted HAVING SUM(age) / COUNT(*) > 3 AND voted",
	} {
		a, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		b, err := plan.Build(p, plan.Request{SQL: same})
		if err != nil {
			t.Fatal(err)
		}
		if a.Canonical(1) != b.Canonical(1) || a.Having == nil || len(a.Aggregates) != len(b.Aggregates) {
			t.Errorf("%s is not\n%s", sql, same)
		}
	}
	const taken = "SELECT voted, COUNT(*) AS age FROM people GROUP BY voted HAVING age > 10"
	if _, err := plan.Build(p, plan.Request{SQL: taken}); err == nil {
		t.Error("the column age takes precedence, and stands outside any aggregate")
	}
}
