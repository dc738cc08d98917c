package regression

import (
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// A condition that adds groups is refused before anything is paid.
func TestMoreThanACondition(t *testing.T) {
	c := statstest.Grouped(t)
	before := statstest.Remaining(t, c)
	const where = "TRUE) GROUP BY (g"
	price := curator.Request{Epsilon: "1"}
	if _, err := FitLinear(t.Context(), c,
		Linear{Request: price, Table: "people", Formula: "y ~ x", Where: where}); err == nil {
		t.Error("a regression of groups")
	}
	m := GLM{Request: price, Family: Logistic, Table: "people", Formula: "none ~ x", Where: where}
	if _, err := FitGLM(t.Context(), c, m); err == nil {
		t.Error("a logistic model of groups")
	}
	if after := statstest.Remaining(t, c); after.Cmp(before) != 0 {
		t.Errorf("refusals cost: %s remain of %s", after, before)
	}
}
