package duckdb

import (
	"maps"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/value"
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
			drawn := enginetest.Rows(t, b.policy.Table("p"), 40)
			for _, r := range drawn {
				if rapid.Bool().Draw(t, "declared") {
					r["s"], r["k"] = value.OfText("a"), value.OfInt(5)
				}
			}
			file := b.write(t, "p", drawn)
			rows, known, err := b.sealedRows("p", file)
			if err != nil {
				t.Fatal(err)
			}
			b.records[file] = known
			got, err := b.sums(p, file)
			if err != nil {
				t.Fatal(err)
			}
			statement := render(&p.Statement, "FILE", known)
			if strings.Contains(statement, "bit_or") {
				marked++
			} else {
				others++
			}
			reference := map[string]*big.Int{}
			enginetest.Sum(&p.Statement, rows, gather(reference))
			if want := nonZero(reference); !maps.Equal(got, want) {
				t.Fatalf("%s\n%v\ngot  %v\nwant %v", statement, rows, got, want)
			}
		})
		if t.Logf("%s: %d statements with marks, %d without", name, marked, others); marked < 15 {
			t.Error("too few statements with marks")
		}
	}
}
