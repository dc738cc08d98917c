package plan_test

import (
	"slices"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// The groups of a truncated date are the beginnings that its bounds allow, and those of a part of a date the parts.
func TestCalendarKeys(t *testing.T) {
	p, err := policy.Decode([]byte(`
version: 1
population: {name: calendar}
budget: {epsilon: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      day: {type: date, bounds: [2024-11-15, 2026-01-01]}
      ever: {type: date}
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]string{
		"date_trunc('year', day)":        "2024-01-01 2025-01-01 2026-01-01",
		"date_trunc('quarter', day)":     "2024-10-01 2025-01-01 2025-04-01 2025-07-01 2025-10-01 2026-01-01",
		"EXTRACT(year FROM day)":         "2024 2025 2026",
		"EXTRACT(quarter FROM day)":      "1 2 3 4",
		"date_part('DOW', ever)":         "0 1 2 3 4 5 6",
		"EXTRACT(isodow FROM ever)":      "1 2 3 4 5 6 7",
		"date_trunc('month', day) < day": "false true",
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t GROUP BY " + group})
		if err != nil {
			t.Errorf("%s: %v", group, err)
			continue
		}
		var got []string
		for _, v := range q.Keys[0].Values {
			got = append(got, v.String())
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", group, text, want)
		}
	}
	// Of all dates there are too many weeks, and not too many years.
	if _, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t GROUP BY date_trunc('week', ever)"}); err == nil {
		t.Error("half a million weeks were admitted as groups")
	}
	q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t GROUP BY date_trunc('year', ever)"})
	if err != nil || len(q.Keys[0].Values) != 9999 {
		t.Errorf("years: %v", err)
	}
}

// Every day's beginning of a unit is a day of that unit, is its own beginning, and its list has it.
func TestDateTrunc(t *testing.T) {
	for _, unit := range value.DateUnits {
		last, count := int64(value.MinDay-8), 0
		for day := int64(value.MinDay); day <= value.MaxDay; day += 3 {
			begin := value.DateTrunc(unit, day)
			if begin > day || begin < value.MinDay || value.DateTrunc(unit, begin) != begin || begin < last {
				t.Fatalf("%s of day %d begins on %d", unit, day, begin)
			}
			if begin != last {
				last = begin
				count++
			}
		}
		if !slices.Contains([]int{9999, 4 * 9999, 12 * 9999, (value.MaxDay - value.MinDay + 3) / 7, (value.MaxDay-value.MinDay)/3 + 1}, count) {
			t.Errorf("%d of %s", count, unit)
		}
	}
}
