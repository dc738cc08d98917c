package postgres

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
)

// BenchmarkRows measures how fast rows of eleven coordinates leave the server, and how much is allocated for each: they
// are taken as they come, so that memory does not grow with them.
func BenchmarkRows(b *testing.B) {
	rows := benchRows(b)
	var columns, names, made []string
	for i := range 11 {
		names = append(names, fmt.Sprintf("x%d", i))
		columns = append(columns, fmt.Sprintf("x%d: {type: real, bounds: [-1, 1]}", i))
		made = append(
			made, fmt.Sprintf("abs(hashint8extended(i, %d)) %% 2000001 / 1000000.0::double precision - 1 AS x%d", i, i))
	}
	w := emptyBench(
		b, []byte(
			"version: 1\npopulation: {name: bench}\nbudget: {epsilon: 1}\ntables: {rows: {source: {csv: r.csv}, unit: row, columns: {"+strings.Join(columns, ", ")+"}}}\n"))
	w.exec(b, fmt.Sprintf("CREATE UNLOGGED TABLE rows AS SELECT %s FROM generate_series(1::bigint, %d) AS i",
		strings.Join(made, ", "), rows))
	p, err := plan.BuildRows(w.policy, plan.Request{SQL: "SELECT " + strings.Join(names, ", ") + " FROM rows"})
	if err != nil {
		b.Fatal(err)
	}
	e := w.engine("rows")
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		begun, n := time.Now(), 0
		if err := e.eachRow(context.Background(), &p.Statement, engine.Sealed{},
			func(bool, []int64) error { n++; return nil }); err != nil || n != rows {
			b.Fatal(n, err)
		}
		b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "rows/s")
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(n), "bytes/row")
	}
}
