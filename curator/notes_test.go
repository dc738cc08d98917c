package curator

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// An answer that drops fractions says so, fresh and replayed, and no other answer has a note.
func TestAnswersNoteQuotientsOfIntegers(t *testing.T) {
	c := openHome(t, newHome(t))
	for sql, noted := range map[string]bool{
		"SELECT SUM(cost / 2) FROM visits":                     true,
		"SELECT COUNT(*) FROM visits WHERE cost / 2 = 3":       true,
		"SELECT SUM(cost / 2.0) FROM visits":                   false,
		"SELECT SUM(cost) / COUNT(*) FROM visits":              false,
		"SELECT COUNT(*) FROM visits WHERE cost > 10 - 7 * 1":  false,
		"SELECT SUM(CAST(cost AS real) / 2) FROM visits":       false,
		"SELECT cost / 2, COUNT(*) FROM visits GROUP BY 1":     true,
		"SELECT COUNT(*) AS half FROM visits WHERE cost % 2=1": false,
	} {
		for range 2 {
			r, err := c.Answer(t.Context(), Question{SQL: sql, Epsilon: "0.05"})
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			text, err := json.Marshal(r)
			if is := len(r.Notes) == 1 && strings.Contains(r.Notes[0], "7 / 2 is 3"); err != nil || is != noted || !is && r.Notes != nil ||
				strings.Contains(string(text), `"notes":["A quotient`) != noted {
				t.Errorf("%s: %v, %s, %v", sql, r.Notes, text, err)
			}
		}
	}
}

// An answer says that aggregates over the groups of another answer count empty groups too, where that matters.
func TestAnswersNoteEmptyGroups(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	const of = " FROM (SELECT route, deck, COUNT(*) AS n FROM trips GROUP BY route, deck) q"
	for sql, noted := range map[string]bool{
		"SELECT AVG(n)" + of:                                     true,
		"SELECT COUNT(*)" + of + " WHERE n > 3":                  true,
		"SELECT route, MIN(n)" + of + " GROUP BY route":          true,
		"SELECT route, MEDIAN(n)" + of + " GROUP BY 1":           true,
		"SELECT SUM(n)" + of:                                     false,
		"SELECT SUM(n) / SUM(1)" + of:                            true,
		"SELECT SUM(CASE WHEN n < 9 THEN 1 ELSE 0 END)" + of:     true,
		"SELECT MAX(-n)" + of:                                    true,
		"SELECT BOOL_AND(n > 10)" + of:                           true,
		"SELECT n, AVG(n) OVER () AS mean" + of:                  true,
		"SELECT MAX(n)" + of:                                     false,
		"SELECT route, n" + of:                                   false,
		"SELECT n, SUM(n) OVER () AS total" + of:                 false,
		"SELECT AVG(km) FROM routes":                             false,
		"SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM trips) q": false,
		"SELECT q.route, a.mean FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q CROSS JOIN " +
			"(SELECT AVG(n) AS mean FROM (SELECT deck, COUNT(*) AS n FROM trips GROUP BY deck) d) a": true,
		"SELECT q.route, r.km FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q JOIN routes r USING (route)": false,
	} {
		is := func(note string) bool { return strings.HasPrefix(note, "An answer has all possible groups") }
		e, err := c.Explain(t.Context(), Question{SQL: sql})
		if err != nil || slices.ContainsFunc(e.Notes, is) != noted {
			t.Errorf("explaining %s: %v, %v", sql, e, err)
			continue
		}
		for range 2 {
			r, err := c.Answer(t.Context(), Question{SQL: sql})
			if err != nil || slices.ContainsFunc(r.Notes, is) != noted {
				t.Errorf("%s: %v, %v", sql, r, err)
			}
		}
	}
}
