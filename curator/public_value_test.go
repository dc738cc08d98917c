package curator

import "testing"

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
