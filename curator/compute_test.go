package curator

import (
	"errors"
	"strings"
	"testing"
)

// TestComputedAnswersAreOneRelease asks a question, and then questions that compute with its answer: each replays the
// release, and spends nothing.
func TestComputedAnswersAreOneRelease(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	first, err := session.Answer(t.Context(), Question{SQL: "SELECT route, COUNT(*) AS n FROM trips GROUP BY route"})
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"SELECT * FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q ORDER BY n DESC LIMIT 2",
		"SELECT route, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM trips GROUP BY route",
		"WITH q AS (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) SELECT SUM(n), AVG(n), MAX(n) FROM q",
		"SELECT UPPER(route) || '!', CASE WHEN COUNT(*) > 3 THEN 'busy' ELSE 'quiet' END FROM trips GROUP BY route",
		"WITH q AS (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) SELECT route, n / (SELECT SUM(n) FROM q) FROM q",
	} {
		e, err := session.Explain(t.Context(), Question{SQL: sql})
		if err != nil || !e.Replayed || e.Measured == nil {
			t.Errorf("%s: explained as %+v, %v", sql, e, err)
		}
		r, err := session.Answer(t.Context(), Question{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if !r.Replayed || r.ID != first.ID || r.Remaining != first.Remaining {
			t.Errorf("%s: release %s (replayed: %t), remaining %v; want %s and %v", sql, r.ID, r.Replayed, r.Remaining, first.ID,
				first.Remaining)
		}
	}
	total := 0.0
	for _, row := range first.Rows {
		total += row[1].Estimate.Value.Real
	}
	r, err := session.Answer(t.Context(), Question{SQL: "SELECT SUM(n) AS s FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q"})
	if err != nil || len(r.Rows) != 1 || r.Rows[0][0].Estimate.Value.Real != total || r.Rows[0][0].Estimate.Low == nil {
		t.Errorf("the sum of the numbers is %v, and the answer is %+v, %v", total, r, err)
	}
}

// If a subquery aggregates each unit, as it should, a refusal is about what is wrong, and not about the subquery's groups.
func TestRefusalsAroundAggregatesOfUnits(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	units := func(x string) string { return "(SELECT passenger, " + x + " AS x FROM trips GROUP BY passenger) q" }
	for sql, want := range map[string]string{
		"SELECT AVG(x) FROM " + units("MODE(fare)"):                                              "mode is not supported over one unit's rows",
		"SELECT x, COUNT(*) FROM " + units("NTILE(4) OVER (ORDER BY SUM(fare))") + " GROUP BY x": "window functions (OVER) are not supported",
		"SELECT n FROM (SELECT COUNT(*) AS n FROM " + units("MODE(fare)") + ") r":                "mode is not supported over one unit's rows",
		"SELECT passenger, COUNT(*) FROM (SELECT * FROM trips) q GROUP BY passenger":             "each group would hold one unit only",
		"SELECT * FROM " + units("COUNT(*)"):                                                     "each group would hold one unit only",
	} {
		_, err := session.Explain(t.Context(), Question{SQL: sql})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", sql, err, want)
		}
	}
}

// A question that would compute too much over its answer is refused before anything is charged.
func TestTooLargeComputationsAreFree(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	days := " FROM (SELECT sailed, COUNT(*) AS n FROM trips WHERE sailed >= '2024-01-01' AND sailed < '2026-01-01' GROUP BY sailed) q"
	large := "SELECT " + strings.Repeat("rpad(sailed::text, 4000), ", 200) + "n" + days
	before, err := session.Budget()
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"answer":  func() error { _, err := session.Answer(t.Context(), Question{SQL: large}); return err },
		"explain": func() error { _, err := session.Explain(t.Context(), Question{SQL: large}); return err },
	} {
		e := (*Error)(nil)
		if err := ask(); !errors.As(err, &e) || e.Code != CodePolicy || e.Charged || !strings.Contains(e.Message, "too large together") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := session.Budget(); err != nil || after.Remaining != before.Remaining {
		t.Errorf("%v remains, and %v did before: %v", after.Remaining, before.Remaining, err)
	}
}

// TestColumnsWithoutIntervals checks that numbers whose interval would not cover have none, and that the answer says why.
func TestColumnsWithoutIntervals(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	const q = "(SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q"
	for sql, why := range map[string]string{
		"SELECT n FROM " + q + " WHERE n > 1":                         "which rows are left",
		"SELECT n FROM " + q + " ORDER BY n DESC LIMIT 2":             "which rows are left",
		"SELECT MAX(n) AS n FROM " + q:                                "chosen among noisy numbers",
		"SELECT RANK() OVER (ORDER BY n) AS n FROM " + q:              "the order of noisy numbers",
		"SELECT n * n AS n FROM " + q:                                 "neither linear",
		"SELECT COUNT(*) AS n FROM " + q + " WHERE n > 1":             "which rows are left",
		"SELECT CASE WHEN n > 3 THEN 'a' ELSE 'b' END AS n FROM " + q: "a condition on noisy numbers",
		"SELECT CAST(n * EXP(700) AS real) AS n FROM " + q:            "",
		"SELECT n FROM " + q + " ORDER BY n DESC":                     "",
		"SELECT n FROM " + q + " ORDER BY route LIMIT 2":              "",
		"SELECT n - LAG(n) OVER (ORDER BY route) AS n FROM " + q:      "",
	} {
		r, err := session.Answer(t.Context(), Question{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := r.Columns[0].NoInterval; (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%s: the reason is %q, and should be %q", sql, got, why)
		}
		for _, row := range r.Rows {
			e := row[0].Estimate
			if e == nil || e.Value != nil && (e.Low == nil) != (why != "") {
				t.Errorf("%s: %+v", sql, e)
			}
		}
	}
}

// TestKeysOfAnswers checks that what depends on no released number has no interval and needs none.
func TestKeysOfAnswers(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	r, err := session.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q"})
	if err != nil || r.Columns[0].Kind != Key || r.Rows[0][0].Key == nil {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = session.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM (SELECT DISTINCT route FROM trips) q"})
	if err != nil || !r.Free || r.Columns[0].Kind != Key {
		t.Errorf("%+v, %v", r, err)
	}
}
