package tabulate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy/tabulate"
)

const policyText = `
version: 1
population: {name: town}
budget: {%s}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      county: {type: text, values: [c1, c2, c3, c4, c5, c6], nullable: true}
      sex: {type: text, values: [f, m]}
      age: {type: integer, bounds: [0, 99]}
`

// session seals 600 made-up people.
func session(t testing.TB, budget string) *curator.Session {
	t.Helper()
	return sessionWith(t, policyText, budget)
}

// sessionWith seals the same people under another policy.
func sessionWith(t testing.TB, policyText, budget string) *curator.Session {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("county,sex,age\n")
	for i := range 600 {
		county := fmt.Sprintf("c%d", i%7+1)
		if i%7 == 6 {
			county = ""
		}
		fmt.Fprintf(&rows, "%s,%s,%d\n", county, []string{"f", "m"}[i%2], i%100)
	}
	c, _ := testhome.Sealed(t, fmt.Sprintf(policyText, budget), "people", map[string]string{"people.csv": rows.String()})
	return c
}

func parse(t testing.TB, text string) *tabulate.Spec {
	t.Helper()
	s, err := tabulate.Parse([]byte(text), func(string) ([][]string, error) { return nil, os.ErrNotExist })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const specText = `
version: 1
price: {rho: 0.5}
hierarchies:
  place:
    key: county
    levels: [county, state]
    total: country
    places: {north: [c1, c2], south: [c3, c4, c5], west: [c6]}
tables:
  - {name: residents, from: people, rows: [county, state], columns: [sex]}
  - {name: all, from: people, rows: [state, country]}
  - {name: old, from: people, where: age >= 50, columns: [sex]}
  - {name: ages, from: people, rows: [state, country], measure: {sum: age}, weight: 2}
`

// TestTablesAddUp tabulates counts and sums, and compares every table with the sum of a finer one. It repeats the
// tabulation, which must return the same numbers at no cost. The margins of error are 10 or more standard deviations,
// so the comparison with the true counts fails with a negligible probability.
func TestTablesAddUp(t *testing.T) {
	c, s := session(t, "rho: 3, delta: 1e-6"), parse(t, specText)
	p, err := tabulate.Explain(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Groups) != 3 || p.Price.Rho != "0.5" || !p.Affordable || p.Replayed {
		t.Fatalf("%d groups, price %s", len(p.Groups), p.Price)
	}
	r, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Remaining.Rho != "2.5" || len(r.Releases) != 3 {
		t.Errorf("%s remain after %v", r.Remaining, r.Releases)
	}
	sum := func(table int, level, place string) *big.Rat {
		out := new(big.Rat)
		for _, cell := range r.Tables[table].Cells {
			if cell.Level == level && (place == "" || cell.Place == place) {
				out.Add(out, cell.Value)
			}
		}
		return out
	}
	for _, state := range []string{"north", "south", "west", tabulate.NotStated} {
		if a, b := sum(0, "state", state), sum(1, "state", state); a.Cmp(b) != 0 {
			t.Errorf("%s: %s and %s", state, a, b)
		}
	}
	if a, b := sum(0, "county", ""), sum(1, "country", ""); a.Cmp(b) != 0 {
		t.Errorf("counties: %s and %s", a, b)
	}
	if a, b := sum(3, "state", ""), sum(3, "country", ""); a.Cmp(b) != 0 {
		t.Errorf("ages: %s and %s", a, b)
	}
	for table, truth := range map[int]float64{1: 600, 3: 600 * 49.5} {
		total, _ := sum(table, "country", "").Float64()
		if sd := r.Tables[table].Cells[len(r.Tables[table].Cells)-1].StdDev; math.Abs(total-truth) > 10*sd+2 {
			t.Errorf("table %d: the total is %g, and its noise has the deviation %g", table, total, sd)
		}
	}
	again, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if !again.Replayed || again.Remaining.Rho != "2.5" {
		t.Errorf("repeating the tabulation leaves %s", again.Remaining)
	}
	for i := range r.Tables {
		for j := range r.Tables[i].Cells {
			if r.Tables[i].Cells[j].Value.Cmp(again.Tables[i].Cells[j].Value) != 0 {
				t.Fatalf("table %d, cell %d has another value", i, j)
			}
		}
	}
}

// TestInterruptedTabulation stops a tabulation after its first release. Repeating it replays that release, and pays for
// the rest alone.
func TestInterruptedTabulation(t *testing.T) {
	c, s := session(t, "rho: 3, delta: 1e-6"), parse(t, specText)
	ctx := &stopping{Context: t.Context(), session: c}
	if _, err := tabulate.Tabulate(ctx, c, s, ""); err == nil {
		t.Fatal("the tabulation was not stopped")
	}
	b, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	left, _ := new(big.Rat).SetString(b.Remaining.Rho)
	if left.Cmp(big.NewRat(3, 1)) >= 0 || left.Cmp(big.NewRat(5, 2)) <= 0 {
		t.Fatalf("%s remain after an interruption", b.Remaining)
	}
	r, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Remaining.Rho != "2.5" || r.Replayed {
		t.Errorf("%s remain", r.Remaining)
	}
}

// stopping is a context that ends once something is spent.
type stopping struct {
	context.Context
	session *curator.Session
}

func (s *stopping) Err() error {
	if b, err := s.session.Budget(); err == nil && b.Remaining.Rho != "3" {
		return context.Canceled
	}
	return s.Context.Err()
}

// TestPureBudget tabulates under ε, with declared totals.
func TestPureBudget(t *testing.T) {
	c := session(t, "epsilon: 20")
	text := strings.Replace(specText, "rho: 0.5", "epsilon: 10", 1)
	text = strings.Replace(text, "rows: [state, country]}", "rows: [state, country], totals: {state: {north: 171}}}", 1)
	r, err := tabulate.Tabulate(t.Context(), c, parse(t, text), "")
	if err != nil {
		t.Fatal(err)
	}
	if cell := r.Tables[1].Cells[0]; cell.Place != "north" || cell.Text() != "171" || cell.StdDev != 0 {
		t.Errorf("the declared total became %s ± %g", cell.Text(), cell.StdDev)
	}
	if r.Remaining.Epsilon != "10" {
		t.Errorf("%s remain", r.Remaining)
	}
}

// TestTooExpensive checks that nothing is spent if the groups together cost more than what remains.
func TestTooExpensive(t *testing.T) {
	c := session(t, "rho: 0.6, delta: 1e-6")
	if _, err := c.Answer(t.Context(), curator.Question{SQL: "SELECT COUNT(*) FROM people", Rho: "0.3"}); err != nil {
		t.Fatal(err)
	}
	_, err := tabulate.Tabulate(t.Context(), c, parse(t, specText), "")
	if e := (*curator.Error)(nil); !errors.As(err, &e) || e.Code != curator.CodeExhausted {
		t.Errorf("got %v", err)
	}
	if b, err := c.Budget(); err != nil || b.Remaining.Rho != "0.3" {
		t.Errorf("%v remain: %v", b, err)
	}
}

// TestKeysAreThoseOfTheSpecification refuses texts that add keys to the question.
func TestKeysAreThoseOfTheSpecification(t *testing.T) {
	c := session(t, "rho: 3, delta: 1e-6")
	for _, table := range []string{`{name: t, from: people, columns: ["sex, age"]}`, `{name: t, from: people, where: "TRUE) GROUP BY (sex"}`} {
		_, err := tabulate.Explain(t.Context(), c, parse(t, "version: 1\ntables: ["+table+"]"), "")
		if e := (*curator.Error)(nil); !errors.As(err, &e) || e.Code != curator.CodeUsage {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// FuzzParse checks that no text of a specification makes the parser panic, and that a valid one names its tables.
func FuzzParse(f *testing.F) {
	f.Add([]byte(specText))
	f.Add([]byte(classesText))
	f.Add([]byte("version: 1\ntables: [{name: t, from: p, measure: {sum: x}, weight: 1e3, totals: {a: {b: 1}}}]"))
	f.Add([]byte("version: 1\nhierarchies: {h: {key: k, levels: [a, b], file: f.csv}}\ntables: [{name: t, from: p, rows: [a]}]"))
	f.Add([]byte("version: 1\nhierarchies: {h: {key: k, levels: [a], places: [x, x]}}\ntables: 3"))
	places := func(string) ([][]string, error) { return [][]string{{"a", "b"}, {"1", "2"}, {"3", "2"}}, nil }
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := tabulate.Parse(text, places)
		if err == nil && (len(s.Tables) == 0 || s.Tables[0].Name == "" || s.Tables[0].From == "") {
			t.Error("a table has no name or no rows")
		}
	})
}
