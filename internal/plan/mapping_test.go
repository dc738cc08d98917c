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
		"SELECT COUNT(*) FROM p a JOIN (VALUES ('1', 1), ('01', 2)) m (i, n) ON m.i = a.i",
		"SELECT COUNT(*) FROM p a RIGHT JOIN (VALUES ('a', 1), ('B', 2)) m (s, n) ON m.s = a.s",
		"SELECT COUNT(*) FROM p a, (VALUES ('a', 1), ('B', 2)) m (s, n) WHERE m.n > 1",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (1, 3), (4, NULL)) m (lo, hi) ON a.i >= m.lo AND a.i < m.hi",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (1, 3.5), (4, 9)) m (lo, hi) ON a.i >= m.lo AND a.i < m.hi",
		"SELECT COUNT(*) FROM p a JOIN (VALUES (1, 3), (4, 9)) m (lo, hi) ON a.i >= m.lo OR a.i < m.hi",
	} {
		if _, err := key(sql); err == nil || !strings.Contains(err.Error(), "VALUES of several rows is not supported beside rows of persons") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A table of constants whose rows are disjoint ranges is a CASE of the rows beside it. Others are refused, because a row could
// meet several of theirs.
func TestRangesAreAMapping(t *testing.T) {
	key := relationKeys(t)
	const ranges = "(VALUES (-2, 1, 'low'), (1, 5, 'high')) m (lo, hi, l)"
	const low, kept = "CASE WHEN a.i >= -2 AND a.i < 1 THEN 'low' ELSE 'high' END", " FROM p a WHERE a.i >= -2 AND a.i < 1 OR a.i >= 1 AND a.i < 5"
	sameKeys(t, key, map[string]string{
		"SELECT m.l, COUNT(*) FROM p a JOIN " + ranges + " ON a.i >= m.lo AND a.i < m.hi GROUP BY m.l":    "SELECT " + low + ", COUNT(*)" + kept + " GROUP BY 1",
		"SELECT l, COUNT(*) FROM p a, " + ranges + " WHERE lo <= i AND hi > i GROUP BY l":                 "SELECT " + low + ", COUNT(*)" + kept + " GROUP BY 1",
		"SELECT m.l, COUNT(*) FROM p a LEFT JOIN " + ranges + " ON a.i >= m.lo AND a.i < m.hi GROUP BY 1": "SELECT CASE WHEN a.i >= -2 AND a.i < 1 THEN 'low' WHEN a.i >= 1 AND a.i < 5 THEN 'high' END, COUNT(*) FROM p a GROUP BY 1",
		"SELECT COUNT(*) FROM p a, (VALUES ('a', 1), ('B', 2)) m (s, n) WHERE m.s = a.s":                  "SELECT COUNT(*) FROM p a WHERE a.s IN ('a', 'B')",
	})
	for _, on := range []string{
		"(VALUES (-2, 1), (1, 5)) m (lo, hi) ON a.i BETWEEN m.lo AND m.hi",
		"(VALUES (-2, 2), (1, 5)) m (lo, hi) ON a.i >= m.lo AND a.i < m.hi",
		"(VALUES (0.1, 2), (-1, 0.10000000000000000001)) m (lo, hi) ON a.x >= m.lo AND a.x <= m.hi",
		"(VALUES (1), (2)) m (lo) ON a.i >= m.lo",
		"(VALUES ('a', 1, 3), ('a', 2, 5)) m (s, lo, hi) ON a.s = m.s AND a.i >= m.lo AND a.i < m.hi",
		"(VALUES (-2, 1), (1, 5)) m (lo, hi) ON a.i >= m.lo AND a.k < m.hi",
	} {
		if _, err := key("SELECT COUNT(*) FROM p a JOIN " + on); err == nil || !strings.Contains(err.Error(), "overlap") {
			t.Errorf("%s: %v", on, err)
		}
	}
}

// ORDER BY and LIMIT keep first rows of the outer row's person alone. (TestWrittenQuestionsMeanSQL compares the answers.)
func TestLimitedRowsAreThePersons(t *testing.T) {
	key := relationKeys(t)
	for sql, want := range map[string]string{
		"SELECT SUM(x.y) FROM p a CROSS JOIN LATERAL (SELECT y FROM v WHERE v.j = a.i ORDER BY d LIMIT 1) x":                      "must divide them by the person",
		"SELECT SUM(x.y) FROM p a CROSS JOIN LATERAL (SELECT y FROM v WHERE v.who = a.person AND v.j > a.i ORDER BY d LIMIT 1) x": "may only aggregate",
		"SELECT SUM(x.y) FROM p a CROSS JOIN LATERAL (SELECT y FROM v WHERE v.who = a.person LIMIT 1) x":                          "may only aggregate",
		"SELECT SUM((SELECT y FROM v WHERE v.who = a.person ORDER BY d LIMIT 2)) FROM p a":                                        "LIMIT inside a subquery",
	} {
		if _, err := key(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}
