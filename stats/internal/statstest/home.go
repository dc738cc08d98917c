// Package statstest supports the tests of the statistical packages: homes with made-up rows, exact
// statistics of such rows, and a count of the intervals that contain the true value.
package statstest

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/testhome"
)

// People makes a home with one table named people, which has n made-up rows. rows returns row i as a line of CSV.
func People(t testing.TB, budget, columns, header string, rows func(i int) string, n int) *curator.Session {
	t.Helper()
	policy := fmt.Sprintf(`
version: 1
population: {name: people, neighbours: add-remove}
budget: {%s}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    expected_rows: %d
    columns:
%s`, budget, n, columns)
	return sealed(t, policy, header, rows, n)
}

// Declared makes a home as People does, under change-one, whose policy declares the number of rows as a constant.
func Declared(t testing.TB, budget, columns, header string, rows func(i int) string, n int) *curator.Session {
	t.Helper()
	policy := fmt.Sprintf(`
version: 1
population: {name: people, neighbours: change-one}
budget: {%s}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    units: %d
    columns:
%s`, budget, n, columns)
	return sealed(t, policy, header, rows, n)
}

// sealed makes a home with one table named people.
func sealed(t testing.TB, policy, header string, rows func(i int) string, n int) *curator.Session {
	t.Helper()
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(rows(i) + "\n")
	}
	c, _ := testhome.Sealed(t, policy, "people", map[string]string{"people.csv": b.String()})
	return c
}

// Grouped makes a home of 300 people with two numeric columns x and y, a group g, and a column named none that is
// NULL in every row.
func Grouped(t testing.TB) *curator.Session {
	t.Helper()
	columns := "      x: {type: real, bounds: [0, 100]}\n      y: {type: real, bounds: [-50, 50]}\n" +
		"      g: {type: text, values: [a, b]}\n      none: {type: real, bounds: [0, 1], nullable: true}\n"
	return People(t, "epsilon: 100", columns, "x,y,g,none", func(i int) string {
		return fmt.Sprintf("%d,%d,%s,", 20+i%40, i%23-11, []string{"a", "b"}[i%2])
	}, 300)
}

// Remaining returns the remaining budget of a home, in ε or ρ.
func Remaining(t testing.TB, c *curator.Session) *big.Rat {
	t.Helper()
	b, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	r, err := exact.ParseRat(b.Remaining.Epsilon)
	if b.Remaining.Rho != "" {
		r, err = exact.ParseRat(b.Remaining.Rho)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}
