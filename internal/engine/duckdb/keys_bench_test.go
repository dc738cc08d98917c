package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
)

const keysPolicy = `
version: 1
population: {name: bench}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  visits:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 20
    columns:
      person: {type: integer}
      region: {type: text, values: [north, south, east, west, centre]}
      day: {type: date, bounds: [2024-01-01, 2024-12-31]}
      age: {type: integer, bounds: [0, 99]}
      v: {type: real, bounds: [0, 100]}
  often:
    source: {csv: o.csv}
    unit: person
    rows_per_unit: 5
    columns:
      person: {type: integer}
      region: {type: text, values: [north, south, east, west, centre]}
      day: {type: date, bounds: [2024-01-01, 2024-12-31]}
      age: {type: integer, bounds: [0, 99]}
      v: {type: real, bounds: [0, 100]}
  rows:
    source: {csv: r.csv}
    unit: row
    columns:
      region: {type: text, values: [north, south, east, west, centre]}
      day: {type: date, bounds: [2024-01-01, 2024-12-31]}
      age: {type: integer, bounds: [0, 99]}
      v: {type: real, bounds: [0, 100]}
`

// keysColumns is the SQL of the columns of row i, but for the person.
const keysColumns = "['north', 'south', 'east', 'west', 'centre'][1 + CAST(hash(i, 1) % 5 AS BIGINT)] AS region, " +
	"DATE '2024-01-01' + CAST(hash(i, 2) % 366 AS INTEGER) AS day, CAST(hash(i, 3) % 100 AS BIGINT) AS age, (hash(i) % 1000000) / 10000.0 AS v"

// BenchmarkKeys measures counts, sums and averages by keys of several types beside plain statements on the same sealed
// file, in turn, and counts of persons: the processor time of both threads. A person has about ten rows, of which
// twenty may count, or five in the table often.
func BenchmarkKeys(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(b)
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o700); err != nil {
		b.Fatal(err)
	}
	p, err := policy.Decode([]byte(keysPolicy), dir)
	if err != nil {
		b.Fatal(err)
	}
	files, sealer := map[string]string{}, NewSealer(filepath.Join(dir, "tmp"))
	for _, t := range p.Tables {
		from := fmt.Sprintf("SELECT %s FROM range(%d) AS t(i)", keysColumns, rows)
		if !t.Unit.IsRow() {
			from = fmt.Sprintf("SELECT CAST(hash(i, 7) %% %d AS BIGINT) AS person, %s FROM range(%d) AS t(i)", rows/10, keysColumns, rows)
		}
		files[t.Name] = filepath.Join(sealed, t.Name+".parquet")
		if err := os.WriteFile(files[t.Name], nil, 0o600); err != nil {
			b.Fatal(err)
		}
		err := sealer.with(context.Background(),
			func(conn *sql.Conn) error { return sealTable(context.Background(), conn, t, from, files[t.Name]) })
		if err != nil {
			b.Fatal(err)
		}
	}
	e := New(sealed, filepath.Join(dir, "spill"))
	defer e.Close()
	complete := map[string]bool{"person": true, "region": true, "day": true, "age": true, "v": true}
	beside := func(name, table, question, plain string) {
		b.Run(name, func(b *testing.B) {
			q, err := plan.Build(p, plan.Request{SQL: question})
			if err != nil {
				b.Fatal(err)
			}
			statements := []string{render(&q.Statement, must(sealScan(files[table])), engine.Sealed{Complete: complete}), plain}
			var took [2][]time.Duration
			for b.Loop() {
				for i, statement := range statements {
					start := processorTime(b)
					if err := e.run(context.Background(), statement, func([]driver.Value) error { return nil }); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], processorTime(b)-start)
				}
			}
			ours, plain := median(took[0]), median(took[1])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(ours)/float64(plain), "ratio")
			b.ReportMetric(float64(ours.Milliseconds()), "ours-ms")
			b.ReportMetric(float64(plain.Milliseconds()), "plain-ms")
			b.ReportMetric(peak(b, sealed, statements[0]), "MB")
			b.ReportMetric(peak(b, sealed, statements[1]), "MB-beside")
		})
	}
	scan := func(table string) string { return must(sealScan(files[table])) }
	for _, table := range []string{"rows", "visits", "often"} {
		for _, key := range []string{"region", "day", "age"} {
			for _, c := range []struct{ item, plain string }{{"COUNT(*)", "count(*)"}, {"SUM(v)", "sum(v)"}, {"AVG(v)", "avg(v)"}} {
				beside(fmt.Sprintf("%s/%s by %s", table, c.item, key), table,
					"SELECT "+key+", "+c.item+" FROM "+table+" GROUP BY "+key,
					"SELECT "+key+", "+c.plain+" FROM "+scan(table)+" GROUP BY "+key)
			}
		}
	}
	const persons = "COUNT(DISTINCT person)"
	for _, c := range []struct{ name, items, rest string }{
		{"all", persons, ""}, {"WHERE", persons, " WHERE age > 50"}, {"by region", "region, " + persons, " GROUP BY region"},
	} {
		beside("visits/"+persons+" "+c.name, "visits",
			"SELECT "+c.items+" FROM visits"+c.rest, "SELECT "+c.items+" FROM "+scan("visits")+c.rest)
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
