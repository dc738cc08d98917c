package postgres

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
)

const benchPolicy = `
version: 1
population: {name: bench}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  rows: {source: {csv: r.csv}, unit: row, columns: {COLUMNS}}
  visits: {source: {csv: v.csv}, unit: person, rows_per_unit: 3, columns: {person: {type: integer}, COLUMNS}}
  grouped: {source: {csv: g.csv}, unit: person, rows_per_unit: 10, max_groups: 3, max_rows_per_group: 1, columns: {person: {type: integer}, COLUMNS}}
`

// benchRows is how many rows are measured, a million unless DITHER_BENCH_ROWS says otherwise; a person has ten, in five groups.
func benchRows(b *testing.B) int {
	n := 1_000_000
	if text := os.Getenv("DITHER_BENCH_ROWS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// BenchmarkAnswers measures our statements beside the server's own, plain ones, on the same table, in one run: each result is a ratio of
// medians.
func BenchmarkAnswers(b *testing.B) {
	rows := benchRows(b)
	w := emptyBench(b, []byte(strings.ReplaceAll(benchPolicy, "COLUMNS", "g: {type: integer, bounds: [0, 99]}, v: {type: real, bounds: [0, 100]}")))
	w.exec(b, fmt.Sprintf(`CREATE SCHEMA copies; CREATE UNLOGGED TABLE visits AS SELECT person, CAST(abs(hashint8extended(person * 5 + abs(hashint8extended(i, 9)) %% 5, 3)) %% 100 AS integer) AS g,
	  abs(hashint8extended(i, 1)) %% 1000000 / 10000.0::double precision AS v
	  FROM (SELECT i, abs(hashint8extended(i, 7)) %% %d AS person FROM generate_series(1::bigint, %d) AS i) AS x;
	 CREATE VIEW grouped AS SELECT * FROM visits; CREATE VIEW "rows" AS SELECT * FROM visits`, rows/10, rows))
	w.exec(b, "VACUUM ANALYZE visits")
	start := time.Now()
	declared := *w.policy.Table("visits")
	declared.Source = source("visits")
	copied, err := Sealer{}.Copy(context.Background(), &declared, "copies", "visits")
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("copied %d rows in %.1f s", rows, time.Since(start).Seconds())
	w.exec(b, "VACUUM copies.visits")
	const person = "SELECT count(*), sum(s) FROM (SELECT person, g, sum(v) AS s FROM public.visits GROUP BY person, g) AS x"
	const plain = "SELECT g, sum(v) FROM public.visits GROUP BY g"
	for _, c := range []struct {
		name, table, sql string
		copied           bool
		beside           string
	}{
		{"rows are units, sum by group; beside plain", "rows", "SELECT g, SUM(v) FROM rows GROUP BY g", false, plain},
		{"persons by row cap, sum", "visits", "SELECT SUM(v) FROM visits", false, person},
		{"persons by row cap, sum by group", "visits", "SELECT g, SUM(v) FROM visits GROUP BY g", false, person},
		{"persons by row cap after WHERE", "visits", "SELECT g, SUM(v) FROM visits WHERE v > 20 GROUP BY g", false, person},
		{"persons by groups", "grouped", "SELECT g, SUM(v) FROM grouped GROUP BY g", false, person},
		{"copy, persons by row cap, sum", "visits", "SELECT SUM(v) FROM visits", true, person},
		{"copy, persons by row cap, sum by group", "visits", "SELECT g, SUM(v) FROM visits GROUP BY g", true, person},
		{"copy, persons by row cap after WHERE", "visits", "SELECT g, SUM(v) FROM visits WHERE v > 20 GROUP BY g", true, person},
		{"copy, persons by groups", "grouped", "SELECT g, SUM(v) FROM grouped GROUP BY g", true, person},
		{"copy, counting persons by group", "grouped", "SELECT g, COUNT(DISTINCT person) FROM grouped GROUP BY g", true, person},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := plan.Build(w.policy, plan.Request{SQL: c.sql})
			if err != nil {
				b.Fatal(err)
			}
			from := engine.Sealed{}
			if c.copied {
				from = engine.Sealed{Copy: (*engine.Copy)(copied.Copy), Complete: map[string]bool{"g": true, "v": true, "person": true}}
			}
			var took [2][]time.Duration
			for b.Loop() {
				for i, run := range []func() error{
					func() error {
						_, err := w.engine(c.table).Aggregate(context.Background(), &p.Bounded, from)
						return err
					},
					func() error { return w.query(c.beside, func([][]byte) error { return nil }) },
				} {
					start := time.Now()
					if err := run(); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
			b.ReportMetric(median(took[1]).Seconds()*1000, "ms-beside")
			b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
		})
	}
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
