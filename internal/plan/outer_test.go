package plan_test

import (
	"strings"
	"testing"
)

// An outer join that keeps public rows is an inner join, if all aggregates ignore the public rows without a match.
func TestPublicRowsWithoutAMatch(t *testing.T) {
	key := relationKeys(t)
	sameKeys(t, key, map[string]string{
		"SELECT b.rs, COUNT(a.id) FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1":                                    "SELECT b.rs, COUNT(a.id) FROM r b JOIN p a ON b.rs = a.s GROUP BY 1",
		"SELECT b.rs, SUM(a.i), AVG(i + rx) FROM p a RIGHT JOIN r b ON b.rs = a.s AND b.rx > 1 GROUP BY 1":            "SELECT b.rs, SUM(a.i), AVG(i + rx) FROM p a JOIN r b ON b.rs = a.s AND b.rx > 1 GROUP BY 1",
		"SELECT COUNT(DISTINCT a.person) FROM r b LEFT JOIN p a ON b.rk = a.k WHERE a.i IS NULL OR b.rx > 1":          "SELECT COUNT(DISTINCT a.person) FROM r b JOIN p a ON b.rk = a.k WHERE a.i IS NULL OR b.rx > 1",
		"SELECT COUNT(*) FILTER (WHERE a.i > 0), MEDIAN(a.i) FROM r b LEFT JOIN p a ON b.rk = a.k":                    "SELECT COUNT(*) FILTER (WHERE a.i > 0), MEDIAN(a.i) FROM r b JOIN p a ON b.rk = a.k",
		"SELECT b.rs, COUNT(a.i) FROM r b LEFT JOIN p a ON b.rs = a.s LEFT JOIN v c ON c.who = a.person GROUP BY 1":   "SELECT b.rs, COUNT(a.i) FROM r b JOIN p a ON b.rs = a.s LEFT JOIN v c ON c.who = a.person GROUP BY 1",
		"SELECT b.rs, COUNT(a.i) AS n FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1 HAVING SUM(a.i) > 1 ORDER BY n": "SELECT b.rs, COUNT(a.i) AS n FROM r b JOIN p a ON b.rs = a.s GROUP BY 1 HAVING SUM(a.i) > 1 ORDER BY n",
	})
	for _, sql := range []string{
		"SELECT b.rs, COUNT(*) FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1",
		"SELECT b.rs, COUNT(a.id), COUNT(*) FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1",
		"SELECT b.rs, COUNT(b.rk) FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1",
		"SELECT COUNT(COALESCE(a.i, 0)) FROM r b LEFT JOIN p a ON b.rs = a.s",
		"SELECT SUM(CASE WHEN a.i > 0 THEN 1 ELSE 0 END) FROM r b LEFT JOIN p a ON b.rs = a.s",
		"SELECT COUNT(*) FILTER (WHERE a.i IS NULL) FROM r b LEFT JOIN p a ON b.rs = a.s",
		"SELECT COUNT(a.i IS NULL) FROM r b LEFT JOIN p a ON b.rs = a.s",
		"SELECT b.rs, COUNT(a.i) FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1 HAVING COUNT(*) > 1",
		"SELECT b.rs FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY b.rs",
		"SELECT COUNT(a.i) FROM r b FULL JOIN p a ON b.rs = a.s",
	} {
		if _, err := key(sql); err == nil || !strings.Contains(err.Error(), "belong to nobody") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
