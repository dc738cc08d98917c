package plan_test

import (
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

const clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"

// Under a zCDP budget, OPTIONS(epsilon = E) is charged ρ = E²/2, all of it and no δ, as --epsilon E is. A price above
// the policy's maximum is refused, and never reduced.
func TestEpsilonOptionUnderZCDP(t *testing.T) {
	p := zcdpPolicy(t, "add-remove")
	for option, rho := range map[string]string{"0.4": "0.08", "1": "0.5", "1/2": "0.125", "2": "2", "(0.1 + 0.3) * 5": "2", "2 - (1.5 - 0.5)": "0.5"} {
		for _, sql := range []string{
			"COUNT(*) FROM visits", "department, COUNT(*), SUM(cost) FROM visits GROUP BY department", "AVG(cost) FROM visits",
			"MEDIAN(cost), COUNT(*) FROM visits",
		} {
			q, err := plan.Build(p, plan.Request{SQL: clause + "(epsilon=" + option + ", delta=1e-9) " + sql})
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			r, delta := q.Price.ZCDP()
			if r.String() != rho || !delta.IsZero() {
				t.Errorf("epsilon=%s is charged ρ = %s, δ = %s, not ρ = %s", option, r, delta, rho)
			}
		}
	}
	for _, tooMuch := range []string{"5.1", "100"} {
		_, err := plan.Build(p, plan.Request{SQL: clause + "(epsilon=" + tooMuch + ") COUNT(*) FROM visits"})
		if err == nil || !strings.Contains(err.Error(), "maximum") {
			t.Errorf("epsilon=%s: %v", tooMuch, err)
		}
	}
}

// max_groups_contributed=NULL needs a bound on rows. Every unit has one: a policy without rows_per_unit is refused, and
// no question raises its number.
func TestUnlimitedGroupsNeedABoundOnRows(t *testing.T) {
	for sql, rows := range map[string]int64{
		clause + "(max_groups_contributed=NULL) department, COUNT(*) FROM visits GROUP BY department":                         12,
		clause + "(max_groups_contributed=NULL, max_rows_contributed=3) department, COUNT(*) FROM visits GROUP BY department": 3,
		clause + "(max_groups_contributed=NULL, max_rows_contributed=99) COUNT(*) FROM visits":                                12,
		clause + "(max_groups_contributed=NULL) department, SUM(cost) FROM visits GROUP BY department":                        12,
	} {
		q, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql})
		if err != nil || q.Caps.Rows != rows || q.Caps.Groups != 0 {
			t.Errorf("%s: %v, %v", sql, q, err)
		}
	}
	without := strings.NewReplacer("NEIGHBOURS", "add-remove", "rows_per_unit: 12", "expected_rows: 12").Replace(town)
	if _, err := policy.Decode([]byte(without), "."); err == nil || !strings.Contains(err.Error(), "rows_per_unit") {
		t.Errorf("a unit's rows need a bound: %v", err)
	}
}

// AVG with bounds per group has the plan of the same question with a subquery that averages each unit's rows first.
func TestAverageOfUnitAverages(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for _, c := range []struct {
		sql, same string
		rows      int64
	}{
		{
			"(max_groups_contributed=2) department, AVG(cost, contribution_bounds_per_group => (0, 200)) FROM visits GROUP BY department",
			"SELECT d, AVG(a, bounds => (0, 200)) FROM (SELECT person, department AS d, AVG(cost) AS a FROM visits GROUP BY person, department) q GROUP BY d",
			2,
		},
		{
			"(privacy_unit_column=visits.person) AVG(days, contribution_bounds_per_group => (0, 5)) AS m FROM visits WHERE cost > 3",
			"SELECT AVG(a, bounds => (0, 5)) AS m FROM (SELECT person, AVG(days) AS a FROM visits WHERE cost > 3 GROUP BY person) q",
			1,
		},
		{
			"(epsilon=1, max_groups_contributed=3) FLOOR(days / 10) * 10 AS d, AVG(cost, contribution_bounds_per_group => (0, 200)) AS mean, " +
				"COUNT(*, contribution_bounds_per_group => (0, 4)) AS n, SUM(v.days, contribution_bounds_per_group => (0, 9)) / 2 " +
				"FROM visits v WHERE department = 'a' GROUP BY d HAVING mean > 3 ORDER BY n DESC, FLOOR(days / 10) * 10 LIMIT 3",
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) d, AVG(a, bounds => (0, 200)) AS mean, SUM(c, bounds => (0, 4)) AS n, " +
				"SUM(s, bounds => (0, 9)) / 2 FROM (SELECT person, FLOOR(days / 10) * 10 AS d, AVG(cost) AS a, COUNT(*) AS c, SUM(days) AS s " +
				"FROM visits WHERE department = 'a' GROUP BY person, 2) q GROUP BY d HAVING mean > 3 ORDER BY n DESC, d LIMIT 3",
			3,
		},
		{
			"(max_groups_contributed=NULL) department, AVG(cost, contribution_bounds_per_group => (0, 200), epsilon => 0.5) FROM visits GROUP BY 1",
			"SELECT d, AVG(a, bounds => (0, 200), epsilon => 0.5) FROM (SELECT person, department AS d, AVG(cost) AS a FROM visits GROUP BY person, department) q GROUP BY d",
			6,
		},
	} {
		a, err := plan.Build(p, plan.Request{SQL: clause + c.sql})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		b, err := plan.Build(p, plan.Request{SQL: c.same, MaxRows: c.rows})
		if err != nil {
			t.Fatal(err)
		}
		if a.Canonical(1) != b.Canonical(1) {
			t.Errorf("%s\n%s\nis not\n%s", c.sql, a.Canonical(1), b.Canonical(1))
		}
		if len(a.Outputs) != len(b.Outputs) || len(a.Order) != len(b.Order) || (a.Having == nil) != (b.Having == nil) {
			t.Errorf("%s has other columns than %s", c.sql, c.same)
		}
		for i := range a.Outputs {
			if strings.Contains(a.Outputs[i].Name, "\x00") || strings.Contains(strings.Join(a.Notes, " "), "\x00") {
				t.Errorf("%s shows a hidden name: %q, %q", c.sql, a.Outputs[i].Name, a.Notes)
			}
		}
	}
	for sql, want := range map[string]string{
		"(max_groups_contributed=2) department, AVG(cost, contribution_bounds_per_group => (0, 2)), COUNT(*) FROM visits GROUP BY 1":     "the other aggregates need",
		"(max_groups_contributed=2) department, AVG(cost, contribution_bounds_per_group => (0, 2)), MEDIAN(cost) FROM visits GROUP BY 1": "the other aggregates need",
		"(max_rows_contributed=2) department, AVG(cost, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY 1":                 "a bound on rows and an average",
		"(max_rows_contributed=auto) department, AVG(cost, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY 1":              "a bound on rows and an average",
		"(epsilon=1) department, AVG(cost, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY ROLLUP (department)":            "takes no grouping sets",
		"(privacy_unit_column=department) AVG(cost, contribution_bounds_per_group => (0, 2)) FROM visits":                                `the unit of table "visits" is "person"`,
		"(privacy_unit_column=people.person) AVG(cost, contribution_bounds_per_group => (0, 2)) FROM visits":                             `there is no table "people"`,
		"(epsilon=1) cost, AVG(days, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY department":                           "column",
		"(epsilon=1) department, AVG(DISTINCT days, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY department":            "",
		"(epsilon=1) person, AVG(days, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY person":                             "",
		"(epsilon=1) AVG(days, contribution_bounds_per_group => (0, 2)) OVER () FROM visits":                                             "",
		"(epsilon=1) department, AVG(days, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY department HAVING k > 3":        `there is no column "k"`,
		"(epsilon=1) AVG(note, contribution_bounds_per_group => (0, 2)) FROM visits":                                                     `there is no column "note"`,
		"(epsilon=1) AVG(AVG(days), contribution_bounds_per_group => (0, 2)) FROM visits":                                                "",
	} {
		_, err := plan.Build(p, plan.Request{SQL: clause + sql})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error()+hintOf(err), "\x00") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A bound on rows narrows the bounds of COUNT(*) in a question without groups. Beside other aggregates, and in groups,
// the two exclude each other.
func TestRowsAndBoundsPerGroup(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for sql, same := range map[string]string{
		"(max_rows_contributed=5) COUNT(*, contribution_bounds_per_group => (0, 3)) FROM visits":                              "(0, 3)",
		"(max_rows_contributed=5) COUNT(*, contribution_bounds_per_group => (0, 9)) FROM visits WHERE cost > 3":               "(0, 5)",
		"(max_rows_contributed=2) COUNT(*, contribution_bounds_per_group => (4, 9)), COUNT(DISTINCT person) FROM visits":      "(4, 4)",
		"(max_rows_contributed=99) COUNT(*, contribution_bounds_per_group => (1, 7)) FROM visits":                             "(1, 7)",
		"(max_rows_contributed=5, max_groups_contributed=NULL) COUNT(*, contribution_bounds_per_group => (0, 9)) FROM visits": "(0, 5)",
	} {
		a, err := plan.Build(p, plan.Request{SQL: clause + sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		_, rest, _ := strings.Cut(sql, ")")
		before, rest, _ := strings.Cut(rest, "=> (")
		_, after, _ := strings.Cut(rest, ")")
		b, err := plan.Build(p, plan.Request{SQL: "SELECT" + before + "=> " + same + after})
		if err != nil {
			t.Fatal(err)
		}
		if a.Canonical(1) != b.Canonical(1) {
			t.Errorf("%s\n%s\nis not\n%s", sql, a.Canonical(1), b.Canonical(1))
		}
	}
	for _, sql := range []string{
		"department, COUNT(*, contribution_bounds_per_group => (0, 3)) FROM visits GROUP BY department",
		"COUNT(cost, contribution_bounds_per_group => (0, 3)) FROM visits",
		"SUM(days, contribution_bounds_per_group => (0, 3)) FROM visits",
		"COUNT(*, contribution_bounds_per_group => (0, 3)), SUM(days) FROM visits",
		"department, COUNT(*, contribution_bounds_per_group => (0, 3)) FROM visits GROUP BY ROLLUP (department)",
	} {
		_, err := plan.Build(p, plan.Request{SQL: clause + "(max_rows_contributed=5) " + sql})
		if err == nil || !strings.Contains(err.Error(), "exclude each other, except for COUNT(*) without groups") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// The clamped count of a unit's first rows is the clamped count of all its rows, under narrower bounds.
func TestClampedCountsOfFirstRows(t *testing.T) {
	clamp := func(x, l, h int) int { return max(l, min(x, h)) }
	for n := 1; n < 12; n++ {
		for rows := 1; rows < 12; rows++ {
			for l := -2; l < 12; l++ {
				for h := l; h < 12; h++ {
					if a, b := clamp(min(n, rows), l, h), clamp(n, l, max(l, min(h, rows))); a != b {
						t.Fatalf("n = %d, R = %d, [%d, %d]: %d, not %d", n, rows, l, h, b, a)
					}
				}
			}
		}
	}
}

// With bounds per group and max_groups_contributed=NULL, a unit counts in as many groups as the policy lets it have rows, or
// in all groups if these are fewer. Its bounds per group then bound all that it adds.
func TestUnlimitedGroupsWithBoundsPerGroup(t *testing.T) {
	for rest, l1 := range map[string]string{
		"department, SUM(cost, contribution_bounds_per_group => (0, 50)) FROM visits GROUP BY department":          "250",
		"department, COUNT(*, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY department":            "10",
		"department, days, COUNT(cost, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY 1, 2":         "24",
		"SUM(days, contribution_bounds_per_group => (0, 3)) FROM visits":                                           "3",
		"department, SUM(days, contribution_bounds_per_group => (-1, 3)), COUNT(*) FROM visits GROUP BY ROLLUP(1)": "",
	} {
		q, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: clause + "(max_groups_contributed=NULL) " + rest})
		if err != nil {
			t.Errorf("%s: %v", rest, err)
			continue
		}
		if cells := int64(q.Cells()); q.Caps.Rows != 0 || q.Caps.Groups != min(12, cells) {
			t.Errorf("%s: %v of %d cells", rest, q.Caps, cells)
		}
		if m := q.Measures[0]; l1 != "" && m.Units(m.L1).RatString() != l1 {
			t.Errorf("%s: a unit moves it by %s, not %s", rest, m.Units(m.L1).RatString(), l1)
		}
	}
}
