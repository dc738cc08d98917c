package plan_test

import (
	"strings"
	"testing"

	"dither/internal/plan"
)

// A NULL that is cast to a type stays NULL where it becomes a real number.
func TestTypedNullsStayNull(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for _, sql := range []string{
		"SELECT COUNT(CASE WHEN days > 3 THEN CAST(NULL AS integer) ELSE cost END) FROM visits",
		"SELECT COUNT(COALESCE(CAST(NULL AS integer), cost)) FROM visits",
		"SELECT COUNT(CAST(NULL AS integer) + cost) FROM visits",
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		if x := q.Statement.Measures[0].X.String(); strings.Contains(x, `real:"0"`) || !strings.Contains(x, `real:"NULL"!`) {
			t.Errorf("%s: %s", sql, x)
		}
	}
}
