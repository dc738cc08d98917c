package policy

import (
	"strings"
	"testing"
)

// TestTotals reads declared totals, and refuses those that contradict each other.
func TestTotals(t *testing.T) {
	const base = `
version: 1
population: {name: people}
budget: {epsilon: 1}
tables:
  t:
    source: {csv: t.csv}
    UNIT
    totals: TOTALS
    columns:
      id: {type: integer}
      region: {type: text, values: [north, south]}
      hour: {type: integer, bounds: [0, 2]}
      weight: {type: real, bounds: [0, 9]}
      ill: {type: boolean}
      month: {type: integer, bounds: [1, 2], nullable: true}
`
	read := func(unit, totals string) (*Policy, error) {
		return Decode([]byte(strings.NewReplacer("UNIT", unit, "TOTALS", totals).Replace(base)), "")
	}
	p, err := read("unit: row", `{"*": 10, region: {north: 4}, hour: {0: 1, 1: 2, 2: 7}}`)
	if err != nil {
		t.Fatal(err)
	}
	if all := p.Table("t").Totals; len(all) != 5 || all[0].Column != "" || all[0].Count != 10 || all[1].Value.Text != "north" ||
		all[4].Value.Int != 2 || all[4].Count != 7 {
		t.Errorf("the totals are %+v", all)
	}
	if _, err := read("unit: id\n    rows_per_unit: 1", `{"*": 10}`); err != nil {
		t.Error(err)
	}
	// other rows may lack these values
	for _, totals := range []string{
		`{ill: {true: 3, false: 6}, region: {north: 4, south: 4}}`, `{"*": 9, month: {1: 3, 2: 4}}`, `{region: {north: 40, south: 4}, month: {1: 3, 2: 4}}`,
		`{ill: {true: 30}, hour: {0: 9, 1: 20, 2: 3}}`,
	} {
		if _, err := read("unit: row", totals); err != nil {
			t.Errorf("%s: %v", totals, err)
		}
	}
	for _, c := range []struct{ unit, totals, want string }{
		{"unit: id\n    rows_per_unit: 2", `{"*": 10}`, "totals are declared where each unit has one row"},
		{"unit: row", `{"*": 3, region: {north: 4}}`, "add up to 4, more than the 3 of all rows"},
		{"unit: row", `{"*": 10, hour: {0: 1, 1: 2, 2: 3}}`, "add up to 6, and all rows are 10"},
		{"unit: row", `{"*": 10, ill: {true: 3, false: 6}}`, `"ill" add up to 9, and all rows are 10`},
		{"unit: row", `{ill: {true: 3, false: 6}, hour: {0: 1, 1: 2, 2: 3}}`, `"ill" add up to 9, more than the 6 of all rows, by those declared for "hour"`},
		{"unit: row", `{hour: {0: 9, 1: 2, 2: 3}, ill: {true: 3, false: 6}}`, `"ill" add up to 9, and all rows are 14, by those declared for "hour"`},
		{"unit: row", `{ill: {true: 3, false: 6}, region: {north: 10}}`, `"region" add up to 10, more than the 9 of all rows, by those declared for "ill"`},
		{"unit: row", `{"*": -1}`, "a whole number from 0 to"},
		{"unit: row", `{"*": 1.5}`, "a whole number from 0 to"},
		{"unit: row", `{"*": 9000000000000000000}`, "a whole number from 0 to"},
		{"unit: row", `{region: {east: 4}}`, "is not among the known values of"},
		{"unit: row", `{place: {east: 4}}`, "is not among the columns"},
		{"unit: row", `{weight: {1: 4}}`, "totals are declared for known values"},
		{"unit: row", `7`, "expected keys and values"},
	} {
		if _, err := read(c.unit, c.totals); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, not %q", c.unit, c.totals, err, c.want)
		}
	}
}
