package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
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

// benchRows is how many rows are measured, 10 million unless DITHER_BENCH_ROWS says otherwise; a person has ten, in
// five groups.
func benchRows(b *testing.B) int {
	n := 10_000_000
	if text := os.Getenv("DITHER_BENCH_ROWS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// BenchmarkAnswers measures our statements beside the same engine's own, plain ones, on the same files, in one run:
// each result is a ratio of medians.
func BenchmarkAnswers(b *testing.B) {
	dir := b.TempDir()
	rows := benchRows(b)
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o700); err != nil {
		b.Fatal(err)
	}
	columns := "g: {type: integer, bounds: [0, 99]}, v: {type: real, bounds: [0, 100]}"
	p, err := policy.Decode([]byte(strings.ReplaceAll(benchPolicy, "COLUMNS", columns)), dir)
	if err != nil {
		b.Fatal(err)
	}
	made := fmt.Sprintf(
		"SELECT CAST(hash(i, 7) %% %d AS BIGINT) AS person, CAST(hash(hash(i, 7) %% %d, hash(i, 9) %% 5) %% 100 AS BIGINT) AS g, "+
			"(hash(i) %% 1000000) / 10000.0 AS v FROM range(%d) AS t(i)", rows/10, rows/10, rows)
	files := map[string]string{}
	sealer := NewSealer(filepath.Join(dir, "tmp"))
	for _, t := range p.Tables {
		file := filepath.Join(sealed, t.Name+".parquet")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		from := made
		if t.Unit.IsRow() {
			from = "SELECT g, v FROM (" + made + ")"
		}
		start := time.Now()
		err := sealer.with(context.Background(),
			func(conn *sql.Conn) error { return sealTable(context.Background(), conn, t, from, file) })
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: sealed %d rows in %.1f s", t.Name, rows, time.Since(start).Seconds())
		files[t.Name] = file
	}
	source := filepath.Join(sealed, "source.parquet") // as an owner would have it: not clustered
	err = sealer.with(context.Background(), func(conn *sql.Conn) error {
		return sealCopy(context.Background(), conn, made, source)
	})
	if err != nil {
		b.Fatal(err)
	}
	e := New(sealed, filepath.Join(dir, "spill"))
	defer e.Close()
	scan := func(table string) string { return must(sealScan(files[table])) }
	plain := "SELECT g, sum(v) FROM " + scan("rows") + " GROUP BY g"
	group := "SELECT count(*), sum(s) FROM (SELECT person, g, sum(v) AS s FROM %s GROUP BY person, g)"
	clustered, unclustered := fmt.Sprintf(group, scan("grouped")), fmt.Sprintf(group, must(sealScan(source)))
	known := engine.Sealed{Complete: map[string]bool{"g": true, "v": true}}
	ours := func(table, question string, known engine.Sealed) string {
		q, err := plan.Build(p, plan.Request{SQL: question})
		if err != nil {
			b.Fatal(err)
		}
		return render(&q.Statement, scan(table), known)
	}
	for _, c := range []struct{ name, ours, beside string }{
		{"row units, count by group", ours("rows", "SELECT g, COUNT(*) FROM rows GROUP BY g", known), "SELECT g, count(*) FROM " + scan("rows") + " GROUP BY g"},
		{"row units, sum by group", ours("rows", "SELECT g, SUM(v) FROM rows GROUP BY g", known), plain},
		{"persons by row cap, sum by group", ours("visits", "SELECT g, SUM(v) FROM visits GROUP BY g", known), plain},
		{"persons by row cap after WHERE", ours("visits", "SELECT g, SUM(v) FROM visits WHERE v > 20 GROUP BY g", known), plain},
		{"persons by groups, beside grouping the source", ours("grouped", "SELECT g, SUM(v) FROM grouped GROUP BY g", known), unclustered},
		{"persons by groups, beside grouping the sealed file", ours("grouped", "SELECT g, SUM(v) FROM grouped GROUP BY g", known), clustered},
		{"counting persons, beside grouping the source", ours("grouped", "SELECT g, COUNT(DISTINCT person) FROM grouped GROUP BY g", known), unclustered},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				for i, statement := range []string{c.ours, c.beside} {
					start := time.Now()
					if err := e.run(context.Background(), statement,
						func([]driver.Value) error { return nil }); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
			b.ReportMetric(median(took[1]).Seconds()*1000, "ms-beside")
			b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
			b.ReportMetric(peak(b, sealed, c.ours), "MB")
			b.ReportMetric(peak(b, sealed, c.beside), "MB-beside")
		})
	}
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
