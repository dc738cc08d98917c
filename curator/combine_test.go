package curator

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

// spentOf returns what is spent.
func spentOf(t *testing.T, c *Session) string {
	t.Helper()
	state, err := c.ledger.State()
	if err != nil {
		t.Fatal(err)
	}
	return state.Spent.String()
}

// Each measured question of a question has a release of its own, with its share of the price, and replays free.
func TestMeasuredQuestionsAreChargedApart(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	share := Question{SQL: "SELECT route, COUNT(*) / (SELECT COUNT(*) FROM trips) AS share FROM trips GROUP BY route", Rho: "0.02"}
	e, err := c.Explain(t.Context(), share)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Questions) != 2 || e.Price.Rho != "0.02" || e.Questions[0].Price.Rho != "0.01" || e.Questions[1].Price.Rho != "0.01" {
		t.Fatalf("%d questions at %v", len(e.Questions), e.Price)
	}
	r, err := c.Answer(t.Context(), share)
	if err != nil {
		t.Fatal(err)
	}
	if got := spentOf(t, c); got != "ρ = 0.02" || r.Price.Rho != "0.02" || len(r.Questions) != 2 || r.Replayed {
		t.Fatalf("spent %s: %+v", got, r.Price)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	first := r.Rows[0][1].Estimate.Value.Real
	// a measured question alone, at its share, is replayed, also under other names
	for _, sql := range []string{"SELECT COUNT(*) AS n FROM trips", "SELECT COUNT(*), route FROM trips GROUP BY route"} {
		one, err := c.Answer(t.Context(), Question{SQL: sql, Rho: "0.01"})
		if err != nil || !one.Replayed {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	again, err := c.Answer(t.Context(), share)
	if err != nil || !again.Replayed || again.Rows[0][1].Estimate.Value.Real != first || spentOf(t, c) != "ρ = 0.02" {
		t.Fatalf("not replayed: %v, spent %s", err, spentOf(t, c))
	}
	// the same measured question twice is measured once, even afresh
	share.SQL, share.Fresh = "SELECT COUNT(*) AS n, (SELECT COUNT(*) FROM trips) AS m, (SELECT COUNT(*) AS k FROM trips) AS k FROM trips", true
	if r, err = c.Answer(t.Context(), share); err != nil || len(r.Questions) != 0 || r.Price.Rho != "0.02" || spentOf(t, c) != "ρ = 0.04" {
		t.Fatalf("%v, spent %s", err, spentOf(t, c))
	}
	if a, b := r.Rows[0][0].Estimate.Value, r.Rows[0][1].Estimate.Value; a.Real != b.Real {
		t.Errorf("%v and %v are the same question", a, b)
	}
}

// Without a price each measured question has the policy's default price, so that it shares its release with the same
// question alone.
func TestMeasuredQuestionsShareTheirReleases(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	one, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM passengers"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Answer(t.Context(), Question{SQL: "SELECT 'trips' AS what, COUNT(*) FROM trips UNION ALL SELECT 'people', COUNT(*) FROM passengers"})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Questions[1].Replayed || r.Questions[0].Replayed || r.Questions[1].ID != one.ID ||
		r.Rows[1][1].Estimate.Value.Real != one.Rows[0][0].Estimate.Value.Real {
		t.Errorf("%+v", r.Questions)
	}
}

// The length of a limited table is computed from the count of all its rows, and is never above the limit.
func TestCountsOfLimitedRows(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	count := func(sql string) (float64, string) {
		t.Helper()
		r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Epsilon: "1"}))
		return r.Rows[0][0].Estimate.Value.Real, r.ID
	}
	all, id := count("SELECT COUNT(*) FROM (SELECT * FROM trips) q")
	for sql, want := range map[string]float64{
		"SELECT COUNT(*) FROM (SELECT * FROM trips ORDER BY fare LIMIT 1000) q":     math.Min(all, 1000),
		"SELECT COUNT(*) AS n FROM (SELECT * FROM trips LIMIT 0) q":                 math.Min(all, 0),
		"SELECT COUNT(*) FROM (SELECT * FROM trips LIMIT 1000 OFFSET 1) q":          math.Min(math.Max(all-1, 0), 1000),
		"SELECT COUNT(*) FROM (SELECT * FROM trips OFFSET 1000000000) q LIMIT 1000": 0,
	} {
		if got, same := count(sql); got != want || same != id {
			t.Errorf("%s: %g of release %s, want %g of %s", sql, got, same, want, id)
		}
	}
	for _, sql := range []string{
		"SELECT COUNT(*) FROM (SELECT * FROM trips LIMIT 5) q WHERE fare > 5", "SELECT SUM(fare) FROM (SELECT * FROM trips LIMIT 5) q",
		"SELECT COUNT(fare) FROM (SELECT * FROM trips LIMIT 5) q",
		"SELECT route, COUNT(*) FROM (SELECT * FROM trips LIMIT 5) q GROUP BY route",
		"SELECT COUNT(*) FROM (SELECT route FROM trips UNION SELECT route FROM trips LIMIT 3 OFFSET 2) q",
		"SELECT AVG(n) FROM (SELECT passenger, fare AS n FROM trips UNION ALL SELECT passenger, luggage FROM trips ORDER BY n LIMIT 5) q",
	} {
		_, err := c.Explain(t.Context(), Question{SQL: sql})
		if err == nil || !strings.Contains(err.Error(), "LIMIT inside a subquery is not") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Of public rows, LIMIT after a UNION is refused for a reason of their own beside rows of persons.
func TestLimitOfPublicUnions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	for _, sql := range []string{
		"SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes UNION ALL SELECT harbour FROM routes ORDER BY 1 LIMIT 3)",
		"SELECT COUNT(*) FROM trips JOIN (SELECT route FROM routes UNION ALL SELECT harbour FROM routes LIMIT 2) r USING (route)",
	} {
		_, err := c.Explain(t.Context(), Question{SQL: sql})
		if err == nil || !strings.Contains(err.Error(), "LIMIT inside a subquery of public rows") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Constants beside a list of declared values, as filters of dashboards have them, are free.
func TestConstantsBesideAnAnswer(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT 'All' AS label, '%' AS value UNION SELECT DISTINCT deck, deck FROM trips WHERE deck IS NOT NULL"}))
	if len(r.Rows) != 4 || !r.Free || r.Rows[0][1].Key != "%" || r.Rows[3][0].Key != "open" {
		t.Errorf("%+v", r)
	}
	r = must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT 'none' AS what, 0 AS n UNION ALL SELECT 'trips', COUNT(*) FROM trips"}))
	if len(r.Rows) != 2 || r.Free || r.Rows[0][1].Estimate == nil || r.Rows[0][1].Estimate.Value.Real != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT 1 + SUM(1)"}); err == nil {
		t.Error("an aggregate of nothing is answered")
	}
	// a refusal over an answer names the question's own expressions
	_, err := c.Explain(t.Context(), Question{SQL: "SELECT route, LOCF(AVG(fare)) FROM trips GROUP BY route"})
	if _, hint := refusal(err); hint != "write avg(fare)" {
		t.Errorf("the hint is %q", hint)
	}
}

// If one measured question is refused, nothing is charged.
func TestRefusedPartsChargeNothing(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	for _, q := range []struct {
		Question
		want string
	}{
		{Question{SQL: "SELECT COUNT(*), (SELECT COUNT(*) FROM nowhere) FROM trips"}, "nowhere"},
		{Question{SQL: "SELECT COUNT(*), (SELECT SUM(far) FROM trips) FROM trips"}, "far"},
		{Question{SQL: "SELECT COUNT(*), (SELECT COUNT(*) FROM passengers) FROM trips", Rho: "0.005"}, "divide its price equally"},
		{Question{SQL: "SELECT COUNT(*), (SELECT COUNT(*) FROM passengers) FROM trips", Within: "5%"}, "an accuracy is for one"},
		{Question{SQL: "SELECT COUNT(*), (SELECT route FROM trips GROUP BY route) FROM trips"}, "several values"},
		{Question{SQL: "SELECT a.n FROM (SELECT COUNT(*) AS n FROM trips) a JOIN trips t ON t.fare > a.n"}, ""},
		{Question{SQL: "SELECT COUNT(*) FROM trips UNION ALL SELECT route, COUNT(*) FROM trips GROUP BY route"}, "columns"},
		{Question{SQL: "SELECT route FROM trips UNION ALL SELECT channel FROM trips"}, ""},
	} {
		_, err := c.Answer(t.Context(), q.Question)
		var known *Error
		if !errors.As(err, &known) || !strings.Contains(known.Message, q.want) || known.Charged {
			t.Errorf("%s: %v", q.SQL, err)
		}
		if _, again := c.Explain(t.Context(), q.Question); again == nil || err == nil || again.Error() != err.Error() {
			t.Errorf("%s: explained as %v, answered as %v", q.SQL, again, err)
		}
	}
	if got := spentOf(t, c); got != "ρ = 0" {
		t.Errorf("spent %s", got)
	}
	// a price that one question could pay, and all together cannot
	remaining, n := "", 0
	for ; n < 100; n++ {
		r, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*), (SELECT COUNT(*) FROM passengers) FROM trips", Epsilon: "5", Fresh: true})
		if err != nil {
			if !strings.Contains(err.Error(), "together") {
				t.Error(err)
			}
			break
		}
		remaining = r.Remaining.Rho
	}
	if state, err := c.ledger.State(); err != nil || n == 0 || n == 100 {
		t.Error(n, err)
	} else if rho, _ := state.Remaining.ZCDP(); rho.String() != remaining {
		t.Errorf("%s remained, and %s remains", remaining, rho)
	}
}

// Each measured question has its own estimate of what its bounds cut: a share of its price pays for it.
func TestMeasuredQuestionsEstimateTheirTruncation(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	r, err := c.Answer(t.Context(), Question{
		SQL: "SELECT COUNT(*) FROM trips WHERE fare > 1 UNION ALL SELECT COUNT(*) FROM trips", MaxRows: "1", Truncation: "10%",
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(must[[]byte](t)(json.Marshal(r)))
	if len(r.Questions) != 2 || strings.Count(text, `"truncation":`) != 2 || r.Truncation != nil {
		t.Fatalf("%d questions: %s", len(r.Questions), text)
	}
	for _, m := range r.Questions {
		if m.Truncation == nil || m.Truncation.Rows != 1 {
			t.Errorf("%s: %+v", m.SQL, m.Truncation)
		}
	}
}

// Constants alone, such as a calendar, are a free answer.
func TestConstantsAlone(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	for sql, want := range map[string][]any{
		"SELECT generate_series(DATE '2025-01-31', DATE '2025-04-30', INTERVAL '1 month')::date AS d":                      {"2025-01-31", "2025-02-28", "2025-03-28", "2025-04-28"},
		"SELECT generate_series(1, 7, 3) AS n, 'x' AS of ORDER BY n DESC LIMIT 2":                                          {int64(7), int64(4)},
		"SELECT d::date FROM generate_series('2025-02-27'::timestamp, '2025-03-01', '1 day') d":                            {"2025-02-27", "2025-02-28", "2025-03-01"},
		"SELECT 2000 + 5 * y FROM generate_series(0, 9) AS t (y) WHERE y % 4 = 0":                                          {int64(2000), int64(2020), int64(2040)},
		"SELECT COUNT(*) FROM generate_series(1, 12) a, generate_series(1, 3) b WHERE a > b":                               {int64(30)},
		"WITH d AS (SELECT generate_series(1, 5) AS n) SELECT SUM(n) FROM d":                                               {int64(15)},
		"SELECT date_trunc('month', d)::date AS m FROM generate_series(DATE '2025-01-30', DATE '2025-02-02') d GROUP BY 1": {"2025-01-01", "2025-02-01"},
		"SELECT y FROM (VALUES (1, 'a'), (2, 'b')) v (x, y) WHERE x = 2":                                                   {"b"},
		"SELECT generate_series(3, 1) AS none":                                                                             {},
		"SELECT x FROM unnest(ARRAY['b', 'a']) x ORDER BY 1":                                                               {"a", "b"},
	} {
		q := Question{SQL: sql}
		e, err := c.Explain(t.Context(), q)
		if err != nil || !e.Free || e.Cells < len(want) || e.Confidence != "0.95" {
			t.Errorf("%s: %+v, %v", sql, e, err)
			continue
		}
		r, err := c.Answer(t.Context(), q)
		if err != nil || !r.Free || r.ID != "" || len(r.Rows) != len(want) || r.Confidence != "0.95" {
			t.Errorf("%s: %+v, %v", sql, r, err)
			continue
		}
		for i, row := range r.Rows {
			if row[0].Key != want[i] {
				t.Errorf("%s: row %d is %v, not %v", sql, i, row[0].Key, want[i])
			}
		}
	}
	for sql, want := range map[string]string{
		"SELECT y FROM generate_series(1, 3) x":                                         `there is no column "y"`,
		"SELECT generate_series(1, 20000)":                                              "gives more than 10000 rows",
		"SELECT generate_series(1, 3, 0)":                                               "the step of generate_series is 0",
		"SELECT a FROM generate_series(1, 9000) a CROSS JOIN generate_series(1, 900) b": "would pair more than",
		"SELECT generate_series(1, 3), COUNT(*) FROM trips":                             "there is no function",
	} {
		if _, err := c.Explain(t.Context(), Question{SQL: sql}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A count of the rows of the groups that another answer leaves is 0 if it leaves none, and DISTINCT ON keeps its order below a
// LIMIT.
func TestCountsOfNoGroups(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	r := must[*Release](t)(c.Answer(t.Context(), Question{
		SQL: "SELECT COUNT(*), COUNT(*) + 1 FROM trips WHERE route IN (SELECT route FROM trips GROUP BY route HAVING COUNT(*) > 1000000)",
	}))
	for i, want := range []float64{0, 1} {
		if e := r.Rows[0][i].Estimate; e == nil || e.Value == nil || e.Value.Real != want {
			t.Errorf("column %d is %+v, not %v", i, r.Rows[0][i], want)
		}
	}
	const of = "(SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q"
	for _, sql := range []string{
		"SELECT DISTINCT ON (route) route, n FROM " + of + " ORDER BY route DESC LIMIT 2",
		"SELECT route FROM (SELECT DISTINCT ON (route) route, n FROM " + of + " ORDER BY route DESC LIMIT 2) r",
	} {
		r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		if len(r.Rows) != 2 || r.Rows[0][0].Key != "Dune Express" || r.Rows[1][0].Key != "Cove Line" {
			t.Errorf("%s: %+v", sql, r.Rows)
		}
	}
	_, err := c.Explain(t.Context(), Question{SQL: "SELECT DISTINCT ON (route) n FROM " + of + " ORDER BY route DESC LIMIT 2"})
	if err == nil || !strings.Contains(err.Error(), "ordered by selected columns alone") {
		t.Errorf("an order by a column that is not selected: %v", err)
	}
}
