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

const starPolicy = `
version: 1
population: {name: star}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  customers: {source: {csv: c.csv}, unit: id, rows_per_unit: 1, columns: {id: {type: integer}, nation: {type: integer, bounds: [0, 24]}}}
  orders: {source: {csv: o.csv}, unit: customer, rows_per_unit: 20, columns: {number: {type: integer}, customer: {type: integer}, day: {type: integer, bounds: [0, 2400]}}}
  lines: {source: {csv: l.csv}, through: number, references: {number: orders.number}, rows_per_unit: 80, columns: {number: {type: integer}, price: {type: real, bounds: [0, 100]}, flag: {type: integer, bounds: [0, 3]}}}
  nations: {source: {csv: n.csv}, public: true, rows_per_value: {id: 1}, columns: {id: {type: integer}, region: {type: integer, bounds: [0, 4]}}}
`

// BenchmarkRelations measures relations beside the plain statements that bound nobody, on the same files: ten orders a
// customer, four lines an order.
func BenchmarkRelations(b *testing.B) {
	dir := b.TempDir()
	lines := benchRows(b)
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o700); err != nil {
		b.Fatal(err)
	}
	p, err := policy.Decode([]byte(starPolicy), dir)
	if err != nil {
		b.Fatal(err)
	}
	customers, orders := lines/40, lines/4
	from := engine.Sealed{Tables: map[string]engine.Sealed{}}
	sealer := NewSealer(filepath.Join(dir, "tmp"))
	scans := map[string]string{}
	for table, made := range map[string]string{
		"customers": fmt.Sprintf("SELECT i AS id, CAST(hash(i) %% 25 AS BIGINT) AS nation FROM range(%d) AS t(i)",
			customers),
		"orders": fmt.Sprintf(
			"SELECT i AS number, CAST(hash(i) %% %d AS BIGINT) AS customer, CAST(hash(i, 1) %% 2400 AS BIGINT) AS day FROM range(%d) AS t(i)", customers, orders),
		"lines": fmt.Sprintf(
			"SELECT i // 4 AS number, (hash(i) %% 10000) / 100.0 AS price, CAST(hash(i, 3) %% 4 AS BIGINT) AS flag FROM range(%d) AS t(i)", lines),
		"nations": "SELECT i AS id, i % 5 AS region FROM range(25) AS t(i)",
	} {
		file := filepath.Join(sealed, table+".parquet")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		err := sealer.with(context.Background(), func(conn *sql.Conn) error {
			return sealTable(context.Background(), conn, p.Table(table), made, file)
		})
		if err != nil {
			b.Fatal(err)
		}
		from.Tables[table], scans[table] = engine.Sealed{File: file}, must(sealScan(file))
	}
	e := New(sealed, filepath.Join(dir, "spill"))
	defer e.Close()
	star := scans["lines"] + " l JOIN " + scans["orders"] + " o ON l.number = o.number JOIN " + scans["customers"] +
		" c ON o.customer = c.id JOIN " + scans["nations"] + " n ON n.id = c.nation"
	for _, c := range []struct{ name, ours, beside string }{
		{
			"orders by region of their customers",
			"SELECT region, COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id JOIN nations n ON n.id = c.nation GROUP BY region",
			"SELECT region, count(*) FROM " + scans["orders"] + " o JOIN " + scans["customers"] +
				" c ON o.customer = c.id JOIN " + scans["nations"] + " n ON n.id = c.nation GROUP BY region",
		},
		{"lines alone", "SELECT flag, SUM(price) FROM lines GROUP BY flag", "SELECT flag, sum(price) FROM " + scans["lines"] + " l JOIN " + scans["orders"] + " o ON l.number = o.number GROUP BY flag"},
		{
			"the whole star", "SELECT region, SUM(price) FROM lines l JOIN orders o USING (number) JOIN customers c ON o.customer = c.id JOIN nations n ON n.id = c.nation WHERE day < 1200 GROUP BY region",
			"SELECT region, sum(price) FROM " + star + " WHERE day < 1200 GROUP BY region",
		},
		{
			"orders each", "SELECT AVG(n) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q",
			"SELECT avg(n) FROM (SELECT customer, count(*) AS n FROM " + scans["orders"] + " GROUP BY customer) q",
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			q, err := plan.Build(p, plan.Request{SQL: c.ours})
			if err != nil {
				b.Fatal(err)
			}
			ours := must(statement(&q.Statement, from))
			var took [2][]time.Duration
			for b.Loop() {
				for i, statement := range []string{ours, c.beside} {
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
		})
	}
}
