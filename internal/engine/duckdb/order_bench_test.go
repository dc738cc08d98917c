package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
)

const orderPolicy = `
version: 1
population: {name: bench}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  rows: {source: {csv: r.csv}, unit: row, columns: {age: {type: integer, bounds: [0, 115]}, cost: {type: real, bounds: [0, 1000]}}}
`

// BenchmarkOrder measures a pass over values in order beside the engine's own grouping and sorting of the same column,
// in one run: of ages, which are few, and of costs, nearly all distinct.
func BenchmarkOrder(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(b)
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o700); err != nil {
		b.Fatal(err)
	}
	p, err := policy.Decode([]byte(orderPolicy), dir)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(sealed, "rows.parquet")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	made := fmt.Sprintf(
		"SELECT CAST(hash(i) %% 100 AS BIGINT) AS age, (hash(i, 3) %% 1000000000000) / 1000000000.0 AS cost FROM range(%d) AS t(i)", rows)
	err = NewSealer(filepath.Join(dir, "tmp")).with(context.Background(), func(conn *sql.Conn) error {
		return sealTable(context.Background(), conn, p.Tables[0], made, file)
	})
	if err != nil {
		b.Fatal(err)
	}
	e := New(sealed, filepath.Join(dir, "spill"))
	defer e.Close()
	for _, column := range []string{"age", "cost"} {
		b.Run(column, func(b *testing.B) {
			q, err := plan.BuildOrder(p, plan.Request{SQL: "SELECT " + column + " FROM rows"})
			if err != nil {
				b.Fatal(err)
			}
			scan, err := e.scan(context.Background(), &q.Statement,
				engine.Sealed{File: file, Complete: map[string]bool{"age": true, "cost": true}})
			if err != nil {
				b.Fatal(err)
			}
			plain := fmt.Sprintf("SELECT %[1]s, count(*) FROM %[2]s GROUP BY %[1]s ORDER BY %[1]s", column, must(sealScan(file)))
			var took [2][]time.Duration
			for b.Loop() {
				start := time.Now()
				if err := scan(func(int64, int64) bool { return true }); err != nil {
					b.Fatal(err)
				}
				took[0] = append(took[0], time.Since(start))
				start = time.Now()
				if err := e.run(context.Background(), plain, func([]driver.Value) error { return nil }); err != nil {
					b.Fatal(err)
				}
				took[1] = append(took[1], time.Since(start))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
			b.ReportMetric(median(took[1]).Seconds()*1000, "ms-beside")
			b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
		})
	}
}
