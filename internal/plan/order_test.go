package plan_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

func built(t testing.TB, neighbours, sql string) *plan.Plan {
	t.Helper()
	p, err := plan.Build(townPolicy(t, neighbours), plan.Request{SQL: sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

// What each way of writing means: ranks, and which are one release.
func TestQuantiles(t *testing.T) {
	for sql, want := range map[string]string{
		"MEDIAN(age)": "1/2",
		"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age)":        "1/2",
		"PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age DESC)":   "1/10",
		"PERCENTILE_CONT(age, 0.25)":                              "1/4",
		"percentile_disc(1) WITHIN GROUP (ORDER BY age)":          "1",
		"PERCENTILE_DISC(0.01) WITHIN GROUP (ORDER BY age)":       "1/100",
		"APPROX_QUANTILES(age, 4)":                                "0 1/4 1/2 3/4 1",
		"MEDIAN(age), PERCENTILE_DISC(age, 0.5), 2 * MEDIAN(age)": "1/2",
		"MEDIAN(age), APPROX_QUANTILES(age, 2)":                   "0 1/2 1",
		"MEDIAN(born)":                                            "1/2",
	} {
		p := built(t, "add-remove", "SELECT "+sql+" FROM people")
		var got []string
		paid := privacy.Loss{}
		for _, q := range p.Quantiles {
			got, paid = append(got, q.Rank.RatString()), paid.Plus(q.Loss)
		}
		if len(strings.Fields(want)) != len(got) || !sameWords(want, got) || len(p.OrderedValues()) != 1 {
			t.Errorf("%s: ranks %v of %d values, want %s", sql, got, len(p.OrderedValues()), want)
		}
		if !paid.Within(p.Price) || !p.Price.Within(paid) {
			t.Errorf("%s: quantiles cost %s of %s", sql, paid, p.Price)
		}
	}
	p := built(t, "add-remove", "SELECT APPROX_QUANTILES(age, 2) AS q, APPROX_QUANTILES(income, 1), COUNT(*) AS q_1 FROM people")
	var names []string
	for _, o := range p.Outputs {
		names = append(names, o.Name)
	}
	if got := strings.Join(names, " "); got != "q_0 q_1 q_2 approx_quantiles_0 approx_quantiles_1 q_1_2" {
		t.Error(got)
	}
	if p := built(t, "add-remove", "SELECT MEDIAN(born), MODE(born) FROM people"); p.Outputs[0].Post.Type != value.Date || p.Outputs[1].Post.Type != value.Date {
		t.Error("the median and the mode of dates are no dates")
	}
}

func sameWords(want string, got []string) bool {
	for _, w := range strings.Fields(want) {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			return false
		}
	}
	return true
}

// Price, sensitivity and bracket, by hand.
func TestQuantileShares(t *testing.T) {
	p := built(t, "add-remove", "SELECT COUNT(*), MEDIAN(age), PERCENTILE_DISC(age, 0.9), MODE(race) FROM people")
	quarter := p.Price.Share(1, 4)
	for _, q := range p.Quantiles {
		if !q.Loss.Within(quarter) || !quarter.Within(q.Loss) || q.Draw().Rat().Cmp(big.NewRat(3, 40)) != 0 || q.Width().Rat().Cmp(big.NewRat(7, 40)) != 0 {
			t.Errorf("%s costs %s, and its draws %s and %s", q, q.Loss, q.Draw(), q.Width())
		}
	}
	if m := p.Modes[0]; !m.Loss.Within(quarter) || !quarter.Within(m.Loss) || m.Epsilon().Rat().Cmp(big.NewRat(1, 4)) != 0 || len(m.Of.Values) != 4 {
		t.Errorf("%s costs %s", m, m.Loss)
	}
	if p.Numbers() != 1+2*3+1 || len(p.Looks()) != 3 {
		t.Errorf("%d numbers, %d looks", p.Numbers(), len(p.Looks()))
	}
	for _, c := range []struct {
		sql, neighbours, want string
	}{
		{"SELECT MEDIAN(age) FROM people", "add-remove", "1/2"},
		{"SELECT MEDIAN(age) FROM people", "change-one", "1"},
		{"SELECT PERCENTILE_DISC(age, 0.9) FROM people", "add-remove", "9/10"},
		{"SELECT PERCENTILE_DISC(age, 0.9) FROM people", "change-one", "1"},
		{"SELECT PERCENTILE_DISC(age, 0.1) FROM people GROUP BY race", "add-remove", "9/10"},
		{"SELECT PERCENTILE_DISC(age, 0.9) FROM people GROUP BY race", "change-one", "9/5"},
		{"SELECT MEDIAN(days) FROM visits", "add-remove", "6"},
		{"SELECT MEDIAN(days), COUNT(*) FROM visits GROUP BY department", "change-one", "12"},
	} {
		if q := built(t, c.neighbours, c.sql).Quantiles[0]; q.Sensitivity.RatString() != c.want {
			t.Errorf("%s under %s: sensitivity %s, want %s", c.sql, c.neighbours, q.Sensitivity.RatString(), c.want)
		}
	}
	// The margin is 2·½·ln 127/(7/10) = 6.9 rows, and the value is off by 1/(3/10) rows.
	m := built(t, "add-remove", "SELECT MEDIAN(age) FROM people")
	if span := m.Span(m.Quantiles[0], 0.05); span < 10 || span > 14 {
		t.Errorf("the interval is about %g rows to either side", span)
	}
	// (ln 4 + ln 20)/1
	if s := built(t, "add-remove", "SELECT MODE(race) FROM people").Modes[0].Shortfall(privacy.AddRemove, 0.05); s < 4.38 || s > 4.39 {
		t.Errorf("the shortfall is %g", s)
	}
}

// A release of an earlier version has the errors that it stated: here those of that version for ages from 0 to 115.
func TestFormerQuantiles(t *testing.T) {
	p := built(t, "add-remove", "SELECT PERCENTILE_DISC(age, 0.5), PERCENTILE_DISC(age, 0.9) FROM people")
	for i, want := range []float64{116.08760851997086, 208.55769533594756} {
		rank, span := p.Formerly(p.Quantiles[i], 0.05)
		if math.Abs(rank-91.17867216837936) > 1e-9 || math.Abs(span-want) > 1e-9 { // its α was 1 − 0.95, rounded down
			t.Errorf("quantile %d: %v, %v", i, rank, span)
		}
	}
}

// Other sums beside a quantile, another order, alias, HAVING or ORDER BY change the price of each, or nothing; the
// rank, the value, what FILTER keeps and the groups make another release.
func TestOrderReplayKey(t *testing.T) {
	key := func(sql string) string { return built(t, "add-remove", sql).Key(1) }
	same := []string{
		"SELECT MEDIAN(age), COUNT(*) FROM people", "SELECT COUNT(*) AS n, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) AS m FROM people HAVING MEDIAN(age) > 3",
		"SELECT COUNT(*), PERCENTILE_DISC(age, 0.5) + 1 FROM people ORDER BY MEDIAN(age)",
	}
	for _, sql := range same {
		if key(sql) != key(same[0]) {
			t.Errorf("%s is another release", sql)
		}
	}
	seen := map[string]string{key(same[0]): same[0]}
	for _, sql := range []string{
		"SELECT MEDIAN(age) FROM people", "SELECT MEDIAN(age) FILTER (WHERE voted) FROM people", "SELECT MEDIAN(income) FROM people",
		"SELECT PERCENTILE_DISC(age, 0.4) FROM people", "SELECT MEDIAN(age) FROM people GROUP BY race", "SELECT MODE(age) FROM people",
		"SELECT MODE(age) FROM people GROUP BY race", "SELECT MODE(race) FROM people GROUP BY race", "SELECT MODE(race) FROM people",
	} {
		if before, ok := seen[key(sql)]; ok {
			t.Errorf("%s is %s", sql, before)
		}
		seen[key(sql)] = sql
	}
}

func TestOrderRefusals(t *testing.T) {
	for _, c := range []struct{ sql, where, message, hint string }{
		{"SELECT MEDIAN(serial) FROM people", "1:15", "column serial has no declared bounds", "or give them here, as in SUM(x, bounds => (low, high))"},
		{"SELECT MEDIAN(weight) FROM people", "1:15", "column weight has no declared bounds", "or give them here, as in SUM(x, bounds => (low, high))"},
		{"SELECT MEDIAN(note) FROM people", "1:15", "MEDIAN needs a number, a date or a timestamp", "MODE()"},
		{"SELECT MEDIAN(voted) FROM people", "1:15", "MEDIAN needs a number, a date or a timestamp", "MODE()"},
		{"SELECT MEDIAN(NULL) FROM people", "1:15", "NULL cannot be aggregated", ""},
		{"SELECT MEDIAN() FROM people", "1:8", "wrong arguments for MEDIAN", "MEDIAN(x)"},
		{"SELECT MEDIAN(age, 3) FROM people", "1:8", "wrong arguments for MEDIAN", "MEDIAN(x)"},
		{"SELECT MEDIAN(DISTINCT age) FROM people", "1:8", "neither * nor DISTINCT", ""},
		{"SELECT MEDIAN(*) FROM people", "1:8", "neither * nor DISTINCT", ""},
		{"SELECT PERCENTILE_CONT(0.5) FROM people", "1:8", "wrong arguments for PERCENTILE_CONT", "WITHIN GROUP"},
		{"SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY age) FROM people", "1:24", "decimal from 0 to 1", "0.5"},
		{"SELECT PERCENTILE_CONT(-0.5) WITHIN GROUP (ORDER BY age) FROM people", "1:24", "decimal from 0 to 1", "0.5"},
		{"SELECT PERCENTILE_CONT(0.12345) WITHIN GROUP (ORDER BY age) FROM people", "1:24", "at most 4 places", "0.5"},
		{"SELECT PERCENTILE_CONT(1e-999999999) WITHIN GROUP (ORDER BY age) FROM people", "1:24", "decimal from 0 to 1", "0.5"},
		{"SELECT PERCENTILE_CONT('0.5') WITHIN GROUP (ORDER BY age) FROM people", "1:24", "decimal from 0 to 1", "0.5"},
		{"SELECT PERCENTILE_CONT(age) WITHIN GROUP (ORDER BY age) FROM people", "1:24", "decimal from 0 to 1", "0.5"},
		{"SELECT PERCENTILE_CONT(ARRAY[0.5]) + 1 FROM people", "1:24", "arrays are not supported", ""},
		{"SELECT APPROX_QUANTILES(age, 0) FROM people", "1:30", "from 1 to 100", "quartiles"},
		{"SELECT APPROX_QUANTILES(age, 101) FROM people", "1:30", "from 1 to 100", "quartiles"},
		{"SELECT APPROX_QUANTILES(age, 9223372036854775807) FROM people", "1:30", "from 1 to 100", "quartiles"},
		{"SELECT APPROX_QUANTILES(age) FROM people", "1:8", "wrong arguments", "APPROX_QUANTILES(x, 4)"},
		{"SELECT APPROX_QUANTILES(age, 2) + 1 FROM people", "1:8", "several columns", "PERCENTILE_DISC"},
		{"SELECT APPROX_QUANTILES(age, 2), COUNT(*) FROM people ORDER BY 2", "1:8", "several columns", "PERCENTILE_DISC"},
		{"SELECT APPROX_QUANTILES(age, 2), COUNT(*) FROM people ORDER BY 1", "1:8", "several columns", "PERCENTILE_DISC"},
		{"SELECT MODE(note) FROM people", "1:13", "known values", "declare"},
		{"SELECT MODE(height) FROM people", "1:13", "known values", "FLOOR"},
		{"SELECT MODE(NULL) FROM people", "1:13", "NULL cannot be aggregated", ""},
		{"SELECT MODE(0.5) WITHIN GROUP (ORDER BY age) FROM people", "1:8", "wrong arguments", "MODE()"},
		{"SELECT MODE(born) + 1 FROM people", "1:19", "a number is needed here", ""},
		{"SELECT MEDIAN(born) + 1 FROM people", "1:21", "a number is needed here", ""},
		{"SELECT ROUND(MODE(race)) FROM people", "1:8", "a number is needed here", ""},
		{"SELECT COUNT(*) FROM people WHERE MEDIAN(age) > 3", "1:35", "not allowed here", "HAVING"},
		{"SELECT AVG(MEDIAN(age)) FROM people", "1:12", "not allowed here", ""},
		{"SELECT MODE(age) FROM people GROUP BY age, race, voted", "1:8", "more than 100000 values", ""},
		{"SELECT APPROX_QUANTILES(age, 100) FROM people GROUP BY age, race, voted, group_quarters", "1:8", "more than 200000 numbers", ""},
		{"SELECT QUANTILE(age, 0.5) FROM people", "1:8", `there is no function "quantile"`, "PERCENTILE_CONT"},
		{"SELECT MIN(age) FROM people", "1:8", "one person's row can decide it", "write percentile_disc(0.01) WITHIN GROUP (ORDER BY age)"},
		{"SELECT MAX(age) FROM people", "1:8", "one person's row can decide it", "write percentile_disc(0.99) WITHIN GROUP (ORDER BY age)"},
	} {
		_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: c.sql})
		var refusal *plan.Error
		var syntax *query.Error
		var hint string
		switch {
		case errors.As(err, &refusal):
			hint = refusal.Hint
		case errors.As(err, &syntax):
			hint = syntax.Hint
		default:
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.where+": ") || !strings.Contains(err.Error(), c.message) || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %v (%s)", c.sql, err, hint)
		}
	}
	tiny, err := privacy.ParseEpsilon("1e-12")
	if err != nil {
		t.Fatal(err)
	}
	p := townPolicy(t, "add-remove")
	p.Price.Minimum = privacy.PureLoss(tiny)
	if _, err := plan.Build(p, plan.Request{SQL: "SELECT MEDIAN(age) FROM people", Price: privacy.PureLoss(tiny)}); err == nil || !strings.Contains(err.Error(), "could be anywhere") {
		t.Error(err)
	}
	// Scores and values in order are asked for by other primitives.
	if _, err := plan.BuildScores(p, plan.Request{SQL: "SELECT race, MEDIAN(age) FROM people GROUP BY race"}); err == nil {
		t.Error("a median is a score")
	}
}

// Rows in order are bounded by groups where fewer rows of a unit then count, as the policy or the question says.
func TestOrderedCaps(t *testing.T) {
	p, err := policy.Decode(enginetest.ByGroups("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql       string
		maxGroups int64
		want      bounded.Caps
		rows      int64
	}{
		{"SELECT MEDIAN(i) FROM p", 0, bounded.Caps{Groups: 1, RowsPerGroup: 1}, 1},
		{"SELECT k, MEDIAN(i), COUNT(*) FROM p GROUP BY k", 0, bounded.Caps{Groups: 2, RowsPerGroup: 1}, 2},
		{"SELECT k, MEDIAN(i), AVG(i) FROM p GROUP BY k", 1, bounded.Caps{Groups: 1, RowsPerGroup: 1}, 1},
		{"SELECT k, MEDIAN(i) FROM p GROUP BY k", 3, bounded.Caps{Rows: 3}, 3},
		{"SELECT MEDIAN(i) FROM t", 0, bounded.Caps{Rows: 1}, 1},
	} {
		q, err := plan.Build(p, plan.Request{SQL: c.sql, MaxGroups: c.maxGroups})
		if err != nil {
			t.Fatal(err)
		}
		half := big.NewRat(c.rows, 2)
		if q.OrderCaps != c.want || q.Quantiles[0].Sensitivity.Cmp(half) != 0 || q.Ordered(q.Quantiles[0].Value).Caps != c.want {
			t.Errorf("%s: caps %+v, sensitivity %s; want %+v, %s", c.sql, q.OrderCaps, q.Quantiles[0].Sensitivity, c.want, half)
		}
	}
}

// APPROX_QUANTILES has the named arguments of every aggregate, and none of the aggregate's before it.
func TestApproxQuantilesArguments(t *testing.T) {
	p := townPolicy(t, "add-remove")
	q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*, weight => 7), APPROX_QUANTILES(age, 2, weight => 2, bounds => (20, 60)) FROM people"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range q.Quantiles {
		if o.Loss.String() != q.Price.Share(2, (7+2)*3).String() || o.Value.Lo != 20 || o.Value.Hi != 60 {
			t.Errorf("%s costs %s of %s", o, o.Loss, q.Price)
		}
	}
	q, err = plan.Build(p, plan.Request{SQL: "SELECT COUNT(*, weight => 7), APPROX_QUANTILES(age, 2) FROM people"})
	if err != nil || q.Quantiles[0].Loss.String() != q.Price.Share(1, 8*3).String() {
		t.Errorf("%s of %s: %v", q.Quantiles[0].Loss, q.Price, err)
	}
	// An epsilon is of all columns together; a median beside them adds its own share to the one in the middle.
	q, err = plan.Build(p, plan.Request{SQL: "SELECT APPROX_QUANTILES(age, 2, epsilon => 0.6), MEDIAN(age, epsilon => 0.1) FROM people"})
	if err != nil || q.Price.String() != "ε = 0.7" {
		t.Fatalf("%v: %v", q, err)
	}
	for i, want := range []string{"ε = 0.2", "ε = 0.2", "ε = 0.3"} { // 0, 1, 1/2
		if got := q.Quantiles[i].Loss.String(); got != want {
			t.Errorf("%s costs %s, not %s", q.Quantiles[i], got, want)
		}
	}
	if _, err = plan.Build(p, plan.Request{SQL: "SELECT MEDIAN(age, weight => 2), MEDIAN(age, weight => 3) FROM people"}); err == nil || !strings.Contains(err.Error(), "two weights") {
		t.Errorf("two weights of one median: %v", err)
	}
}

// More quantiles of one value than one pass draws are refused before anything is paid.
func TestTooManyQuantiles(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for sql, refused := range map[string]bool{
		"SELECT APPROX_QUANTILES(age, 100), APPROX_QUANTILES(age, 99) FROM people":                            false,
		"SELECT APPROX_QUANTILES(age, 100), APPROX_QUANTILES(age, 99), APPROX_QUANTILES(age, 97) FROM people": true,
	} {
		if _, err := plan.Build(p, plan.Request{SQL: sql}); (err != nil) != refused || refused && !strings.Contains(err.Error(), "more than 255 quantiles of one value") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
