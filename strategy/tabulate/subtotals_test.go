package tabulate_test

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/strategy/tabulate"
)

const subtotals = `
version: 1
price: {rho: 1}
hierarchies:
  place: {key: county, levels: [county, state], total: country, places: {north: [c1, c2], south: [c3, c4, c5], west: [c6]}}
  ages: {key: age, levels: [year, class], total: all_ages, places: {young: [0..17], old: [18..99]}}
tables:
  - {name: both, from: people, rows: [county, country], columns: [sex, class], subtotals: true}
  - {name: none, from: people, columns: [class, sex], subtotals: true}
  - {name: plain, from: people, rows: [county], columns: [class]}
`

// Each subtotal is the sum of the cells that it covers: as a value, as an estimate and in its variance.
func TestSubtotals(t *testing.T) {
	r, err := tabulate.Tabulate(t.Context(), session(t, "rho: 3, delta: 1e-6"), parse(t, subtotals), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{7*9 + 9, 9, 7 * 2} {
		if n := len(r.Tables[i].Cells); n != want {
			t.Errorf("table %d has %d cells, not %d", i, n, want)
		}
	}
	sums := map[string]bool{tabulate.All: true, "all_ages": true}
	for _, of := range r.Tables[:2] {
		name := func(c tabulate.Cell) tabulate.CellName {
			return tabulate.CellName{Table: of.Name, Level: c.Level, Place: c.Place, Values: c.Values}
		}
		for _, c := range of.Cells {
			value, estimate, variance := new(big.Rat), 0.0, 0.0
			var parts []tabulate.Cell
			for _, p := range of.Cells {
				inside := p.Level == c.Level && p.Place == c.Place
				for k, label := range p.Values {
					inside = inside && !sums[label] && (label == c.Values[k] || sums[c.Values[k]])
				}
				if inside {
					parts = append(parts, p)
				}
			}
			for _, p := range parts {
				value.Add(value, p.Value)
				estimate += p.Estimate
				for _, q := range parts {
					x, err := r.Plan.Covariance(name(p), name(q))
					if err != nil {
						t.Fatal(err)
					}
					variance += x
				}
			}
			if value.Cmp(c.Value) != 0 || math.Abs(estimate-c.Estimate) > 1e-9 || math.Abs(variance-c.StdDev*c.StdDev) > 1e-9 {
				t.Errorf("%s %v: %s, %v with variance %v; its %d parts: %s, %v, %v", c.Place, c.Values, c.Value, c.Estimate,
					c.StdDev*c.StdDev, len(parts), value, estimate, variance)
			}
		}
	}
	var labels []string
	for _, c := range r.Tables[1].Cells {
		labels = append(labels, strings.Join(c.Values, " "))
	}
	if want := []string{ // each sum follows its parts, in the order of the first table's columns
		"young f", "old f", "all_ages f", "young m", "old m", "all_ages m", "young (all)", "old (all)", "all_ages (all)",
	}; !slices.Equal(labels, want) {
		t.Errorf("the cells are %q", labels)
	}
	text, err := json.Marshal(r.Plan)
	if want := `{"level":"country","columns":["class"],"cells":2,`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s (%v)", text, err)
	}
}

// A specification states which subtotals are impossible, before anything is paid.
func TestSubtotalsAreChecked(t *testing.T) {
	head, _, _ := strings.Cut(subtotals, "tables:\n")
	for keys, says := range map[string]string{
		"columns: [sex], subtotals: 1":                                     "write true or false",
		"columns: [sex, class, age > 1, age > 2, age > 3], subtotals: yes": `not "yes"`,
		"columns: [sex, a, b, c, d], subtotals: true":                      "at most 4 columns, not 5",
	} {
		_, err := tabulate.Parse([]byte(head+"tables:\n  - {name: x, from: people, "+keys+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", keys, err, says)
		}
	}
	c := session(t, "rho: 3, delta: 1e-6")
	for class, says := range map[string]string{
		`CASE WHEN age < 50 THEN '(all)' ELSE 'old' END`: `has a value "(all)"`,
		`CASE WHEN age < 50 THEN 'all' ELSE 'old' END`:   "",
	} {
		s := parse(t, head+"tables:\n  - {name: x, from: people, columns: [\""+class+"\"], subtotals: true}\n")
		_, err := tabulate.Explain(t.Context(), c, s, "")
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", class, err, says)
		}
	}
}
