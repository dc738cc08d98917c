package plan_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/query"
	"dither/privacy"
)

// foundAnything is a plan within bounds that its searches could have found, or that no search could: the sensitivity
// must hold for all of them.
func foundAnything(t *rapid.T, p *plan.Plan) *plan.Plan {
	if len(p.Searches) == 0 {
		return p
	}
	var lower, upper []*big.Int
	for range p.Measures {
		end := func() *big.Int {
			n := big.NewInt(rapid.Int64Range(-64, 64).Draw(t, "bound"))
			return n.Lsh(n, uint(rapid.IntRange(0, 60).Draw(t, "scale")))
		}
		lower, upper = append(lower, end()), append(upper, end())
	}
	found, err := p.Found(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// searchesStayWithin checks a search's histogram: of values, and so of any bins of them.
func searchesStayWithin(t *rapid.T, s *plan.Search, before, after []enginetest.Row) {
	moved := enginetest.Order(&s.Look, before)
	for v, n := range enginetest.Order(&s.Look, after) {
		moved[v] -= n
	}
	l1, l2squared := int64(0), int64(0)
	for v, n := range moved {
		if v < s.Outer().Lo || v > s.Outer().Hi {
			t.Fatalf("%s: %d lies outside", s, v)
		}
		l1, l2squared = l1+max(n, -n), l2squared+n*n
	}
	if s.Histogram.L1.Cmp(big.NewInt(l1)) < 0 || s.Histogram.L2Squared.Cmp(big.NewInt(l2squared)) < 0 {
		t.Fatalf("%s moves by %d, squared L2 %d; planned %s, %s", s, l1, l2squared, s.Histogram.L1, s.Histogram.L2Squared)
	}
}

const dp = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"

// GoogleSQL's clause: what is accepted, with what it comes to, and what is refused.
func TestOptionsAccepted(t *testing.T) {
	for sql, want := range map[string]string{
		dp + "(epsilon=2) COUNT(*) FROM people":                                                                                                  "ε = 2",
		dp + "(EPSILON=2, delta=1e-6) COUNT(*) FROM people":                                                                                      "ε = 2",
		dp + "(epsilon=1/2, max_groups_contributed=NULL) COUNT(*) FROM visits":                                                                   "ε = 0.5, 12 rows",
		dp + "(epsilon=1+2*.5-1.5, max_groups_contributed=NULL, max_rows_contributed=2) COUNT(*) FROM visits":                                    "ε = 0.5, 2 rows",
		dp + "(epsilon=0.5, delta=0, max_groups_contributed=NULL) COUNT(*) FROM people":                                                          "ε = 0.5",
		dp + "(epsilon=.5, max_groups_contributed=2) race, COUNT(*) FROM people GROUP BY race":                                                   "ε = 0.5",
		"SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM people":                                                                                  "ε = 1",
		"SELECT WITH ANONYMIZATION OPTIONS(epsilon=2, kappa=2) ANON_COUNT(*), ANON_SUM(days) FROM visits":                                        "ε = 2, 12 rows",
		dp + "(epsilon=1, privacy_unit_column=person) COUNT(*) FROM visits":                                                                      "ε = 1, 12 rows",
		dp + "(epsilon=1, privacy_unit_column=visits.person, max_rows_contributed=3) COUNT(*) FROM visits":                                       "ε = 1, 3 rows",
		dp + "(epsilon=1, max_rows_contributed=300) COUNT(*) FROM visits":                                                                        "ε = 1, 12 rows",
		dp + "(epsilon=1, max_rows_contributed=2) department, COUNT(DISTINCT person) FROM visits GROUP BY department":                            "ε = 1, 2 groups, 12 rows worth in each",
		dp + "(epsilon=1, max_groups_contributed=2) department, COUNT(DISTINCT person) FROM visits GROUP BY department":                          "ε = 1, 2 groups, 12 rows worth in each",
		dp + "(epsilon=1, group_selection_strategy=PUBLIC_GROUPS) race, COUNT(*) FROM people GROUP BY race":                                      "ε = 1",
		dp + "(epsilon=1, group_selection_strategy='laplace_threshold', min_privacy_units_per_group=1) race, COUNT(*) FROM people GROUP BY race": "ε = 1",
		dp + "(target_relative_error=0.05) COUNT(*) FROM people":                                                                                 "ε = 1, within 1/20",
		dp + "(epsilon=1) department, SUM(days, contribution_bounds_per_group => (0, 20)) FROM visits GROUP BY department":                       "ε = 1, 3 groups, 12 rows worth in each",
	} {
		p, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		got := p.Price.String()
		if p.Unit != nil {
			got += ", " + p.Caps.String()
		}
		if p.TargetError != nil {
			got += ", within " + p.TargetError.RatString()
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

func TestOptionsAreRefused(t *testing.T) {
	const n = " COUNT(*) FROM people"
	for sql, want := range map[string]string{
		dp + "(epsilon=1, epsilon=2)" + n:                                 "1:53: the option epsilon is given twice",
		dp + "(epsylon=1)" + n:                                            "1:42: there is no option epsylon; did you mean epsilon?",
		dp + "(sigma=1)" + n:                                              "1:42: there is no option sigma",
		dp + "(kappa=1)" + n:                                              "1:42: there is no option kappa",
		dp + "(epsilon=1e20)" + n:                                         "1:50: an epsilon above 1000 is not supported",
		dp + "(epsilon=6)" + n:                                            "a price of ε = 6 is above the policy's maximum",
		dp + "(epsilon=0)" + n:                                            "1:50: an epsilon is a number above 0",
		dp + "(epsilon=-1)" + n:                                           "1:50: an epsilon is a number above 0",
		dp + "(epsilon=NULL)" + n:                                         "1:50: an epsilon is a number above 0",
		dp + "(epsilon=inf)" + n:                                          "1:50: an epsilon is a number above 0",
		dp + "(epsilon=nan)" + n:                                          "1:50: an epsilon is a number above 0",
		dp + "(epsilon='1')" + n:                                          "1:50: an epsilon is a number above 0",
		dp + "(delta=-1e-9)" + n:                                          "1:48: a delta is a number from 0 to 1",
		dp + "(delta=1.5)" + n:                                            "1:48: a delta is a number from 0 to 1",
		dp + "(max_groups_contributed=0)" + n:                             "1:65: max_groups_contributed is a whole number",
		dp + "(max_groups_contributed=1.5)" + n:                           "1:65: max_groups_contributed is a whole number",
		dp + "(epsilon=1/3) COUNT(*) FROM people":                         "1:51: an epsilon is exact, and this value is no finite decimal; write the decimal itself, such as 0.33",
		dp + "(max_groups_contributed=1, max_rows_contributed=1)" + n:     "1:68: max_groups_contributed and max_rows_contributed exclude each other",
		dp + "(privacy_unit_column=age)" + n:                              "1:62: in table \"people\" each row is one unit",
		dp + "(privacy_unit_column=x.person) COUNT(*) FROM visits":        "1:62: there is no table \"x\" in this question",
		dp + "(privacy_unit_column=visits.person) COUNT(*) FROM visits v": "1:62: there is no table \"visits\" in this question",
		dp + "(privacy_unit_column=days) COUNT(*) FROM visits":            "1:62: the unit of table \"visits\" is \"person\"",
		dp + "(privacy_unit_column='person') COUNT(*) FROM visits":        "1:62: privacy_unit_column is a column's name",
		dp + "(group_selection_strategy=NONE)" + n:                        "1:67: group_selection_strategy is LAPLACE_THRESHOLD or PUBLIC_GROUPS",
		dp + "(group_selection_epsilon=0.1)" + n:                          "1:42: the share of the price for selecting groups cannot be set",

		dp + "(min_privacy_units_per_group=5) race, COUNT(*) FROM people GROUP BY race": "a least number of units applies to unknown keys",
		dp + "(target_relative_error=0)" + n:                                            "1:64: a relative error is a number above 0",
		dp + "(epsilon=1, target_relative_error=0.1)" + n:                               "1:53: epsilon and target_relative_error exclude each other",
		"SELECT WITH ANONYMIZATION OPTIONS(k_threshold=10)" + n:                         "1:35: a threshold cannot be set as a number",
		"SELECT WITH ANONYMIZATION OPTIONS(max_rows_contributed=10)" + n:                "1:35: there is no option max_rows_contributed",
		dp + "(epsilon=1) note, COUNT(*) FROM people GROUP BY note":                     "the possible values of this GROUP BY expression are not known",
		dp + "(epsilon=1) DISTINCT age FROM people":                                     "the question has no aggregate",
		dp + "(epsilon=1) COUNT(*) OVER () FROM people":                                 "window functions",
		dp + "(epsilon=1) AVG(DISTINCT age) FROM people":                                "only COUNT and SUM take DISTINCT",
	} {
		_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql})
		text := fmt.Sprint(err)
		var e *plan.Error
		if errors.As(err, &e) && e.Hint != "" {
			text += "; " + e.Hint
		}
		if !strings.Contains(text, want) || strings.HasPrefix(want, "1:") && !strings.HasPrefix(text, want) {
			t.Errorf("%s\ngot  %s\nwant %s", sql, text, want)
		}
	}
	two, _ := privacy.ParseEpsilon("2")
	request := plan.Request{SQL: dp + "(epsilon=2) COUNT(*) FROM people", Price: privacy.PureLoss(two)}
	if _, err := plan.Build(townPolicy(t, "add-remove"), request); err != nil {
		t.Error(err)
	}
	request.SQL = dp + "(epsilon=1) COUNT(*) FROM people"
	if _, err := plan.Build(townPolicy(t, "add-remove"), request); err == nil || !strings.Contains(err.Error(), "differs from the price given beside the question") {
		t.Error(err)
	}
}

// shares are the measures' and the searches' shares of the price, by name, and the price is their sum.
func shares(t *testing.T, p *plan.Plan) (out []string) {
	t.Helper()
	total := privacy.Loss{}
	for _, s := range p.Searches {
		out = append(out, "search "+s.Loss.String())
		total = total.Plus(s.Loss)
	}
	for _, m := range p.Measures {
		out = append(out, m.Name()+" "+m.Loss.String())
		total = total.Plus(m.Loss)
	}
	if !total.Within(p.Price) || !p.Price.Within(total) {
		t.Errorf("shares add up to %s, the price is %s", total, p.Price)
	}
	return out
}

func TestShares(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT COUNT(*), SUM(age) FROM people":                                           {"count ε = 0.5", "sum ε = 0.5"},
		"SELECT COUNT(*), SUM(age, weight => 3) FROM people":                              {"count ε = 0.25", "sum ε = 0.75"},
		"SELECT COUNT(*, weight => 0.5), SUM(age, weight => 1.5) FROM people":             {"count ε = 0.25", "sum ε = 0.75"},
		"SELECT COUNT(*, weight => 7) FROM people":                                        {"count ε = 1"},
		"SELECT COUNT(*, weight => 3), SUM(age) FROM people HAVING COUNT(*) > 5":          {"count ε = 0.75", "sum ε = 0.25"},
		"SELECT COUNT(*, epsilon => 0.1), SUM(age) FROM people":                           {"count ε = 0.1", "sum ε = 0.9"},
		"SELECT COUNT(*, epsilon => 0.1), SUM(age), AVG(height, weight => 2) FROM people": {"count ε = 0.1", "sum ε = 0.3", "sum ε = 0.3", "count ε = 0.3"},
		"SELECT COUNT(*, epsilon => 0.1), SUM(age, epsilon => 0.2) FROM people":           {"count ε = 0.1", "sum ε = 0.2"},
		"SELECT COUNT(*, epsilon => 1), SUM(age, epsilon => 2) FROM people":               {"count ε = 1", "sum ε = 2"},
		"SELECT SUM(age, bounds => auto) FROM people":                                     {"search ε = 0.5", "sum ε = 0.5"},
		"SELECT AVG(age, bounds => auto) FROM people":                                     {"search ε = 0.5", "sum ε = 0.25", "count ε = 0.25"},
		"SELECT COUNT(*), SUM(age, bounds => auto, weight => 3) FROM people":              {"search ε = 0.375", "count ε = 0.25", "sum ε = 0.375"},
		"SELECT AVG(age, bounds => auto), SUM(age, bounds => auto) FROM people":           {"search ε = 0.5", "count ε = 0.125", "sum ε = 0.125", "sum ε = 0.25"},
		dp + "(epsilon=2) COUNT(*), COUNT(age), COUNT(height), COUNT(voted) FROM people":  {"count ε = 0.5", "count ε = 0.5", "count ε = 0.5", "count ε = 0.5"},
		"SELECT VAR_POP(age, weight => 2), STDDEV_POP(age), COUNT(*) FROM people":         nil,
	} {
		p, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		got := shares(t, p)
		if want == nil {
			continue
		}
		sorted := cmp.Transformer("sorted", func(s []string) map[string]int {
			out := map[string]int{}
			for _, x := range s {
				out[x]++
			}
			return out
		})
		if diff := cmp.Diff(want, got, sorted); diff != "" {
			t.Errorf("%s\n%s", sql, diff)
		}
		if _, err := plan.Build(zcdpPolicy(t, "add-remove"), plan.Request{SQL: sql}); err != nil {
			t.Errorf("under zCDP: %s\n%v", sql, err)
		}
	}
}

func TestArgumentsAreRefused(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT COUNT(*, weight => 0) FROM people":                                                     "1:17: a weight is a number above 0",
		"SELECT COUNT(*, weight => 0.0001) FROM people":                                                "1:17: a weight is a number above 0",
		"SELECT COUNT(*, weight => 1e9) FROM people":                                                   "1:17: a weight is a number above 0",
		"SELECT COUNT(*, weight => auto) FROM people":                                                  "1:17: a weight is a number above 0",
		"SELECT COUNT(*, weight => 2, epsilon => 1) FROM people":                                       "1:30: an aggregate has a weight or an epsilon",
		"SELECT COUNT(*, weight => 2), COUNT(*, weight => 3) FROM people":                              "1:40: the same aggregate has two weights",
		"SELECT COUNT(*, epsilon => 1), SUM(age) FROM people":                                          "1:17: no part of the price is left",
		"SELECT COUNT(*, epsilon => 2), SUM(age) FROM people":                                          "1:17: the aggregates' own epsilons cost ε = 2, more than the question's price, ε = 1",
		"SELECT COUNT(*, epsilon => 4), SUM(age, epsilon => 4) FROM people":                            "a price of ε = 8 is above the policy's maximum",
		"SELECT COUNT(*, epsilon => 1e20) FROM people":                                                 "1:28: an epsilon above 1000",
		dp + "(epsilon=1) COUNT(*, epsilon => .7), SUM(age, epsilon => .7) FROM people":                "the aggregates' own epsilons cost ε = 1.4, more",
		"SELECT COUNT(*, wait => 2) FROM people":                                                       "1:17: there is no argument wait",
		"SELECT SUM(age, report_format => \"JSON\") FROM people":                                       "1:17: report_format is not supported: an aggregate returns one number",
		"SELECT COUNT(age, contribution_bounding_strategy => X) FROM people":                           "1:19: contribution_bounding_strategy is not supported",
		"SELECT SUM(age, bounds => (5, 1)) FROM people":                                                "1:17: the lower bound is above the upper one",
		"SELECT SUM(age, bounds => 5) FROM people":                                                     "1:17: bounds are two constant numbers",
		"SELECT SUM(age, bounds => (0, 5, 7)) FROM people":                                             "1:17: bounds are two constant numbers",
		"SELECT SUM(age, bounds => (0, NULL)) FROM people":                                             "1:17: bounds are two constant numbers",
		"SELECT SUM(age, bounds => (0, 5.5)) FROM people":                                              "1:17: the bounds of an integer are integers",
		"SELECT SUM(age, bounds => (200, 500)) FROM people":                                            "1:17: the bounds exclude all values: these lie between 0 and 115",
		"SELECT SUM(age, bounds => (0, 5), contribution_bounds_per_row => (0, 5)) FROM people":         "1:35: bounds and contribution_bounds_per_row set the same bounds",
		"SELECT COUNT(age, bounds => (0, 5)) FROM people":                                              "1:19: count has no single value to bound",
		"SELECT CORR(age, height, bounds => (0, 5)) FROM people":                                       "1:26: corr has no single value",
		"SELECT VAR_POP(age, bounds => auto) FROM people":                                              "1:21: bounds are found for SUM and AVG only",
		"SELECT SUM(serial, bounds => auto) FROM people":                                               "1:8: bounds => auto searches within outer bounds",
		"SELECT SUM(weight, bounds => auto) FROM people":                                               "1:8: bounds => auto searches within outer bounds",
		"SELECT COUNT(*, contribution_bounds_per_group => (2, 3)) FROM people":                         "1:17: each row is a unit here",
		"SELECT COUNT(DISTINCT days, contribution_bounds_per_group => (0, 1)) FROM visits":             "1:29: COUNT(DISTINCT …) takes no bounds per group",
		"SELECT SUM(days, contribution_bounds_per_group => (0, 5)), AVG(days) FROM visits":             "1:8: an average and bounds per group exclude each other",
		"SELECT SUM(days, contribution_bounds_per_group => (0, 5)), COUNT(DISTINCT cost) FROM visits":  "1:8: COUNT(DISTINCT …) of values and bounds per group exclude each other",
		"SELECT SUM(days, contribution_bounds_per_group => (1000, 5000)) FROM visits":                  "1:18: the bounds exclude all possible amounts: under the policy, one person adds -24 to 360",
		"SELECT SUM(days, contribution_bounds_per_group => (0, 5), bounds => auto) FROM visits":        "1:18: bounds => auto finds bounds per row",
		dp + "(max_rows_contributed=3) SUM(days, contribution_bounds_per_group => (0, 5)) FROM visits": "max_rows_contributed and bounds per group exclude",
		"SELECT SUM(ABS(age, weight => 2)) FROM people":                                                "1:21: only aggregates take named arguments, and abs is not one",
		"SELECT ROUND(COUNT(*), digits => 2) FROM people":                                              "1:24: only aggregates take named arguments, and round is not one",
		"SELECT SUM(age, bounds => auto, contribution_bounds_per_row => auto) FROM people":             "1:33: bounds are two constant numbers",
		"SELECT SUM(age, bounds => auto, contribution_bounds_per_row => (500, 600)) FROM people":       "1:33: the bounds exclude all values",
		"SELECT CLIPPED(serial) FROM people":                                                           "1:8: CLIPPED needs bounds, and this expression has none",
		"SELECT CLIPPED(note) FROM people":                                                             "1:8: a number is needed here",
		"SELECT CLIPPED(age, bounds => auto) FROM people":                                              "1:21: bounds are found for SUM and AVG only",
		"SELECT COUNT(*) FROM people WHERE ANON_SUM(age) > 1":                                          "1:35: the aggregate anon_sum is not allowed here",
	} {
		_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql})
		if text := fmt.Sprint(err); !strings.HasPrefix(text, want) && (strings.HasPrefix(want, "1:") || !strings.Contains(text, want)) {
			t.Errorf("%s\ngot  %s\nwant %s", sql, text, want)
		}
	}
	// Bounds are written around an expression that may be just small enough without them.
	large := "SELECT SUM(NULLIF(NULLIF(CASE WHEN voted THEN age" + strings.Repeat(" WHEN age > 5 THEN age + 1", 120) + " END, 3), 3)"
	for tail, want := range map[string]string{") FROM people": "<nil>", ", bounds => auto) FROM people": "this expression is too large", ", bounds => (0, 5)) FROM people": "this expression is too large"} {
		_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: large + tail})
		if text := fmt.Sprint(err); !strings.Contains(text, want) {
			t.Errorf("%s: %s", tail, text)
		}
	}
	for _, sql := range []string{"SELECT COUNT(*, weight => 2) FROM people", "SELECT SUM(age, bounds => auto) FROM people", "SELECT SUM(days, contribution_bounds_per_group => (0, 5)) FROM visits"} {
		if _, err := plan.BuildScores(townPolicy(t, "add-remove"), plan.Request{SQL: sql}); err == nil {
			t.Errorf("%s is a score", sql)
		}
	}
	var syntax *query.Error
	if _, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: "SELECT SUM(age CLAMPED BETWEEN 0 AND 5) FROM people"}); !errors.As(err, &syntax) {
		t.Error(err)
	}
}

// Bounds are those of the sensitivity, and what reaches beyond what a value can be is cut to that.
func TestBoundsGiven(t *testing.T) {
	for _, c := range []struct{ sql, addRemove, changeOne string }{
		{"SELECT SUM(age, bounds => (0, 50)) FROM people", "50", "50"},
		{"SELECT SUM(age, bounds => (-5, 1000)) FROM people", "115", "115"},
		{"SELECT SUM(serial, contribution_bounds_per_row => (-5, 1000)) FROM people", "1000", "1005"},
		{"SELECT SUM(age, contribution_bounds_per_group => (0, 50)) FROM people", "50", "50"},
		{"SELECT COUNT(*, contribution_bounds_per_group => (0, 1)) FROM people", "1", "1"},
		{"SELECT SUM(age, bounds => auto) FROM people", "115", "115"},
		{"SELECT SUM(serial, bounds => auto, contribution_bounds_per_row => (-5, 1000)) FROM people", "1000", "1005"},
		{"SELECT SUM(weight, contribution_bounds_per_row => (0, 1000), bounds => auto) FROM people", "1000", "1000"},
		{"SELECT SUM(days, contribution_bounds_per_group => (0, 50)) FROM visits", "50", "50"},
		{"SELECT SUM(days, contribution_bounds_per_group => (-10, 50)) FROM visits", "50", "60"},
		{"SELECT SUM(days, contribution_bounds_per_group => (10, 50)) FROM visits", "50", "50"},
		{"SELECT SUM(days, contribution_bounds_per_group => (-1000, 5000)) FROM visits", "360", "384"},
		{"SELECT department, SUM(days, contribution_bounds_per_group => (0, 50)) FROM visits GROUP BY department", "150", "300"},
		{"SELECT department, COUNT(*, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY department", "6", "12"},
		{dp + "(max_groups_contributed=2) department, COUNT(*, contribution_bounds_per_group => (0, 2)) FROM visits GROUP BY department", "4", "8"},
		{"SELECT SUM(days, contribution_bounds_per_row => (0, 5)) FROM visits", "60", "60"},
		{"SELECT CLIPPED(age), CLIPPED(age, bounds => (0, 50)) FROM people", "2", "2"},
	} {
		for relation, want := range map[string]string{"add-remove": c.addRemove, "change-one": c.changeOne} {
			p, err := plan.Build(townPolicy(t, relation), plan.Request{SQL: c.sql})
			if err != nil {
				t.Errorf("%s: %v", c.sql, err)
				continue
			}
			if got := p.Sensitivity(); got.RatString() != want {
				t.Errorf("%s under %s: sensitivity %s, want %s", c.sql, relation, got.RatString(), want)
			}
		}
	}
	for sql, want := range map[string]string{
		dp + "(epsilon=1, delta=1e-9) race, COUNT(*) FROM people GROUP BY race":    "All keys are known: every group is shown without a selection, and no delta is spent.",
		dp + "(epsilon=1) AVG(days) FROM visits":                                   "AVG is the average over all rows. GoogleSQL averages the rows of each person first.",
		"SELECT SUM(age, bounds => (-5, 50)) FROM people":                          "The bounds of SUM reach beyond the declared range of its argument, 0 to 115, and are clamped to it.",
		"SELECT SUM(days, contribution_bounds_per_group => (0, 5000)) FROM visits": "The bounds per group reach beyond the amounts that 12 rows of one person can add, -24 to 360, and are clamped to them.",
	} {
		if got := build(t, "add-remove", sql).Notes; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", sql, got)
		}
	}
	if got := build(t, "add-remove", dp+"(epsilon=1) COUNT(DISTINCT days) FROM visits").Notes; len(got) != 0 {
		t.Errorf("distinct values are no average: %q", got)
	}
	same := func(a, b string) {
		t.Helper()
		if x, y := build(t, "add-remove", a).Key(1), build(t, "add-remove", b).Key(1); x != y {
			t.Errorf("%s and %s are two releases", a, b)
		}
	}
	same("SELECT SUM(age, bounds => (-5, 1000)) FROM people", "SELECT SUM(age) FROM people")
	same("SELECT SUM(age, weight => 5) FROM people", "SELECT SUM(age) FROM people")
	same("SELECT SUM(age, bounds => (0, 50)) FROM people", "SELECT ANON_SUM(age, contribution_bounds_per_row => (0, 50)) FROM people")
	same(dp+"(epsilon=1, delta=1e-9) COUNT(*) FROM people", "SELECT COUNT(*) FROM people")
}

// What a search finds decides the sensitivity, and nothing else of the plan: price, shares and caps stay.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		sql, want    string // the sensitivity of the sum, in its unit
		lower, upper int64
	}{
		{"SELECT SUM(age, bounds => auto) FROM people", "63", 16, 63},
		{"SELECT SUM(age, bounds => auto) FROM people", "115", 64, 127},
		{"SELECT SUM(age, bounds => auto) FROM people", "115", -5, 1 << 62},
		{"SELECT SUM(age, bounds => auto) FROM people", "16", 63, 16},
		{"SELECT AVG(age, bounds => auto) FROM people", "47/2", 16, 63},
		{"SELECT SUM(days, bounds => auto) FROM visits", "84", 0, 7},
		{"SELECT SUM(days, bounds => auto) FROM visits", "24", -2, 1},
	} {
		p := build(t, "add-remove", c.sql)
		lower, upper := make([]*big.Int, len(p.Measures)), make([]*big.Int, len(p.Measures))
		for i := range lower {
			lower[i], upper[i] = big.NewInt(c.lower), big.NewInt(c.upper)
		}
		q, err := p.Found(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shares(t, p), shares(t, q)); diff != "" {
			t.Errorf("%s: %s", c.sql, diff)
		}
		for i, m := range q.Measures {
			if m.Kind == bounded.Sum && m.Units(m.L1).RatString() != c.want {
				t.Errorf("%s within %d to %d: sensitivity %s", c.sql, c.lower, c.upper, m.Units(m.L1).RatString())
			}
			if m.Kind != bounded.Sum && m != p.Measures[i] {
				t.Errorf("%s: another count", c.sql)
			}
		}
		if _, err := p.Found(lower[1:], upper); err == nil {
			t.Error("bounds of too few measures are taken")
		}
	}
	// About bounds whose middle is 0 a sum and a centred sum are alike, until others are found.
	for _, sql := range []string{"SELECT SUM(age - 50, bounds => auto), AVG(LEAST(age - 50, 50), bounds => auto), SUM(LEAST(age - 50, 50), bounds => auto) FROM people"} {
		p := build(t, "add-remove", sql)
		lower, upper := make([]*big.Int, len(p.Measures)), make([]*big.Int, len(p.Measures))
		for i := range lower {
			lower[i], upper[i] = big.NewInt(1), big.NewInt(7)
		}
		q, err := p.Found(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range q.Aggregates {
			if a.Func == plan.SumFunc && a.Sum.Centre != 0 || a.Func == plan.Average && a.Sum.Centre != 4 {
				t.Errorf("%s: aggregate %d, %s, is centred about %d", sql, i, a.Func, a.Sum.Centre)
			}
		}
	}
	a, b := build(t, "add-remove", "SELECT SUM(age, bounds => auto) FROM people"), build(t, "add-remove", "SELECT SUM(age) FROM people")
	if a.Key(1) == b.Key(1) {
		t.Error("found bounds and declared ones are one release")
	}
}
