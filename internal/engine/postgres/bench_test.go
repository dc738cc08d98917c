package postgres

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
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
  few: {source: {csv: f.csv}, unit: person, rows_per_unit: 200, max_groups: 100, max_rows_per_group: 1, columns: {person: {type: integer}, COLUMNS}}
`

// benchRows is how many rows are measured, a million unless DITHER_BENCH_ROWS says otherwise; a person has ten, in five
// groups.
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

// BenchmarkAnswers measures our statements beside the server's own, plain ones, on the same table, in one run and on
// one connection: each ratio is one of medians. Statements have 64 MB to sort in and one process each, so that the
// processor's time is theirs.
func BenchmarkAnswers(b *testing.B) {
	rows := benchRows(b)
	w := emptyBench(b, []byte(strings.ReplaceAll(benchPolicy, "COLUMNS",
		"g: {type: integer, bounds: [0, 99]}, v: {type: real, bounds: [0, 100]}")))
	w.exec(b, fmt.Sprintf(`CREATE SCHEMA copies; CREATE UNLOGGED TABLE visits AS SELECT person, CAST(abs(hashint8extended(person * 5 + abs(hashint8extended(i, 9)) %% 5, 3)) %% 100 AS integer) AS g,
	  abs(hashint8extended(i, 1)) %% 1000000 / 10000.0::double precision AS v
	  FROM (SELECT i, abs(hashint8extended(i, 7)) %% %d AS person FROM generate_series(1::bigint, %d) AS i) AS x`, rows/10, rows))
	w.exec(b, "VACUUM ANALYZE visits")
	w.exec(b, "ALTER ROLE owner SET work_mem = '64MB'; ALTER ROLE owner SET max_parallel_workers_per_gather = 0")
	defer w.exec(b, "ALTER ROLE owner RESET ALL")
	copied := sync.OnceValue(func() engine.Sealed {
		start := time.Now()
		declared := *w.policy.Table("visits")
		declared.Source = source("visits")
		made, err := Sealer{}.Copy(context.Background(), &declared, "copies", "visits")
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("copied %d rows in %.1f s", rows, time.Since(start).Seconds())
		w.exec(b, "VACUUM copies.visits")
		return engine.Sealed{
			Copy:     (*engine.Copy)(made.Copy),
			Complete: map[string]bool{"g": true, "v": true, "person": true},
		}
	})
	const person = "SELECT count(*), sum(s) FROM (SELECT person, g, sum(v) AS s FROM public.visits GROUP BY person, g) AS x"
	const plain = "SELECT g, sum(v) FROM public.visits GROUP BY g"
	for _, c := range []struct {
		name, sql string
		copied    bool
		beside    string
	}{
		{"rows are units, sum by group; beside plain", "SELECT g, SUM(v) FROM rows GROUP BY g", false, plain},
		{"persons by row cap, sum", "SELECT SUM(v) FROM visits", false, person},
		{"persons by row cap, sum by group", "SELECT g, SUM(v) FROM visits GROUP BY g", false, person},
		{"persons by row cap after WHERE", "SELECT g, SUM(v) FROM visits WHERE v > 20 GROUP BY g", false, person},
		{"persons by groups", "SELECT g, SUM(v) FROM grouped GROUP BY g", false, person},
		{"persons by few groups", "SELECT g, SUM(v) FROM few GROUP BY g", false, person},
		{"copy, persons by row cap, sum", "SELECT SUM(v) FROM visits", true, person},
		{"copy, persons by row cap, sum by group", "SELECT g, SUM(v) FROM visits GROUP BY g", true, person},
		{"copy, persons by row cap after WHERE", "SELECT g, SUM(v) FROM visits WHERE v > 20 GROUP BY g", true, person},
		{"copy, persons by groups", "SELECT g, SUM(v) FROM grouped GROUP BY g", true, person},
		{"copy, persons by few groups", "SELECT g, SUM(v) FROM few GROUP BY g", true, person},
		{"copy, counting persons by group", "SELECT g, COUNT(DISTINCT person) FROM grouped GROUP BY g", true, person},
		{"copy, counting persons by few groups", "SELECT g, COUNT(DISTINCT person) FROM few GROUP BY g", true, person},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := plan.Build(w.policy, plan.Request{SQL: c.sql})
			if err != nil {
				b.Fatal(err)
			}
			from := engine.Sealed{}
			if c.copied {
				from = copied()
			}
			e := w.engine("visits") // whatever the unit is declared to be
			s, err := e.begin(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			defer s.end()
			in, err := e.find(context.Background(), s, &p.Statement, from)
			if err != nil {
				b.Fatal(err)
			}
			var took, used [2][]time.Duration
			for b.Loop() {
				for i, statement := range []string{render(&p.Statement, in), c.beside} {
					start, before := time.Now(), processor(b, s)
					if err := s.query(context.Background(), statement,
						func([][]byte) error { return nil }); err != nil {
						b.Fatal(err)
					}
					took[i], used[i] = append(took[i], time.Since(start)), append(used[i], processor(b, s)-before)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
			b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
			b.ReportMetric(median(used[0]).Seconds()*1000, "cpu-ms")
			b.ReportMetric(float64(median(used[0]))/float64(max(median(used[1]), 1)), "cpu-ratio")
		})
	}
}

// processor is how much of a processor's time the server has used for a connection; 0 where the system does not tell.
func processor(b *testing.B, s *session) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.conn.PID()))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] { // in user mode, and in the kernel
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
