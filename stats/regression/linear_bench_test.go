package regression

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/curator"

	_ "github.com/duckdb/duckdb-go/v2" // the engine's own sums, to compare with
)

// BenchmarkFitLinear measures a whole regression on nine predictors, from its formula to its intervals, beside the
// engine's own sums of products of doubles over the same file, in one run. DITHER_BENCH_ROWS says how many rows (a
// million).
func BenchmarkFitLinear(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("DITHER_BENCH_ROWS")); err == nil {
		rows = n
	}
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	home := filepath.Join(b.TempDir(), "home")
	if err := curator.Init(home); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	policy := "version: 1\npopulation: {name: made-up}\nbudget: {epsilon: 1000}\ntables:\n  points:\n    source: {parquet: points.parquet}\n    unit: row\n    columns:\n"
	var made, names, products []string
	for i := range 10 {
		made = append(made, fmt.Sprintf("(hash(i, %d) %% 2000001) / 1000000.0 - 1 AS x%d", i, i))
		names = append(names, fmt.Sprintf("x%d", i))
		policy += fmt.Sprintf("      x%d: {type: real, bounds: [-1, 1]}\n", i)
		for j := i; j < 10; j++ {
			products = append(products, fmt.Sprintf("sum(x%d * x%d)", i, j))
		}
	}
	if _, err := db.Exec(fmt.Sprintf("COPY (SELECT %s FROM range(%d) AS t(i)) TO '%s'",
		strings.Join(made, ", "), rows, filepath.Join(home, "points.parquet"))); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(policy), 0o600); err != nil {
		b.Fatal(err)
	}
	c, err := curator.Open(home)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Seal(b.Context(), "points", curator.SealOptions{}); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(home, "sealed", "*", "*.parquet"))
	if err != nil || len(files) != 1 {
		if files, err = filepath.Glob(filepath.Join(home, "sealed", "*.parquet")); err != nil || len(files) != 1 {
			b.Fatal(files, err)
		}
	}
	plain := "SELECT count(*), " + strings.Join(names, "+") + ", " + strings.Join(products, ", ") +
		" FROM read_parquet('" + files[0] + "')"
	plain = strings.Replace(plain, strings.Join(names, "+"), "sum("+strings.Join(names, "), sum(")+")", 1)
	q := Linear{
		Table: "points", Formula: "x9 ~ " + strings.Join(names[:9], " + "),
		Request: curator.Request{Epsilon: "0.1", Fresh: true},
	}
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := FitLinear(b.Context(), c.Session(), q); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(start)
		start = time.Now()
		if _, err := db.Exec(plain); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(start)
	}
	b.ReportMetric(ours.Seconds()/float64(b.N), "s/fit")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "fit/sums")
}
