package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
)

// BenchmarkRows measures how fast rows of eleven coordinates leave the engine.
func BenchmarkRows(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(b)
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o700); err != nil {
		b.Fatal(err)
	}
	columns, made, names := "", "SELECT ", ""
	for i := range 11 {
		columns += fmt.Sprintf(", x%d: {type: real, bounds: [-1, 1]}", i)
		made += fmt.Sprintf("(hash(i, %d) %% 2000001) / 1000000.0 - 1 AS x%d, ", i, i)
		names += fmt.Sprintf(", x%d", i)
	}
	p, err := policy.Decode(
		[]byte(
			"version: 1\npopulation: {name: bench}\nbudget: {epsilon: 1}\ntables: {rows: {source: {csv: r.csv}, unit: row, columns: {"+columns[2:]+"}}}\n"), dir)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(sealed, "rows.parquet")
	e := New(sealed, filepath.Join(dir, "tmp"))
	defer e.Close()
	err = NewSealer(filepath.Join(dir, "seal")).with(context.Background(), func(conn *sql.Conn) error {
		return sealCopy(context.Background(), conn, fmt.Sprintf("%s i FROM range(%d) AS t(i)", made, rows), file)
	})
	if err != nil {
		b.Fatal(err)
	}
	t, err := plan.BuildRows(p, plan.Request{SQL: "SELECT " + names[2:] + " FROM rows"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		begun, n := time.Now(), 0
		if err := e.eachRow(context.Background(), &t.Statement, engine.Sealed{File: file},
			func(bool, []int64) error { n++; return nil }); err != nil || n != rows {
			b.Fatal(n, err)
		}
		b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "rows/s")
	}
}
