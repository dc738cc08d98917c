package curator

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dither/internal/ledger"
	"dither/privacy"
)

// Forms of questions over a table of 50,000 rows of 10,000 persons. A form that a former commit refuses is left out there, so
// that the others can be compared.
var benchForms = map[string]string{
	"count":                   "SELECT COUNT(*) FROM visits",
	"groups":                  "SELECT ward, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY ward",
	"join":                    "SELECT p.ward, COUNT(*) FROM visits v JOIN people p ON v.person = p.person GROUP BY p.ward",
	"per person":              "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) q",
	"subquery, IN":            "SELECT COUNT(*) FROM people WHERE person IN (SELECT person FROM visits WHERE cost > 50)",
	"subquery, NOT EXISTS":    "SELECT COUNT(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person AND v.cost > 90)",
	"subquery, one value":     "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM visits v WHERE v.person = p.person) >= 3",
	"timestamps, months":      "SELECT date_trunc('month', seen), COUNT(*) FROM visits WHERE seen >= '2025-03-01' GROUP BY 1",
	"timestamps, hours":       "SELECT EXTRACT(hour FROM seen), COUNT(*) FROM visits GROUP BY 1",
	"texts, known":            "SELECT UPPER(ward), COUNT(*) FROM visits GROUP BY UPPER(ward)",
	"texts, parts":            "SELECT SUBSTRING(ward, 1, 1) || '.', COUNT(*) FROM visits GROUP BY 1",
	"texts, LIKE":             "SELECT COUNT(*) FROM visits WHERE note LIKE '%7%'",
	"sum beside average":      "SELECT SUM(cost), AVG(cost) FROM visits",
	"LATERAL, aggregate":      "SELECT AVG(x.n) FROM people p LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM visits v WHERE v.person = p.person) x ON TRUE",
	"LATERAL, first row":      "SELECT AVG(x.cost) FROM people p CROSS JOIN LATERAL (SELECT v.cost FROM visits v WHERE v.person = p.person ORDER BY v.seen LIMIT 1) x",
	"window, one person":      "SELECT COUNT(*) FROM (SELECT cost - LAG(cost) OVER (PARTITION BY person ORDER BY seen) AS more FROM visits) q WHERE more > 0",
	"shares":                  "SELECT ward, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () FROM visits GROUP BY ward",
	"running share, LAG":      "SELECT m, SUM(n) OVER (ORDER BY m) / SUM(n) OVER (), n - LAG(n) OVER (ORDER BY m) FROM (SELECT date_trunc('month', seen) AS m, COUNT(*) AS n FROM visits GROUP BY 1) q",
	"windows over the answer": "SELECT ward, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY ward) FROM visits GROUP BY ward",
}

// benchHome is a sealed home of made-up visits.
func benchHome(b *testing.B) *Owner {
	b.Helper()
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	home := filepath.Join(b.TempDir(), "home")
	if err := Init(home); err != nil {
		b.Fatal(err)
	}
	write(b, home, "policy.yaml", `
version: 1
population: {name: bench}
budget: {epsilon: 1000}
price: {default: 0.001, minimum: 0.001}
tables:
  people:
    source: {csv: people.csv}
    unit: person
    rows_per_unit: 1
    columns: {person: {type: integer}, ward: {type: text, values: [north, east, south, west]}}
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 10
    columns:
      person: {type: integer}
      ward: {type: text, values: [north, east, south, west]}
      note: {type: text}
      cost: {type: real, bounds: [0, 100]}
      seen: {type: timestamp, bounds: [2025-01-01, 2025-12-31]}
`)
	wards := []string{"north", "east", "south", "west"}
	var people, visits strings.Builder
	people.WriteString("person,ward\n")
	visits.WriteString("person,ward,note,cost,seen\n")
	for i := range 10_000 {
		fmt.Fprintf(&people, "%d,%s\n", i, wards[i%4])
		for j := range 5 {
			n := i*5 + j
			fmt.Fprintf(&visits, "%d,%s,note %d,%d.5,2025-%02d-%02d %02d:15:00\n", i, wards[(i+j)%4], n, n*7%100, 1+n%12, 1+n%28, n%24)
		}
	}
	write(b, home, "people.csv", people.String())
	write(b, home, "visits.csv", visits.String())
	c := openHome(b, home)
	for _, table := range []string{"people", "visits"} {
		if _, err := c.Seal(b.Context(), table, SealOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

// benchmarkForms runs each form that is answered.
func benchmarkForms(b *testing.B, run func(c *Owner, q Question) error) {
	c := benchHome(b)
	for name, sql := range benchForms {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			q := Question{SQL: sql, Fresh: true}
			if _, err := c.Explain(b.Context(), q); err != nil {
				b.Skip(err)
			}
			used := processor()
			for b.Loop() {
				if err := run(c, q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processor()-used).Seconds()*1000/float64(b.N), "cpu-ms")
		})
	}
}

// BenchmarkExplainForms explains questions of all forms.
func BenchmarkExplainForms(b *testing.B) {
	benchmarkForms(b, func(c *Owner, q Question) error {
		_, err := c.Explain(b.Context(), q)
		return err
	})
}

// BenchmarkAnswerForms answers questions of all forms, each time afresh.
func BenchmarkAnswerForms(b *testing.B) {
	benchmarkForms(b, func(c *Owner, q Question) error {
		_, err := c.Answer(b.Context(), q)
		return err
	})
}

// BenchmarkBesideStreams answers and refuses questions of a home with a stream whose ledger has 100,000 further entries.
func BenchmarkBesideStreams(b *testing.B) {
	h := newStreamHome(b)
	h.create()
	h.seal("7,1,north", "8,1,south")
	if _, err := h.advance(); err != nil {
		b.Fatal(err)
	}
	fill(b, h.owner, 50_000)
	for name, q := range map[string]Question{
		"one table":        {SQL: "SELECT region, n * 2 AS twice FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) q"},
		"an unknown table": {SQL: "SELECT COUNT(*) FROM nowhere"},
		"a stream":         {SQL: "SELECT period, total FROM visits_by_day"},
	} {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			used := processor()
			for b.Loop() {
				if _, err := h.owner.Answer(b.Context(), q); err != nil && name != "an unknown table" {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processor()-used).Seconds()*1000/float64(b.N), "cpu-ms")
		})
	}
}

// fill adds n reservations with their releases to a ledger.
func fill(b *testing.B, c *Owner, n int) {
	b.Helper()
	var paid ledger.Reservation
	l := inside(c).Ledger
	if err := l.Entries(func(e ledger.Entry) error {
		if r, ok := e.Body.(ledger.Reservation); ok {
			paid = r
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	paid.Loss, paid.Question = smallest(b), "SELECT COUNT(*) FROM visits"
	var wg sync.WaitGroup
	for first := range 64 {
		wg.Go(func() {
			for i := first; i < n; i += 64 {
				r := paid
				r.Key = fmt.Sprintf("%064x", i)
				id, err := l.Reserve(r)
				if err == nil {
					err = l.Release(id, json.RawMessage(`[["7"]]`))
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// smallest is a price of which a ledger holds very many.
func smallest(b *testing.B) privacy.Loss {
	b.Helper()
	rho, err := privacy.ParseRho("0.000001")
	if err != nil {
		b.Fatal(err)
	}
	return privacy.ZCDPLoss(rho, privacy.Delta{})
}
