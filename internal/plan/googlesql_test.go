package plan_test

import (
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

const clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"

// Under a zCDP budget, OPTIONS(epsilon = E) is charged ρ = E²/2, all of it and no δ, as --epsilon E is. A price above the
// policy's maximum is refused, and never reduced.
func TestEpsilonOptionUnderZCDP(t *testing.T) {
	p := zcdpPolicy(t, "add-remove")
	for option, rho := range map[string]string{"0.4": "0.08", "1": "0.5", "1/2": "0.125", "2": "2"} {
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
