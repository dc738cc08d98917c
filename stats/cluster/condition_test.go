package cluster

import (
	"testing"

	"dither/stats/internal/statstest"
)

// A condition that adds groups is refused before anything is paid.
func TestMoreThanACondition(t *testing.T) {
	c := statstest.Grouped(t)
	before := statstest.Remaining(t, c)
	const where = "TRUE) GROUP BY (g"
	for _, method := range []string{MethodLloyd, MethodGrid, MethodTree} {
		r := Request{Table: "people", Columns: []string{"x", "y"}, K: 2, Method: method, Epsilon: "10", Where: where}
		if _, err := KMeans(t.Context(), c, r); err == nil {
			t.Errorf("clusters of groups by %s", method)
		}
	}
	if after := statstest.Remaining(t, c); after.Cmp(before) != 0 {
		t.Errorf("refusals cost: %s remain of %s", after, before)
	}
}
