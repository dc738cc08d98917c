package policy

import (
	"strings"
	"testing"

	"dither/internal/value"
)

const originPolicy = `
version: 1
population: {name: x}
budget: {epsilon: 1}
tables:
  people:
    source: {csv: p.csv}
    unit: person
    rows_per_unit: 2
    columns: {person: {type: text}, region: COLUMN, age: {type: real}}
  regions: {public: true, source: {csv: r.csv}, columns: {region: {type: text}, number: {type: integer}}}
  secrets: {source: {csv: s.csv}, unit: row, columns: {region: {type: text}}}
`

func TestValuesFrom(t *testing.T) {
	with := func(column string) (*Policy, error) {
		return Decode([]byte(strings.Replace(originPolicy, "COLUMN", column, 1)), ".")
	}
	p, err := with("{type: text, values_from: regions.region}")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := with("{type: text}")
	if err != nil || plain.Digest() == p.Digest() {
		t.Errorf("the digest says nothing of it: %v", err)
	}
	filled := p.Filled(func(o Origin) ([]value.Value, int, string) {
		if o.Table != "regions" || o.Column != "region" {
			t.Errorf("%+v", o)
		}
		return []value.Value{value.OfText("north")}, 7, ""
	})
	c := filled.Table("people").Column("region")
	if len(c.Values) != 1 || c.ValuesFrom.Version != 7 || p.Table("people").Column("region").Values != nil ||
		filled.Digest() != p.Digest() {
		t.Errorf("%+v, %+v", c, c.ValuesFrom)
	}
	for column, want := range map[string]string{
		// where it stands
		"{type: text, values_from: regions}":                                                     "10:",
		"{type: text, values_from: nowhere.region}":                                              `there is no table "nowhere"`,
		"{type: text, values_from: secrets.region}":                                              `table "secrets" is not public`,
		"{type: text, values_from: regions.town}":                                                `has no column "town"`,
		"{type: integer, values_from: regions.region}":                                           `of type text`,
		"{type: text, values: [a], values_from: regions.region}":                                 "not more than one of them",
		"{type: integer, bounds: [0, 3], values_from: regions.number}":                           "not more than one of them",
		"{type: real, values_from: regions.number}":                                              "cannot be compared reliably",
		"{type: text, values_from: [regions, region]}":                                           "",
		"{type: text, values_from: regions.region}, x: {type: text, values_from: people.region}": "not public",
	} {
		if _, err := with(column); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", column, err, want)
		}
	}
	unit := strings.Replace(originPolicy, "person: {type: text}",
		"person: {type: text, values_from: regions.region}", 1)
	if _, err := Decode([]byte(strings.Replace(unit, "COLUMN", "{type: text}", 1)), "."); err == nil ||
		!strings.Contains(err.Error(), "merge persons") {
		t.Errorf("of the unit: %v", err)
	}
	// What parts a unit is in must not change with a public table: a boolean has two values, of which that leaves some.
	flags := strings.Replace(strings.Replace(originPolicy, "COLUMN", "{type: boolean, values_from: regions.flag}", 1),
		"number: {type: integer}", "flag: {type: boolean}", 1)
	if _, err := Decode([]byte(flags), "."); err != nil {
		t.Error(err)
	}
	if _, err := Decode(
		[]byte(strings.Replace(flags, "rows_per_unit: 2", "rows_per_unit: 2\n    part: {column: region}", 1)),
		"."); err == nil || !strings.Contains(err.Error(), "the parts must be fixed") {
		t.Errorf("of a part: %v", err)
	}
	public := strings.Replace(originPolicy, "number: {type: integer}",
		"number: {type: text, values_from: regions.region}", 1)
	if _, err := Decode([]byte(strings.Replace(public, "COLUMN", "{type: text}", 1)), "."); err != nil {
		// for questions that group by it, joined
		t.Errorf("of a public table: %v", err)
	}
}
