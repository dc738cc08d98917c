package tabulate_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"dither/curator"
	"dither/strategy/tabulate"
)

const classesText = `
version: 1
price: {rho: 0.5}
hierarchies:
  place:
    key: county
    levels: [county, state]
    total: country
    places: {north: [c1, c2], south: [c3, c4, c5], west: [c6]}
  ages:
    key: age
    levels: [year, class, group]
    total: all_ages
    places:
      young: {children: [0..9, 10..17], youth: [18..29]}
      older: {adults: [30..64], pensioners: [65..99]}
tables:
  - {name: classes, from: people, rows: [county, state, country], columns: [class, sex]}
  - {name: groups, from: people, rows: [state, country], columns: [group]}
  - {name: sexes, from: people, rows: [country], columns: [all_ages, sex]}
  - {name: states, from: people, columns: [state]}
`

// TestLevelsAsColumns tabulates the levels of a second hierarchy as columns. They are one measurement, and add up over
// both hierarchies. A level of the hierarchy in the rows of other tables is a measurement of its own.
func TestLevelsAsColumns(t *testing.T) {
	c, s := session(t, "rho: 3, delta: 1e-6"), parse(t, classesText)
	r, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Releases) != 2 || strings.Contains(r.Plan.Groups[1].SQL, "age") {
		t.Fatalf("%d releases, the second one of %s", len(r.Releases), r.Plan.Groups[1].SQL)
	}
	sums := func(table int, of func(*tabulate.Cell) string) map[string]*big.Rat {
		out := map[string]*big.Rat{}
		for i := range r.Tables[table].Cells {
			c := &r.Tables[table].Cells[i]
			name := of(c)
			if out[name] == nil {
				out[name] = new(big.Rat)
			}
			out[name].Add(out[name], c.Value)
		}
		return out
	}
	same := func(name string, a, b map[string]*big.Rat) {
		t.Helper()
		if len(a) != len(b) {
			t.Errorf("%s: %v and %v", name, a, b)
		}
		for k, v := range a {
			if b[k] == nil || v.Cmp(b[k]) != 0 {
				t.Errorf("%s: %v and %v", name, a, b)
			}
		}
	}
	group := map[string]string{"children": "young", "youth": "young", "adults": "older", "pensioners": "older"}
	at := func(c *tabulate.Cell) string { return c.Level + c.Place }
	fine := func(c *tabulate.Cell) string {
		if c.Level == "county" {
			return ""
		}
		return at(c) + group[c.Values[0]]
	}
	a := sums(0, fine)
	delete(a, "")
	same("groups", a, sums(1, func(c *tabulate.Cell) string { return at(c) + c.Values[0] }))
	country := func(name func(*tabulate.Cell) string) func(*tabulate.Cell) string {
		return func(c *tabulate.Cell) string {
			if c.Level != "country" {
				return ""
			}
			return name(c)
		}
	}
	a = sums(0, country(func(c *tabulate.Cell) string { return c.Values[1] }))
	delete(a, "")
	same("sexes", a, sums(2, func(c *tabulate.Cell) string { return c.Values[1] }))
	if v := r.Tables[2].Cells[0].Values; v[0] != "all_ages" {
		t.Errorf("the labels of a total are %q", v)
	}
	// The county × class × sex table alone would state √2 of the deviation for two classes.
	classes, groups := r.Plan.Tables[0].Levels[2], r.Plan.Tables[1].Levels[1]
	if groups.Cells != 2 || !(groups.StdDev < 2*classes.StdDev) {
		t.Errorf("groups have %d cells and the deviation %g; classes have %g", groups.Cells, groups.StdDev, classes.StdDev)
	}
}

// TestLevelsAsColumnsAreChecked refuses a level of the hierarchy in the rows, two levels of one hierarchy, missing values
// and empty ranges.
func TestLevelsAsColumnsAreChecked(t *testing.T) {
	c := session(t, "rho: 3, delta: 1e-6")
	for change, want := range map[[2]string]string{
		{"columns: [class, sex]", "columns: [state]"}:        `"state" is a level of the hierarchy in the table's rows`,
		{"columns: [class, sex]", "columns: [class, group]"}: `"group" is a second level of the hierarchy ages in the columns`,
		{"[65..99]", "[65..98]"}:                             "the hierarchy ages lacks 1 value of age: [\"99\"]",
		{"[65..99]", "[65..100]"}:                            "the hierarchy ages has 1 place that age cannot have: [\"100\"]",
		{"[65..99]", "[99..65]"}:                             "the range 99..65 is empty",
		{"[65..99]", "[0..999999999]"}:                       "has more than 10000 numbers",
		{"[65..99]", "[64..99]"}:                             `"64" is listed twice`,
	} {
		s, err := tabulate.Parse([]byte(strings.Replace(classesText, change[0], change[1], 1)), nil)
		if err == nil {
			_, err = tabulate.Explain(t.Context(), c, s, "")
			if e := (*curator.Error)(nil); !errors.As(err, &e) || e.Code != curator.CodeUsage {
				t.Errorf("%s: %v", change[1], err)
				continue
			}
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
