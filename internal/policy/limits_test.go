package policy_test

import (
	"strings"
	"testing"

	"dither/internal/policy"
)

const limited = `version: 1
population: {name: p}
budget: {epsilon: 2}
tables:
  t:
    source: {csv: t.csv}
    unit: id
    rows_per_unit: 4
    columns: {id: {type: integer}}
  r: {source: {csv: r.csv}, unit: row, columns: {x: {type: integer}}}
  d: {public: true, source: {csv: d.csv}, columns: {z: {type: text}}}
`

// What is stored of a unit, and what it may cost, have defaults that follow from the policy alone; written out they
// mean the same.
func TestLimits(t *testing.T) {
	with := func(table, limits string) string {
		return strings.Replace(strings.Replace(limited, "rows_per_unit: 4", "rows_per_unit: 4"+table, 1), "tables:",
			limits+"tables:", 1)
	}
	p := decode(t, limited)
	want := p.Digest()
	if p.Table("t").Stored() != 1000 || p.Table("r").Stored() != 1 || p.Table("d").Stored() != 0 ||
		p.MostUnitCost() != policy.LeastUnitCost {
		t.Error(p.Table("t").Stored(), p.Table("r").Stored(), p.Table("d").Stored(), p.MostUnitCost())
	}
	for rows, stored := range map[string]int64{
		"100": 1000, "101": 1010, "99999": 999990, "1000000": 1000000, "4\n    stored_rows_per_unit: 2000000": 2000000,
	} {
		q := decode(t, strings.Replace(limited, "rows_per_unit: 4", "rows_per_unit: "+rows, 1))
		if got := q.Table("t").Stored(); got != stored || q.MostUnitCost() != max(policy.LeastUnitCost, 10_000*stored) {
			t.Errorf("rows_per_unit %s: %d stored, limit %d", rows, got, q.MostUnitCost())
		}
	}
	for _, same := range []string{
		with("\n    stored_rows_per_unit: 1000", ""),
		with("", "limits: {unit_cost: 3000000000}\n"), with("", "limits: {unit_cost: 7}\n"),
	} {
		if got := decode(t, same).Digest(); got != want {
			t.Errorf("another digest:\n%s", same)
		}
	}
	for _, other := range []string{
		with("\n    stored_rows_per_unit: 4", ""),
		with("\n    stored_rows_per_unit: 1000000000", ""),
	} {
		if decode(t, other).Digest() == want {
			t.Errorf("the same digest:\n%s", other)
		}
	}
	if q := decode(t, with("\n    stored_rows_per_unit: 1e6",
		"limits:\n  unit_cost: \"7\"\n")); q.Table("t").Stored() != 1_000_000 || q.MostUnitCost() != 7 {
		t.Error(q.Table("t").Stored(), q.MostUnitCost())
	}
}

// Limits that mean nothing are refused by name and line.
func TestBadLimits(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: 3", "must be at least rows_per_unit, 4, found 3"},
		{"rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: 0", "must be between 1 and 1000000000"},
		{"rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: 1e99", "number out of range"},
		{"rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: 4.5", "a whole number"},
		{"rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: all", "a whole number"},
		{"unit: row,", "unit: row, stored_rows_per_unit: 5,", "if each row is a unit, a unit has one row"},
		{"public: true,", "public: true, stored_rows_per_unit: 5,", "a public table has no privacy unit"},
		{"tables:", "limits: {unit_cost: -1}\ntables:", "must be between 1 and 1000000000000000"},
		{"tables:", "limits: {unit_cost: 1e16}\ntables:", "must be between 1 and 1000000000000000"},
		{"tables:", "limits: {unit_costs: 1}\ntables:", "did you mean unit_cost?"},
		{"tables:", "limits: 7\ntables:", "expected keys and values"},
		{"tables:", "limits:\ntables:", "expected keys and values"},
	} {
		text := strings.Replace(limited, c.old, c.new, 1)
		if _, err := policy.Decode([]byte(text), "."); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}
