package plan_test

import (
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

// An outer join that keeps public rows is an inner join, if all aggregates ignore the public rows without a match.
func TestPublicRowsWithoutAMatch(t *testing.T) {
	p, err := policy.Decode(enginetest.RelationPolicy("add-remove", false), ".")
	if err != nil {
		t.Fatal(err)
	}
	key := func(sql string) (string, error) {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			return "", err
		}
		return q.Canonical(1, 1, 1), nil
	}
	for outer, inner := range map[string]string{
		"SELECT b.rs, COUNT(a.id) FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1":                                    "SELECT b.rs, COUNT(a.id) FROM r b JOIN p a ON b.rs = a.s GROUP BY 1",
		"SELECT b.rs, SUM(a.i), AVG(i + rx) FROM p a RIGHT JOIN r b ON b.rs = a.s AND b.rx > 1 GROUP BY 1":            "SELECT b.rs, SUM(a.i), AVG(i + rx) FROM p a JOIN r b ON b.rs = a.s AND b.rx > 1 GROUP BY 1",
		"SELECT COUNT(DISTINCT a.person) FROM r b LEFT JOIN p a ON b.rk = a.k WHERE a.i IS NULL OR b.rx > 1":          "SELECT COUNT(DISTINCT a.person) FROM r b JOIN p a ON b.rk = a.k WHERE a.i IS NULL OR b.rx > 1",
		"SELECT COUNT(*) FILTER (WHERE a.i > 0), MEDIAN(a.i) FROM r b LEFT JOIN p a ON b.rk = a.k":                    "SELECT COUNT(*) FILTER (WHERE a.i > 0), MEDIAN(a.i) FROM r b JOIN p a ON b.rk = a.k",
		"SELECT b.rs, COUNT(a.i) FROM r b LEFT JOIN p a ON b.rs = a.s LEFT JOIN v c ON c.who = a.person GROUP BY 1":   "SELECT b.rs, COUNT(a.i) FROM r b JOIN p a ON b.rs = a.s LEFT JOIN v c ON c.who = a.person GROUP BY 1",
		"SELECT b.rs, COUNT(a.i) AS n FROM r b LEFT JOIN p a ON b.rs = a.s GROUP BY 1 HAVING SUM(a.i) > 1 ORDER BY n": "SELECT b.rs, COUNT(a.i) AS n FROM r b JOIN p a ON b.rs = a.s GROUP BY 1 HAVING SUM(a.i) > 1 ORDER BY n",
	} {
		got, err := key(outer)
		if err != nil {
			t.Errorf("%s: %v", outer, err)
			continue
		}
		want, err := key(inner)
		if err != nil {
			t.Fatal(inner, err)
		}
		if got != want {
			t.Errorf("%s is\n%s, want\n%s", outer, got, want)
		}
	}
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
