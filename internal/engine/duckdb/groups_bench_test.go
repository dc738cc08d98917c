package duckdb

import (
	"database/sql/driver"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// BenchmarkGroups finds the groups of a million persons' two rows each, in about 865,000 groups.
func BenchmarkGroups(b *testing.B) {
	bench := newBench(b)
	p, err := policy.Decode([]byte(`
version: 1
population: {name: big}
budget: {rho: 100, delta: 1e-6, selection_delta: 5e-7}
tables:
  t: {source: {csv: t.csv}, unit: person, rows_per_unit: 2, columns: {person: {type: integer}, w: {type: integer}, x: {type: integer, bounds: [0, 100]}}}
`), bench.dir)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(bench.sealed, "big.parquet")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	const rows = 2_000_000
	i, state := 0, uint64(1)
	err = NewSealer(bench.tmp).Write(b.Context(), file, p.Table("t"), func(row []value.Value) error {
		if i == rows {
			return io.EOF
		}
		state = state*6364136223846793005 + 1442695040888963407
		row[0], row[1], row[2] = value.OfInt(int64(i/2)), value.OfInt(int64(state>>33)%1_000_000),
			value.OfInt(int64(i%100))
		i++
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	q, err := plan.Build(p, plan.Request{SQL: "SELECT w, COUNT(*), SUM(x) FROM t GROUP BY w"})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("other", func(b *testing.B) { // of the most groups that are released
		o, err := plan.Build(p,
			plan.Request{SQL: "SELECT w, COUNT(*), SUM(x) FROM t GROUP BY w", Unknown: plan.Unknown{Other: true}})
		if err != nil {
			b.Fatal(err)
		}
		var chosen [][]value.Value
		for i := range o.MaxChosen() {
			chosen = append(chosen, []value.Value{value.OfInt(int64(i))})
		}
		for b.Loop() {
			if _, err := bench.Aggregate(b.Context(), &o.Choose(chosen).Statement,
				engine.Sealed{File: file}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("select", func(b *testing.B) {
		var took [2][]time.Duration
		for b.Loop() {
			start := time.Now()
			found, err := bench.Groups(b.Context(), &q.Statement, engine.Sealed{File: file})
			if err != nil {
				b.Fatal(err)
			}
			units := found.Units()
			if _, err := q.Selection.Gaussian.Measure(units); err != nil {
				b.Fatal(err)
			}
			took[0] = append(took[0], time.Since(start))
			start = time.Now()
			plain := "SELECT w, count(*), sum(x) FROM " + must(sealScan(file)) + " GROUP BY w"
			if err := bench.run(b.Context(), plain, func([]driver.Value) error { return nil }); err != nil {
				b.Fatal(err)
			}
			took[1] = append(took[1], time.Since(start))
			b.ReportMetric(float64(len(units)), "groups")
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
		b.ReportMetric(median(took[1]).Seconds()*1000, "ms-beside")
		b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
	})
}
