package duckdb

import (
	"context"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/value"
)

// What one row can cost is bounded, whatever it holds and whatever is asked: else a question's failure would show the
// row. These took from seconds to hours in forms that are not used. The limit is far above what they take now: it is no
// measurement.
func TestNoRowHoldsUpAQuestion(t *testing.T) {
	const limit = 20 * time.Second
	b := newBench(t)
	a := strings.Repeat("a", 120)
	nested := func(before, x, after string, n int) string {
		return "SELECT COUNT(" + strings.Repeat(before, n) + x + strings.Repeat(after, n) + ") FROM t"
	}
	for name, sql := range map[string]string{
		"escaped wildcards":  `SELECT COUNT(*) FROM t WHERE w LIKE '` + strings.Repeat("%a", 100) + `\ab'`,
		"wildcards and _":    "SELECT COUNT(*) FROM t WHERE w LIKE '%" + a + "_%" + a + "b'",
		"many wildcards":     "SELECT COUNT(*) FROM t WHERE w LIKE '" + strings.Repeat("%a", 100) + "b'",
		"many of one":        "SELECT COUNT(*) FROM t WHERE w LIKE '" + strings.Repeat("%_", 100) + "b'",
		"nested divisions":   nested("1/(1.0+ABS(", "x", "))", 60),
		"nested remainders":  nested("7%(1+ABS(", "i", "))", 60),
		"nested square root": nested("SQRT(1+ABS(", "x", "))", 8),
		"nested nullif":      nested("NULLIF(1+ABS(", "i", "), 3)", 8),
		"nested case":        nested("CASE WHEN i > 0 THEN 1 + ", "i", " ELSE 2 END", 40),
	} {
		p, err := plan.Build(b.policy, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := b.write(t, "t", []enginetest.Row{{
			"w": value.OfText(strings.Repeat("a", value.MaxTextBytes)), "x": value.OfReal(1), "i": value.OfInt(7),
		}})
		start := time.Now()
		if _, err := b.Aggregate(context.Background(), &p.Statement, engine.Sealed{File: file}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > limit {
			t.Errorf("%s: one row took %v", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}

// Patterns match as LIKE does, in either form that they are written in: row i, of i's own group, is counted if it
// matches.
func TestLikeForms(t *testing.T) {
	b := newBench(t)
	texts := []string{
		"", "a", "ab", "a.b", "a%b", `a\b`, "a_b", "aXb", "a\nb", "aéb", "日本", "a]b", "^a$", "a(b",
		"%", "_", ".*",
	}
	patterns := []string{
		"a_b", `a\%b`, `a\_b`, `a\\b`, "_%", "%_", "__", `\.\*`, "a.b", "_", `%\%%`, "a]_", "^_$",
		`日_`, `a(_`, `\%`, "a%", "%b",
	}
	rows := make([]enginetest.Row, len(texts))
	for i, s := range texts {
		rows[i] = enginetest.Row{"w": value.OfText(s), "i": value.OfInt(int64(i - 7))}
	}
	file := b.write(t, "t", rows)
	for _, pattern := range patterns {
		p, err := plan.Build(b.policy,
			plan.Request{SQL: "SELECT COUNT(*) FROM t WHERE w LIKE '" + pattern + "' GROUP BY i"})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]*big.Int{}
		enginetest.Sum(&p.Statement, rows, gather(want))
		got, err := b.sums(p, file)
		if err != nil || !maps.Equal(got, nonZero(want)) {
			t.Errorf("%s: DuckDB %v, the reference %v (%v)", pattern, got, nonZero(want), err)
		}
	}
}
