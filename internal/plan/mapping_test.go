package plan_test

import (
	"strings"
	"testing"
)

// A table of constants that is joined by one column of different values is a CASE of the rows beside it.
func TestConstantsAreAMapping(t *testing.T) {
	key := relationKeys(t)
	const mapping = "(VALUES ('a', 'A', 1), ('B', 'b', 2)) m (s, l, n)"
	const inner = " FROM p a WHERE a.s IN ('a', 'B')"
	sameKeys(t, key, map[string]string{
		"SELECT m.l, COUNT(*) FROM p a JOIN " + mapping + " ON m.s = a.s GROUP BY m.l":                                               "SELECT CASE a.s WHEN 'a' THEN 'A' ELSE 'b' END, COUNT(*)" + inner + " GROUP BY 1",
		"SELECT l, SUM(n) FROM " + mapping + " JOIN p a ON a.s = m.s GROUP BY l":                                                     "SELECT CASE a.s WHEN 'a' THEN 'A' ELSE 'b' END, SUM(CASE a.s WHEN 'a' THEN 1 ELSE 2 END)" + inner + " GROUP BY 1",
		"SELECT l, COUNT(s) FROM p a JOIN " + mapping + " USING (s) GROUP BY l":                                                      "SELECT CASE a.s WHEN 'a' THEN 'A' ELSE 'b' END, COUNT(s)" + inner + " GROUP BY 1",
		"SELECT m.l, COUNT(*) FROM p a LEFT JOIN " + mapping + " ON m.s = a.s GROUP BY 1":                                            "SELECT CASE a.s WHEN 'a' THEN 'A' WHEN 'B' THEN 'b' END, COUNT(*) FROM p a GROUP BY 1",
		"WITH m AS (SELECT 'a' AS s, 'A' AS l UNION ALL SELECT 'B', 'b') SELECT l, COUNT(*) FROM p a JOIN m ON m.s = a.s GROUP BY l": "SELECT CASE a.s WHEN 'a' THEN 'A' ELSE 'b' END, COUNT(*)" + inner + " GROUP BY 1",
	})
	for _, sql := range []string{
		"SELECT COUNT(*) FROM p a JOIN (VALUES ('a', 1), ('a', 2)) m (s, n) ON m.s = a.s",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (NULL, 1), ('a', 2)) m (s, n) ON m.s = a.s",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (0.5, 1), (0.50, 2)) m (x, n) ON m.x = a.x",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (1 + 1, 1), (2, 2)) m (i, n) ON m.i = a.i",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (1, 3), (4, 9)) m (lo, hi) ON a.i >= m.lo AND a.i < m.hi",
		"SELECT COUNT(*) FROM p a JOIN (VALUES ('1', 1), ('01', 2)) m (i, n) ON m.i = a.i",
		"SELECT COUNT(*) FROM p a RIGHT JOIN (VALUES ('a', 1), ('B', 2)) m (s, n) ON m.s = a.s",
		"SELECT COUNT(*) FROM p a, (VALUES ('a', 1), ('B', 2)) m (s, n) WHERE m.s = a.s",
	} {
		if _, err := key(sql); err == nil || !strings.Contains(err.Error(), "VALUES of several rows is not supported beside rows of persons") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
