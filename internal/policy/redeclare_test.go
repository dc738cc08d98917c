package policy

import (
	"strings"
	"testing"
)

const redeclared = `version: 1 # kept
population: {name: clinic}
budget: {epsilon: 3}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 20   # five waves
    max_rows_per_group: 9
    columns:
      person: {type: integer}
      größe: {type: real, bounds: ["0", 5000], description: "a, b"} # in cm
      age:
        # years
        type: integer # whole
        nullable: true
      day:
        type: date
        bounds:
          - 2020-01-01
          - 2026-12-31
      at: {type: timestamp}
      "q*": {names: q1..q3, type: integer, bounds: [0, 10]}
  others: {source: {csv: others.csv}, unit: person, rows_per_unit: 3, columns: {person: {type: integer}, x: {type: real}}}
`

// New declarations are written into flow and block entries, beside what stands there, and nothing else changes.
func TestRedeclare(t *testing.T) {
	text, lines, err := Redeclare([]byte(redeclared), t.TempDir(), []Redeclared{
		{Table: "visits", RowsPerUnit: 8, MaxGroups: 4, Bounds: map[string][2]string{
			"größe": {"-1.5", "1e9"}, "age": {"0", "99"}, "day": {"2021-01-01", "2021-12-31"},
			"at": {"2024-01-01 00:00:00", "2024-12-31 23:59:59.5"},
		}},
		{Table: "others", RowsPerUnit: 7, MaxGroups: 2, Bounds: map[string][2]string{"x": {"0", "1"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"rows_per_unit: 20   # five waves", "rows_per_unit: 8\n    max_groups: 4   # five waves",
		"max_rows_per_group: 9", "max_rows_per_group: 8",
		`bounds: ["0", 5000]`, "bounds: [-1.5, 1e9]",
		"type: integer # whole", "type: integer\n        bounds: [0, 99] # whole",
		"2020-01-01", "2021-01-01", "2026-12-31", "2021-12-31",
		"at: {type: timestamp}", `at: {type: timestamp, bounds: ["2024-01-01 00:00:00", "2024-12-31 23:59:59.5"]}`,
		"rows_per_unit: 3, ", "rows_per_unit: 7, max_groups: 2, ", "x: {type: real}", "x: {type: real, bounds: [0, 1]}",
	).Replace(redeclared)
	if string(text) != want {
		t.Errorf("the new text:\n%s", text)
	}
	if len(lines) != 8 || lines[0].Number != 8 || len(lines[0].New) != 2 || lines[0].Old != "    rows_per_unit: 20   # five waves" {
		t.Errorf("%d lines: %+v", len(lines), lines)
	}
	for name, c := range map[string]Redeclared{
		"no such table":  {Table: "none", RowsPerUnit: 1},
		"no such column": {Table: "visits", Bounds: map[string][2]string{"none": {"0", "1"}}},
		"a pattern":      {Table: "visits", Bounds: map[string][2]string{"q2": {"0", "1"}}},
		"bad bounds":     {Table: "visits", Bounds: map[string][2]string{"age": {"2", "1"}}},
		"too many":       {Table: "visits", MaxGroups: 30},
	} {
		if _, _, err := Redeclare([]byte(redeclared), t.TempDir(), []Redeclared{c}); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if _, lines, err := Redeclare([]byte(redeclared), t.TempDir(), nil); err != nil || len(lines) > 0 {
		t.Errorf("no change: %v, %v", lines, err)
	}
}

// A policy without declared bounds has their units, budget and digest, whatever bounds the policy declares.
func TestUndeclared(t *testing.T) {
	decoded := func(text string) *Policy {
		t.Helper()
		p, err := Decode([]byte(text), "/home")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := decoded(redeclared)
	u := p.Undeclared()
	if v := u.Table("visits"); v.Unit.RowsPerUnit != 1000 || v.Unit.MaxGroups != 1000 || v.Stored() != 1000 || v.Column("größe").Lower != nil {
		t.Errorf("%+v", v.Unit)
	}
	if v := p.Table("visits"); v.Unit.RowsPerUnit != 20 || v.Column("größe").Lower == nil {
		t.Error("the policy itself has changed")
	}
	other := decoded(strings.NewReplacer("5000", "70", "rows_per_unit: 20", "rows_per_unit: 30", "2026", "2025", "[0, 10]", "[0, 9]").Replace(redeclared)).Undeclared()
	if u.Digest() == p.Digest() || u.Digest() != other.Digest() || u.Undeclared().Digest() != u.Digest() {
		t.Errorf("digests %s, %s, %s", p.Digest(), u.Digest(), other.Digest())
	}
	if decoded(strings.Replace(redeclared, "epsilon: 3", "epsilon: 2", 1)).Undeclared().Digest() == u.Digest() {
		t.Error("another budget has the same digest")
	}
}
