package duckdb

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/plan"
)

// Counts of units by marks are the reference's, for keys of each kind, and so are those of other statements.
func TestMarkedAgreesWithReference(t *testing.T) {
	for name, b := range benches(t) {
		marked, others := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			items := rapid.SampledFrom([]string{"COUNT(DISTINCT person)", "COUNT(DISTINCT person), COUNT(DISTINCT person) + 1", "COUNT(DISTINCT person), COUNT(*)"}).Draw(t, "items")
			keys := rapid.SampledFrom([]string{"s", "k", "b", "s, k", "k, b", "d", "s IS NULL", "s, k, b", "i"}).Draw(t, "keys")
			where := rapid.SampledFrom([]string{"", " WHERE i > 0", " WHERE s = 'a'"}).Draw(t, "where")
			request := plan.Request{SQL: "SELECT " + items + " FROM p" + where + " GROUP BY " + keys}
			if rapid.Bool().Draw(t, "all groups") {
				request.MaxGroups = 64
			}
			p, err := plan.Build(b.policy, request)
			if err != nil {
				return
			}
			statement, _, _, _ := b.compared(t, p, "p", b.declaredRows(t))
			if strings.Contains(statement, "bit_or") {
				marked++
			} else {
				others++
			}
		})
		if t.Logf("%s: %d statements with marks, %d without", name, marked, others); marked < 15 {
			t.Error("too few statements with marks")
		}
	}
}
