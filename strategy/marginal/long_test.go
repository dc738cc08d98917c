package marginal_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// TestLongNumbersTakeMoreReleases divides a plan of 4.1 million numbers: one release holds them at an ordinary price.
// At a minute price their noise is so large that the kernel refuses one release of them, and the plan has four.
func TestLongNumbersTakeMoreReleases(t *testing.T) {
	const size = 100
	var columns, rows []string
	var names []string
	for i := range 4 {
		name := fmt.Sprintf("k%d", i)
		var values []string
		for v := range size {
			values = append(values, strconv.Itoa(v))
		}
		names = append(names, name)
		columns = append(columns, fmt.Sprintf("      %s: {type: integer, values: [%s]}", name, strings.Join(values, ", ")))
	}
	for i := range 50 {
		rows = append(rows, fmt.Sprintf("%d,%d,%d,%d", i, i%3, i*i%size, i%7))
	}
	policy := `
version: 1
population: {name: long}
budget: {rho: 1000, delta: 1e-6}
price: {minimum: 1e-64}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
` + strings.Join(columns, "\n") + "\n"
	csv := strings.Join(names, ",") + "\n" + strings.Join(rows, "\n") + "\n"
	o, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"people.csv": csv}), "people")
	s := o.Session()
	r := curator.Request{SQL: "SELECT COUNT(*) FROM people GROUP BY " + strings.Join(names, ", ")}
	for _, c := range []struct {
		rho      string
		releases int
	}{{"1", 1}, {"1e-40", 4}} {
		r.Rho = c.rho
		d := must(marginal.DomainOf(t.Context(), s, r, names...))(t)
		p := must(must(d.Ways(3))(t).Sum(strategy.Rho).Strategies(t.Context(), s, r))(t)
		if len(p) != c.releases {
			t.Errorf("%d releases at ρ = %s, want %d", len(p), c.rho, c.releases)
		}
		for _, q := range p {
			if _, err := s.ExplainStrategy(t.Context(), q); err != nil {
				t.Errorf("ρ = %s: %v", c.rho, err)
			}
		}
		whole := curator.Strategy{Request: r}
		for _, q := range p {
			whole.Parts = append(whole.Parts, q.Parts...)
		}
		if _, err := s.ExplainStrategy(t.Context(), whole); (err == nil) != (c.releases == 1) {
			t.Errorf("all numbers in one release at ρ = %s: %v", c.rho, err)
		} else if err != nil && !strings.Contains(err.Error(), "bytes each") {
			t.Errorf("the refusal is %v", err)
		}
	}
}
