package plan_test

import (
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

const calls = `
version: 1
population: {name: calls, neighbours: add-remove}
budget: {BUDGET}
price: {default: 1}
tables:
  calls:
    source: {csv: calls.csv}
    unit: person
    rows_per_unit: 50
    max_groups: 40
    columns:
      person: {type: integer}
      day: {type: date, bounds: [2015-01-01, 2025-12-31]}
      born: {type: date}
      branch: {type: integer, bounds: [1, 60], nullable: true}
      minutes: {type: real, bounds: [0, 100]}
      placed: {type: timestamp, bounds: [2015-01-01, 2025-12-31]}
      second: {type: integer, bounds: [1420070400, 1767225599]}
`

func callsPolicy(t testing.TB, budget string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(strings.Replace(calls, "BUDGET", budget, 1)), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A question that would have too many groups, or unknown ones, is planned over the values that WHERE leaves. Every other
// question measures all known groups, so that releases of it replay.
func TestWhereMakesRoomForGroups(t *testing.T) {
	p := callsPolicy(t, "epsilon: 10")
	for _, c := range []struct {
		rest          string
		cells, groups int // what is measured, and in how many of these groups one person counts
	}{
		{"WHERE day >= '2025-01-01' GROUP BY day", 4018, 40},
		{"WHERE day >= '2025-12-30' GROUP BY day", 4018, 40},
		{"WHERE day >= '2025-01-01' AND branch <= 9 GROUP BY day, branch", 365 * 9, 40},
		{"WHERE day >= '2025-12-30' AND branch IN (3, 4) GROUP BY day, branch", 4, 4},
		{"WHERE born BETWEEN '2000-01-01' AND '2000-01-31' GROUP BY born", 31, 31},
		{"WHERE born >= '1900-01-01' AND born < '2000-01-01' GROUP BY date_trunc('month', born)", 1200, 40},
		{"WHERE born >= '2000-01-01' AND born < '2000-03-01' GROUP BY ROLLUP (born, branch)", 60 * 61, 40},
	} {
		sql := "SELECT COUNT(DISTINCT person), AVG(minutes) FROM calls " + c.rest
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", c.rest, err)
			continue
		}
		if n := q.Cells(); n != c.cells || q.Caps.Groups != int64(c.groups) {
			t.Errorf("%s: %d groups are measured, and one person counts in %d: want %d, %d", c.rest, n, q.Caps.Groups, c.cells, c.groups)
		}
	}
	for rest, want := range map[string]string{
		"GROUP BY day, branch":                              "the answer would have more than 100000 cells",
		"WHERE minutes > 3 GROUP BY day, branch":            "the answer would have more than 100000 cells",
		"WHERE FALSE GROUP BY day, branch":                  "the answer would have more than 100000 cells",
		"WHERE born >= '1950-01-01' GROUP BY born":          "the possible values of this GROUP BY expression are not known beforehand",
		"WHERE minutes = 3 OR minutes = 4 GROUP BY minutes": "the possible values of this GROUP BY expression are not known beforehand",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM calls " + rest}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rest, err)
		}
	}
}

// Under a budget for selection, a key without known values stays unknown, unless the question asks for public groups.
func TestUnknownKeysStayUnknown(t *testing.T) {
	p := callsPolicy(t, "epsilon: 10, delta: 1e-6, selection_delta: 5e-7")
	rest := " COUNT(*) FROM calls WHERE born BETWEEN '2000-01-01' AND '2000-01-31' GROUP BY born"
	q, err := plan.Build(p, plan.Request{SQL: "SELECT" + rest})
	if err != nil || !q.Open() {
		t.Errorf("%v, %v", q, err)
	}
	q, err = plan.Build(p, plan.Request{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS)" + rest})
	if err != nil || q.Open() || q.Cells() != 31 {
		t.Errorf("%v, %v", q, err)
	}
}

// Under a budget for selection, a key of columns with bounds has the values that WHERE leaves, unless the question asks for
// a selection, another key is unknown, or too many remain.
func TestDeclaredKeysOfWhereAreKnown(t *testing.T) {
	p := callsPolicy(t, "epsilon: 10, delta: 1e-6, selection_delta: 5e-7")
	const day = " WHERE placed BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-01T23:59:59.999Z'"
	for _, c := range []struct {
		keys, where string
		unknown     plan.Unknown
		cells       int // 0 if the keys are unknown
	}{
		{keys: "date_trunc('hour', placed)", where: day, cells: 24},
		{keys: "floor(extract(epoch FROM placed) / 900) * 900, branch", where: day, cells: 96 * 61},
		{keys: "date_trunc('hour', placed) + INTERVAL '15 minutes' * FLOOR(EXTRACT(minute FROM placed) / 15)", where: day, cells: 24 * 4},
		{keys: "FLOOR(second / 300) * 300", where: " WHERE second >= 1740787200 AND second <= 1740873599", cells: 288},
		{keys: "FLOOR(second / 300) * 300"},
		{keys: "date_trunc('hour', placed)"},
		{keys: "date_trunc('hour', placed), born", where: day},
		{keys: "date_trunc('hour', placed)", where: day, unknown: plan.Unknown{Other: true}},
		{keys: "date_trunc('hour', placed)", where: day, unknown: plan.Unknown{MinUnits: 5}},
		{keys: "date_trunc('hour', placed)", where: day, unknown: plan.Unknown{Delta: mustDelta(t, "1e-8")}},
	} {
		sql := "SELECT COUNT(*) FROM calls" + c.where + " GROUP BY " + c.keys
		q, err := plan.Build(p, plan.Request{SQL: sql, Unknown: c.unknown})
		if err != nil || q.Open() != (c.cells == 0) || !q.Open() && q.Cells() != c.cells {
			t.Errorf("%s %+v: %v", sql, c.unknown, err)
		}
	}
}
