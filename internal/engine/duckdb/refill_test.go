package duckdb

import (
	"maps"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// declaredRows draws rows of p, many of which have values that the policy declares.
func (b *bench) declaredRows(t *rapid.T) []enginetest.Row {
	drawn := enginetest.Rows(t, b.policy.Table("p"), 40)
	for _, r := range drawn {
		if rapid.Bool().Draw(t, "declared") {
			r["s"], r["k"] = value.OfText("a"), value.OfInt(5)
		}
	}
	return drawn
}

// Rows in the place of those that keys drop are the reference's, whatever the cap on rows is.
func TestRefilledAgreesWithReference(t *testing.T) {
	b := newBench(t)
	declared := string(enginetest.PolicyText("add-remove"))
	for _, list := range []string{`[a, B, "it's", ""]`, "[-3, 0, 5]", "[1999-12-30, 2000-01-05]", "[-7, 9]"} {
		declared = strings.ReplaceAll(declared, list+", nullable: true", list)
	}
	var err error
	if b.policy, err = policy.Decode([]byte(declared), b.dir); err != nil {
		t.Fatal(err)
	}
	refilled, further := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SampledFrom([]string{"COUNT(*)", "COUNT(x), SUM(x)", "SUM(i), COUNT(*), COUNT(i)", "AVG(y)", "SUM(i * k)"}).Draw(t, "items")
		keys := rapid.SampledFrom([]string{"s", "d", "i", "s, k", "d, s", "k", "i + 1"}).Draw(t, "keys")
		p, err := plan.Build(b.policy, plan.Request{
			SQL:     "SELECT " + items + " FROM p GROUP BY " + keys,
			MaxRows: int64(rapid.IntRange(1, 6).Draw(t, "rows of a person")),
		})
		if err != nil {
			t.Fatal(err)
		}
		statement, rows, known, got := b.compared(t, p, "p", b.declaredRows(t))
		if strings.Contains(statement, "lacking") {
			refilled++
			p.Caps.Rows = known.MostRows // no cap: if the sums differ, the cap dropped rows
			uncapped := map[string]*big.Int{}
			if enginetest.Sum(&p.Statement, rows, gather(uncapped)); !maps.Equal(nonZero(uncapped), got) {
				further++
			}
		}
	})
	if refilled < 40 || further < 20 {
		t.Errorf("only %d statements sought further rows, %d of them with an effective cap", refilled, further)
	}
}
