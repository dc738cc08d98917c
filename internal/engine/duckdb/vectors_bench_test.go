package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
)

const vectorPolicy = `
version: 1
population: {name: bench}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  rows: {source: {csv: r.csv}, unit: row, columns: {COLUMNS}}
`

// cpuTime is what this process has computed for.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkVectors measures the sums of products of ten columns beside the engine's own, of doubles, on the same file,
// in one run: what a linear regression needs, with bounds from the columns' ranges and with a bound that rows are
// scaled to; and one step of k-means beside its plain form. What is compared is the time on all processors together, in
// which what else they are busy with does not count.
func BenchmarkVectors(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(b)
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o700); err != nil {
		b.Fatal(err)
	}
	var names, declared, made, products, sums []string
	known := engine.Sealed{OneRowEach: true, Complete: map[string]bool{}}
	for i := range 10 {
		x := fmt.Sprintf("x%d", i)
		names, declared = append(names, x), append(declared, x+": {type: real, bounds: [-1, 1]}")
		known.Complete[x] = true
		made = append(made, fmt.Sprintf("(hash(i, %d) %% 2000001) / 1000000.0 - 1 AS %s", i, x))
		sums = append(sums, fmt.Sprintf("sum(%s)", x))
		if i < 9 {
			for j := i; j < 10; j++ {
				products = append(products, fmt.Sprintf("sum(%s * x%d)", x, j))
			}
		}
	}
	p, err := policy.Decode([]byte(strings.ReplaceAll(vectorPolicy, "COLUMNS", strings.Join(declared, ", "))), dir)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(sealed, "rows.parquet")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	err = NewSealer(filepath.Join(dir, "tmp")).with(context.Background(), func(conn *sql.Conn) error {
		return sealTable(context.Background(), conn, p.Tables[0],
			fmt.Sprintf("SELECT %s FROM range(%d) AS t(i)", strings.Join(made, ", "), rows), file)
	})
	if err != nil {
		b.Fatal(err)
	}
	e := New(sealed, filepath.Join(dir, "spill"))
	defer e.Close()
	scan := must(sealScan(file))
	regression := []plan.SumRequest{{Kind: bounded.SumProduct}, {Kind: bounded.SumProduct, J: 1}}
	blocks := func(norm bounded.Norm, bound *big.Rat) []plan.BlockRequest {
		return []plan.BlockRequest{{Size: 9, Norm: norm, Bound: bound}, {Size: 1, Norm: norm}}
	}
	var centres [][]float64
	var distances, cases []string
	for c := range 8 {
		centre := make([]float64, 10)
		var parts []string
		for i := range centre {
			centre[i] = float64((c*7+i*3)%11)/5 - 1
			parts = append(parts, fmt.Sprintf("(x%[1]d - %[2]g) * (x%[1]d - %[2]g)", i, centre[i]))
		}
		centres = append(centres, centre)
		distances = append(distances, fmt.Sprintf("%s AS d%d", strings.Join(parts, " + "), c))
		cases = append(cases, fmt.Sprintf("WHEN d%[1]d = d THEN %[1]d", c))
	}
	var d []string
	for c := range 8 {
		d = append(d, fmt.Sprintf("d%d", c))
	}
	all := strings.Join(names, ", ")
	plain := "SELECT " + strings.Join(products, ", ") + " FROM " + scan
	kmeans := fmt.Sprintf(
		"SELECT c, count(*), %[1]s FROM (SELECT %[2]s, CASE %[3]s END AS c FROM (SELECT *, least(%[4]s) AS d FROM (SELECT %[2]s, %[5]s FROM %[6]s))) GROUP BY c",
		strings.Join(sums, ", "), all, strings.Join(cases, " "), strings.Join(d, ", "),
		strings.Join(distances, ", "), scan)
	ours := func(r plan.VectorRequest) string {
		m, err := plan.BuildMoments(p, plan.Request{SQL: "SELECT " + all + " FROM rows"}, r)
		if err != nil {
			b.Fatal(err)
		}
		return render(&m.Statement, scan, known)
	}
	var scaled []string // as package stats writes them
	for i := range 10 {
		scaled = append(scaled, fmt.Sprintf("(x%d - 0.25) * 0.8", i))
	}
	scaledStep, err := plan.BuildMoments(p, plan.Request{SQL: "SELECT " + strings.Join(scaled, ", ") + " FROM rows"},
		plan.VectorRequest{
			Blocks: []plan.BlockRequest{{Size: 10, Norm: bounded.NormL1}},
			Sums:   []plan.SumRequest{{Kind: bounded.SumOne}, {Kind: bounded.SumFirst}}, Centres: centres,
		})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, ours, beside string }{
		{"k-means step of scaled columns", render(&scaledStep.Statement, scan, known), kmeans},
		{"regression, bounds from ranges", ours(plan.VectorRequest{Blocks: blocks(bounded.NormL2, nil), Sums: regression}), plain},
		{"regression, scaled in l1", ours(plan.VectorRequest{Blocks: blocks(bounded.NormL1, big.NewRat(4, 1)), Sums: regression}), plain},
		{"regression, scaled in l2", ours(plan.VectorRequest{Blocks: blocks(bounded.NormL2, big.NewRat(3, 2)), Sums: regression}), plain},
		{"k-means step", ours(plan.VectorRequest{
			Blocks: []plan.BlockRequest{{Size: 10, Norm: bounded.NormL1}},
			Sums:   []plan.SumRequest{{Kind: bounded.SumOne}, {Kind: bounded.SumFirst}}, Centres: centres,
		}), kmeans},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				for i, statement := range []string{c.ours, c.beside} {
					start := cpuTime()
					if err := e.run(context.Background(), statement,
						func([]driver.Value) error { return nil }); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], cpuTime()-start)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
			b.ReportMetric(median(took[1]).Seconds()*1000, "ms-beside")
			b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
		})
	}
}
