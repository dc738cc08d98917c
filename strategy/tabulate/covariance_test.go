package tabulate_test

import (
	"math"
	"strings"
	"testing"

	"dither/strategy/tabulate"
)

// Covariances add up as the cells do, and a cell's covariance with itself is its variance. Tables of other rows have
// independent noise.
func TestCovariances(t *testing.T) {
	owner, err := town(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	spec, err := tabulate.Parse([]byte(`
version: 1
price: {rho: 1}
hierarchies:
  place: {key: county, levels: [county, state], total: country, places: {north: [c1, c2], south: [c3]}}
tables:
  - {name: residents, from: people, rows: [county, state, country], columns: [sex]}
  - {name: all, from: people, rows: [country]}
  - {name: women, from: people, where: sex = 'f', rows: [state]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tabulate.Tabulate(t.Context(), owner.Session(), spec, "")
	if err != nil {
		t.Fatal(err)
	}
	covariance := func(a, b tabulate.CellName) float64 {
		t.Helper()
		v, err := r.Plan.Covariance(a, b)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
	var names []tabulate.CellName
	for _, of := range r.Tables {
		for _, c := range of.Cells {
			n := tabulate.CellName{Table: of.Name, Level: c.Level, Place: c.Place, Values: c.Values}
			names = append(names, n)
			near(of.Name, covariance(n, n), c.StdDev*c.StdDev)
		}
	}
	cell := func(table, level, place string, values ...string) tabulate.CellName {
		return tabulate.CellName{Table: table, Level: level, Place: place, Values: values}
	}
	for _, n := range names {
		all, f, m := covariance(cell("all", "country", "country"), n), 0.0, 0.0
		for _, state := range []string{"north", "south"} {
			f += covariance(n, cell("residents", "state", state, "f"))
			m += covariance(n, cell("residents", "state", state, "m"))
		}
		near("all", all, f+m)
		near("women", f, covariance(cell("residents", "country", "country", "f"), n))
		if n.Table == "women" {
			near("other rows", f, 0)
		}
	}
	for _, bad := range []tabulate.CellName{
		cell("nobody", "state", "north", "f"), cell("residents", "region", "north", "f"), cell("residents", "state", "west", "f"),
		cell("residents", "state", "north"), cell("residents", "state", "north", "x"),
		{},
	} {
		if _, err := r.Plan.Covariance(names[0], bad); err == nil {
			t.Errorf("%+v has a covariance", bad)
		}
	}
}

// Hierarchies of one column that do not nest are measured apart, each with totals of its own. A table that has two of them is
// refused, and expressions take their place.
func TestHierarchiesOfOneColumn(t *testing.T) {
	owner, err := town(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	const levels = `
version: 1
price: {rho: 1}
hierarchies:
  place: {key: county, levels: [county, state], total: country, places: {north: [c1, c2], south: [c3]}}
  coast: {key: county, levels: [town, shore], places: {wet: [c1], dry: [c2, c3]}}
tables:
`
	for tables, want := range map[string]int{
		"[{name: a, from: people, columns: [state]}, {name: b, from: people, columns: [shore]}]":                     2,
		"[{name: a, from: people, rows: [state]}, {name: b, from: people, columns: [shore]}]":                        2,
		"[{name: a, from: people, rows: [state]}, {name: b, from: people, columns: [county]}]":                       2,
		"[{name: a, from: people, columns: [state]}, {name: b, from: people, columns: [sex]}]":                       1,
		`[{name: a, from: people, columns: ["county < 'c3'"]}, {name: b, from: people, columns: ["county > 'c1'"]}]`: 1,
		`[{name: a, from: people, columns: ["county < 'c3'", "county > 'c1'"]}]`:                                     1,
		"[{name: a, from: people, columns: [state, shore]}]":                                                         0,
		"[{name: a, from: people, rows: [state], columns: [shore]}]":                                                 0,
	} {
		spec, err := tabulate.Parse([]byte(levels+"  "+tables), nil)
		if want == 0 {
			if err == nil || !strings.Contains(err.Error(), "need not nest") {
				t.Errorf("%s: %v", tables, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := tabulate.Explain(t.Context(), owner.Session(), spec, "")
		if err != nil {
			t.Errorf("%s: %v", tables, err)
		} else if len(p.Groups) != want {
			t.Errorf("%s: %d groups", tables, len(p.Groups))
		}
	}
}
