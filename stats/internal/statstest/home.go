// Package statstest supports the tests of the statistical packages: sealed homes with made-up rows, exact
// statistics of such rows, and a count of the intervals that contain the true value.
package statstest

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/exact"
)

// Sealed makes a home from a policy and source files, seals a table, and returns a session and the home's path. The
// home closes when the test ends.
func Sealed(t testing.TB, policy, table string, files map[string]string) (c *curator.Session, home string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home = filepath.Join(t.TempDir(), "home")
	if err := curator.Init(home); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("policy.yaml", policy)
	for name, text := range files {
		write(name, text)
	}
	owner, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	if _, err := owner.Seal(t.Context(), table, curator.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return owner.Session(), home
}

// People makes a home with one table named people, which has n made-up rows. rows returns row i as a line of CSV.
func People(t testing.TB, budget, columns, header string, rows func(i int) string, n int) *curator.Session {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(curator.Init(dir))
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
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(rows(i) + "\n")
	}
	must(os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600))
	must(os.WriteFile(filepath.Join(dir, "people.csv"), []byte(b.String()), 0o600))
	owner, err := curator.Open(dir)
	must(err)
	t.Cleanup(func() { must(owner.Close()) })
	_, err = owner.Seal(context.Background(), "people", curator.SealOptions{StateHome: t.TempDir()})
	must(err)
	return owner.Session()
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
