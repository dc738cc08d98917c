package plan_test

import (
	"strings"
	"testing"
)

// A count of distinct combinations with the unit's column is the count of the rows of a subquery.
func TestDistinctCombinations(t *testing.T) {
	key := relationKeys(t)
	const joined = "p a JOIN v b ON a.person = b.who"
	sameKeys(t, key, map[string]string{
		"SELECT COUNT(DISTINCT (person, k)) FROM p": "SELECT COUNT(*) FROM (SELECT person, k FROM p GROUP BY person, k) q",
		"SELECT s, COUNT(DISTINCT (k, person)) AS n FROM p WHERE i > 0 GROUP BY 1 HAVING COUNT(DISTINCT (k, person)) > 3": "SELECT s, COUNT(*) AS n FROM (SELECT s, k, person FROM p WHERE i > 0 GROUP BY s, k, person) q GROUP BY s HAVING COUNT(*) > 3",
		"SELECT COUNT(DISTINCT (person, k)) FILTER (WHERE b) + 1 FROM p":                                                  "SELECT COUNT(*) + 1 FROM (SELECT person, k FROM p WHERE b GROUP BY person, k) q",
		"SELECT COUNT(DISTINCT person || '-' || k) FROM p WHERE b":                                                        "SELECT COUNT(*) FROM (SELECT person, k FROM p WHERE b AND person IS NOT NULL AND k IS NOT NULL GROUP BY person, k) q",
		"SELECT b.c, COUNT(DISTINCT a.person || ' on ' || b.d) FROM " + joined + " GROUP BY b.c":                          "SELECT c, COUNT(*) FROM (SELECT b.c, a.person, b.d FROM " + joined + " WHERE a.person IS NOT NULL AND b.d IS NOT NULL GROUP BY b.c, a.person, b.d) q GROUP BY c",
		"SELECT COUNT(DISTINCT (k, i)), COUNT(*) FROM p":                                                                  "SELECT COUNT(DISTINCT COALESCE(k::text, 'NULL') || '/' || COALESCE(i::text, 'NULL')), COUNT(*) FROM p",
	})
	for sql, want := range map[string]string{
		"SELECT COUNT(DISTINCT (person, k)), COUNT(*) FROM p":                                   "takes one value",
		"SELECT COUNT(DISTINCT (k, s)) FROM p":                                                  "takes one value",
		"SELECT COUNT(DISTINCT (person, k), weight => 2) FROM p":                                "rows of values are not supported",
		"SELECT s, COUNT(DISTINCT (person, k)) FROM p GROUP BY ROLLUP (s)":                      "takes one value",
		"SELECT COUNT(DISTINCT person || '1' || k) FROM p":                                      "computed only over known values", // 1 and 1, or 11 and
		"SELECT COUNT(DISTINCT s || '-' || person) FROM p":                                      "computed only over known values",
		"SELECT AVG(n) FROM (SELECT COUNT(DISTINCT (person, k)) AS n FROM p GROUP BY person) q": "takes one value here",
		"SELECT COUNT(DISTINCT (person, x)) FROM p":                                             "a real number cannot be a key",
	} {
		if _, err := key(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}
