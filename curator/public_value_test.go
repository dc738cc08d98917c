package curator

import (
	"path/filepath"
	"strings"
	"testing"
)

// An aggregate of public rows in a subquery is a constant: the question has the release of the same question with the
// value written out.
func TestAggregatesOfPublicRowsAreConstants(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	for _, q := range []struct{ sql, same string }{
		{"SELECT COUNT(*) FROM trips WHERE fare > (SELECT AVG(km) FROM routes)", "SELECT COUNT(*) FROM trips WHERE fare > 81.75"},
		{
			"SELECT route, COUNT(*) FROM trips t WHERE luggage < (SELECT COUNT(*) FROM routes WHERE harbour = 'Inner Quay') GROUP BY route",
			"SELECT route, COUNT(*) FROM trips WHERE luggage < 2 GROUP BY route",
		},
		{
			"SELECT COUNT(*) FROM (SELECT * FROM trips WHERE fare > (SELECT MAX(km) FROM routes) / 2.0) q",
			"SELECT COUNT(*) FROM trips WHERE fare > 180 / 2.0",
		},
		{
			"SELECT SUM(CASE WHEN fare > (SELECT SUM(km) FROM routes WHERE km > 500) THEN 1 ELSE 0 END) FROM trips",
			"SELECT SUM(CASE WHEN fare > CAST(NULL AS integer) THEN 1 ELSE 0 END) FROM trips",
		},
		{
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM trips WHERE fare > (SELECT MIN(km) FROM routes)",
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM trips WHERE fare > 12",
		},
		{
			"SELECT route, n * 1.0 / SUM(n) OVER () AS share FROM (SELECT route, COUNT(*) AS n FROM trips " +
				"WHERE fare > (SELECT MAX(km) FROM routes) GROUP BY route) q",
			"SELECT route, COUNT(*) AS n FROM trips WHERE fare > 180 GROUP BY route",
		},
		{
			"SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes WHERE km > (SELECT AVG(km) FROM routes))",
			"SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes WHERE km > 81.75)",
		},
		{
			"SELECT COUNT(*) FROM trips t JOIN routes r ON r.route = t.route AND r.km >= (SELECT MAX(km) FROM routes)",
			"SELECT COUNT(*) FROM trips t JOIN routes r ON r.route = t.route AND r.km >= 180",
		},
		{
			"SELECT deck, COUNT(*) FROM trips GROUP BY deck, (SELECT MIN(km) - 10 FROM routes)",
			"SELECT deck, COUNT(*) FROM trips GROUP BY deck, CAST(2 AS integer)",
		},
		{
			"SELECT COUNT(*) FROM passengers p WHERE EXISTS (SELECT 1 FROM trips t JOIN routes r ON r.route = t.route WHERE " +
				"t.passenger = p.passenger AND r.km > (SELECT MIN(km) + 1 FROM routes))",
			"SELECT COUNT(*) FROM passengers p WHERE EXISTS (SELECT 1 FROM trips t JOIN routes r ON r.route = t.route WHERE " +
				"t.passenger = p.passenger AND r.km > 13)",
		},
	} {
		explained, err := c.Explain(t.Context(), Question{SQL: q.sql})
		if err != nil || explained.Free {
			t.Errorf("%s: %v", q.sql, err)
			continue
		}
		first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: q.sql}))
		second := must[*Release](t)(c.Answer(t.Context(), Question{SQL: q.same}))
		if first.Replayed || !second.Replayed || first.ID != second.ID {
			t.Errorf("%s has release %s, and %s has %s", q.sql, first.ID, q.same, second.ID)
		}
	}
	for _, sql := range []string{
		"SELECT COUNT(*) FROM trips t WHERE fare > (SELECT AVG(r.km) FROM routes r WHERE r.route = t.route)", // linked
		"SELECT COUNT(*) FROM trips t WHERE fare > (SELECT AVG(km) FROM routes WHERE km > t.luggage)",
		"SELECT COUNT(*) FROM trips WHERE fare > (SELECT AVG(fare) FROM trips)", // rows of persons
		"SELECT COUNT(*) FROM trips WHERE fare > (SELECT AVG(km) FROM routes) + (SELECT AVG(points) FROM passengers)",
	} {
		if _, err := c.Explain(t.Context(), Question{SQL: sql}); err == nil {
			t.Errorf("%s is answered", sql)
		}
	}
}

// A subquery over a public table that is not sealed yet is refused for that reason, which names the table. LIMIT over
// public rows is refused for a reason that is true of them.
func TestReasonsOverPublicTables(t *testing.T) {
	homes := map[bool]*Session{}
	for all, tables := range map[bool][]string{true: questionTables["ferry"], false: {"trips"}} {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		homes[all] = sealedTables(t, "ferry", filepath.Join(t.TempDir(), "ferry"), tables)
	}
	for _, c := range []struct {
		sealed bool
		sql    string
		reason string
	}{
		{false, "SELECT COUNT(*) FROM trips WHERE fare > (SELECT AVG(km) FROM routes)", "not sealed yet: routes"},
		{false, "SELECT COUNT(*) FROM trips WHERE fare > (SELECT MAX(km) FROM routes WHERE km < 50)", "not sealed yet: routes"},
		{false, "SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes WHERE km < 50)", "not sealed yet: routes"},
		{true, "SELECT COUNT(*) FROM trips WHERE fare > (SELECT km FROM routes ORDER BY km LIMIT 1)", "of public rows is not supported"},
		{true, "SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM routes ORDER BY km LIMIT 2)", "of public rows is not supported"},
		{true, "SELECT COUNT(*) FROM trips t JOIN (SELECT route FROM routes LIMIT 2) r ON r.route = t.route", "of public rows is not supported"},
		{true, "SELECT COUNT(*) FROM trips WHERE route IN (SELECT route FROM trips ORDER BY fare LIMIT 2)", "other persons' rows"},
	} {
		if _, err := homes[c.sealed].Explain(t.Context(), Question{SQL: c.sql}); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
}
