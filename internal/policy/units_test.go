package policy

import (
	"strings"
	"testing"
)

const withUnits = `
version: 1
population: {name: people, neighbours: NEIGHBOURS}
budget: {epsilon: 1}
tables:
  t:
    source: SOURCE
    UNIT
    units: UNITS
    columns:
      id: {type: integer}
      age: {type: integer, bounds: [0, 115]}
`

// further is a second table of persons.
const further = `
  u:
    source: {csv: u.csv}
    unit: id
    rows_per_unit: 1
    columns: {id: {type: integer}}
`

func decodeUnits(neighbours, source, unit, units, more string) (*Policy, error) {
	text := strings.NewReplacer("NEIGHBOURS", neighbours, "SOURCE", source, "UNITS", units, "UNIT", unit).Replace(withUnits)
	return Decode([]byte(text+more), "")
}

// The number of units is a public constant only under change-one, in a sealed table in which each unit has one row.
func TestUnits(t *testing.T) {
	const one, csv = "change-one", "{csv: t.csv}"
	person := "unit: id\n    rows_per_unit: 1"
	for _, c := range []struct {
		unit, units, more string
		want              int64
	}{
		{"unit: row", "20190", "", 20190},
		{"unit: row", "2.019e4", "", 20190},
		{"unit: row", "4294967296", "", 1 << 32},
		{"unit: row", "1\n    totals: {\"*\": 1}", "", 1},
		{person, "7", "", 7},
		{"unit: row", "7", further, 7},
	} {
		p, err := decodeUnits(one, csv, c.unit, c.units, c.more)
		if err != nil {
			t.Errorf("%s, %s: %v", c.unit, c.units, err)
		} else if got := p.Table("t"); got.Units != c.want || got.ExpectedRows != c.want {
			t.Errorf("%s, %s: %d units, %d expected rows", c.unit, c.units, got.Units, got.ExpectedRows)
		}
	}
	for _, c := range []struct{ neighbours, source, unit, units, more, want string }{
		{one, csv, "unit: row", "0", "", "must be between 1 and 4294967296"},
		{one, csv, "unit: row", "-1", "", "must be between 1 and 4294967296"},
		{one, csv, "unit: row", "1e19", "", "must be between 1 and 4294967296"},
		{one, csv, "unit: row", "4294967297", "", "must be between 1 and 4294967296"},
		{one, csv, "unit: row", "1e99999", "", "exponent"},
		{one, csv, "unit: row", "1.5", "", "expected a whole number"},
		{one, csv, "unit: row", "many", "", "expected a whole number"},
		{one, csv, "unit: row", "[7]", "", "expected"},
		{"add-remove", csv, "unit: row", "7", "", "applies only under change-one"},
		{one, csv, "unit: id\n    rows_per_unit: 2", "7", "", "declared where each unit has one row"},
		{one, csv, "through: id\n    references: {id: u.id}\n    rows_per_unit: 1", "7", further, "declared where each unit has one row"},
		{one, csv, "public: true", "7", "", "a public table has no privacy unit"},
		{one, "{postgres: {service: s}, table: t}", "unit: row", "7", "", "applies only to sealed tables"},
		{one, csv, "unit: row", "7\n    totals: {\"*\": 8}", "", "the totals declare 8 rows, and units 7"},
		{one, csv, "unit: row", "7\n    totals: {sex: {f: 4, m: 2}}", "      sex: {type: text, values: [f, m]}\n", "add up to 6, and all rows are 7"},
		{one, csv, person, "7", further, "a person may have rows in table \"u\" alone"},
	} {
		if _, err := decodeUnits(c.neighbours, c.source, c.unit, c.units, c.more); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s %s %s: %v, not %q", c.neighbours, c.source, c.unit, c.units, err, c.want)
		}
	}
}

// Past answers about another table of persons forbid it: a person may have had rows in that table alone.
func TestUnitsBeside(t *testing.T) {
	none := strings.NewReplacer("NEIGHBOURS", "change-one", "SOURCE", "{csv: t.csv}", "UNIT", "unit: id\n    rows_per_unit: 1",
		"    units: UNITS\n", "")
	both, err := Decode([]byte(none.Replace(withUnits)+further), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		unit  string
		fails bool
	}{{"unit: id\n    rows_per_unit: 1", true}, {"unit: row", false}} {
		p, err := decodeUnits("change-one", "{csv: t.csv}", c.unit, "7", "")
		if err != nil {
			t.Fatal(err)
		}
		terms := p.Terms().After(both.Terms()) // u was removed
		if err := p.UnitsBeside(terms); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.unit, err)
		}
		if err := p.UnitsBeside(p.Terms()); err != nil {
			t.Errorf("%s, alone: %v", c.unit, err)
		}
		if p.Undeclared().Table("t").Units != 0 {
			t.Error("without declarations, the number of units is declared")
		}
	}
}
