package curator

import (
	"strings"
	"testing"
)

// Hints that the planner writes in the question's own names are answered when they are pasted.
func TestHintsArePasted(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	for _, c := range []struct{ sql, hint string }{
		{"SELECT «MIN(fare)» FROM trips", "percentile_disc(0.01) WITHIN GROUP (ORDER BY fare)"},
		{"SELECT route, «MAX(fare * luggage)» AS m FROM trips WHERE deck = 'car' GROUP BY route HAVING MAX(fare * luggage) > 3 ORDER BY m", "percentile_disc(0.99) WITHIN GROUP (ORDER BY fare * luggage)"},
		{"SELECT «MAX(sailed)» FROM trips", "percentile_disc(0.99) WITHIN GROUP (ORDER BY sailed)"},
		{"SELECT «MIN(fare) FILTER (WHERE cancelled)» FROM trips", "percentile_disc(0.01) WITHIN GROUP (ORDER BY fare) FILTER (WHERE cancelled)"},
		{"«SELECT MAX(route) FROM trips WHERE fare > 3»", "SELECT route FROM trips WHERE fare > 3 GROUP BY route HAVING count(*) > 100 ORDER BY route DESC LIMIT 1"},
		{"«SELECT MIN(agent) FROM trips»", "SELECT agent FROM trips GROUP BY agent HAVING count(*) > 100 ORDER BY agent LIMIT 1"},
		{"«SELECT passenger, SUM(fare) FROM trips WHERE fare > 3 GROUP BY passenger»", "SELECT avg(n) FROM (SELECT passenger, count(*) AS n FROM trips WHERE fare > 3 GROUP BY passenger) AS q"},
		{"«SELECT t.passenger, COUNT(*) FROM trips t, passengers p WHERE t.passenger = p.passenger AND p.member GROUP BY 1 ORDER BY 2 DESC LIMIT 10»", "SELECT avg(n) FROM (SELECT t.passenger, count(*) AS n FROM trips AS t, passengers AS p"},
		{"«SELECT SUM(fare) OVER () FROM trips»", "SELECT sum(sum(fare)) OVER () FROM trips"},
		{"«SELECT route, fare, SUM(fare) OVER (PARTITION BY channel) FROM trips»", ""},
		{"«SELECT route, COUNT(*) OVER (PARTITION BY channel) AS n FROM trips WHERE NOT cancelled»", "SELECT route, sum(count(*)) OVER (PARTITION BY channel) AS n FROM trips WHERE NOT cancelled GROUP BY route, channel"},
		{"«SELECT channel, ROW_NUMBER() OVER (ORDER BY route) FROM trips»", "SELECT channel, row_number() OVER (ORDER BY route) FROM trips GROUP BY channel, route"},
		{"«SELECT DISTINCT route FROM trips WHERE fare > 5 ORDER BY route»", "SELECT route, count(*) FROM trips WHERE fare > 5 GROUP BY route HAVING count(*) > 100 ORDER BY route"},
	} {
		before, rest, _ := strings.Cut(c.sql, "«")
		call, after, _ := strings.Cut(rest, "»")
		_, err := session.Explain(t.Context(), Question{SQL: before + call + after})
		message, hint := refusal(err)
		if message == "" || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %s\n%s", c.sql, message, hint)
			continue
		}
		if c.hint == "" { // the general hint
			continue
		}
		_, pasted, ok := strings.Cut(hint, "write ")
		if !ok {
			t.Errorf("%s: %s", c.sql, hint)
			continue
		}
		if strings.Contains(c.sql, "HAVING MAX") { // the hint replaces each of the calls
			after = strings.ReplaceAll(after, call, pasted)
		}
		if _, err := session.Explain(t.Context(), Question{SQL: before + pasted + after}); err != nil {
			t.Errorf("%s: the hint gives %s, which is refused: %v", c.sql, before+pasted+after, err)
		}
	}
}
