package duckdb

import (
	"maps"
	"math/big"
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
)

// Persons count in their own parts alone: DuckDB gives the reference's sums for questions that are confined, over a
// crowd of whom most have rows in every part; and of one part more for a unit both give others, so that the test shows
// something.
func TestOwnPartsAgree(t *testing.T) {
	for name, b := range benches(t) {
		file := b.write(t, "p", crowd(300))
		rows, known, err := b.sealedRows("p", file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			"SELECT COUNT(*), SUM(j), SUM(x) FROM p WHERE k = 5",
			"SELECT COUNT(*), COUNT(DISTINCT person) FROM p WHERE k = 0 AND x > 0",
			"SELECT s, COUNT(*), SUM(i) FROM p WHERE k <> -3 GROUP BY s",
			"SELECT k, COUNT(*) FROM p WHERE k <= 0 GROUP BY k",
			"SELECT AVG(i) FROM p WHERE k IN (-3) AND s = 'a'",
		} {
			p, err := plan.Build(b.policy, plan.Request{SQL: sql})
			if err != nil || p.Part == nil {
				t.Fatal(sql, err)
			}
			answer := func() map[string]string {
				var first map[string]string
				for _, known := range []engine.Sealed{known, {File: file}} {
					b.records[file] = known
					got, err := b.sums(p, file)
					if err != nil {
						t.Fatal(err)
					}
					reference := map[string]*big.Int{}
					enginetest.Sum(&p.Statement, rows, gather(reference))
					if want := nonZero(reference); !maps.Equal(got, want) {
						t.Errorf("%s: %s: got %v, want %v", name, sql, got, want)
					}
					first = got
				}
				return first
			}
			before := answer()
			p.Part.PerUnit++
			if after := answer(); maps.Equal(before, after) {
				t.Errorf("%s: %s: one part more for a unit changes nothing", name, sql)
			}
		}
	}
}
