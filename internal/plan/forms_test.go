package plan_test

import (
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

// A form that stands for another one has the same plan: the same statement, bounds, noise and price. So the tests of the
// other form, of neighbours and of engines, hold for it too.
func TestFormsHaveThePlanOfTheirMeaning(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	planned := func(sql string) string {
		t.Helper()
		out, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			return ""
		}
		return out.Canonical(1, 1, 1, 1, 1, 1)
	}
	for _, c := range []struct{ form, meaning string }{
		// rows of values
		{"SELECT COUNT(*) FROM visits WHERE (cost, doctor) IN ((1, 2), (3, 4))", "SELECT COUNT(*) FROM visits WHERE cost = 1 AND doctor = 2 OR cost = 3 AND doctor = 4"},
		{"SELECT COUNT(*) FROM visits WHERE (cost, doctor) < (1, 2)", "SELECT COUNT(*) FROM visits WHERE cost < 1 OR cost = 1 AND doctor < 2"},
		// subqueries of constants
		{"SELECT COUNT(*) FROM visits v CROSS JOIN (SELECT 5 AS cut) c WHERE v.cost >= c.cut", "SELECT COUNT(*) FROM (SELECT * FROM visits) v WHERE v.cost >= 5"},
		{"SELECT COUNT(*) FROM visits v CROSS JOIN (VALUES (5)) AS c (cut) WHERE v.cost >= cut", "SELECT COUNT(*) FROM (SELECT * FROM visits) v WHERE v.cost >= 5"},
		{"SELECT COUNT(*) FROM (SELECT 5 AS cut) c, visits v WHERE v.cost >= c.cut", "SELECT COUNT(*) FROM (SELECT * FROM visits) v WHERE v.cost >= 5"},
		{"SELECT COUNT(*) FROM visits v JOIN (SELECT 5 AS cut) c ON v.cost >= c.cut", "SELECT COUNT(*) FROM (SELECT * FROM visits) v WHERE v.cost >= 5"},
		{"WITH c AS (SELECT 5 AS cut) SELECT COUNT(*) FROM visits WHERE cost >= (SELECT cut FROM c)", "SELECT COUNT(*) FROM visits WHERE cost >= 5"},
		// LATERAL
		{
			"SELECT AVG(x.n) FROM customers c LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM visits v WHERE v.who = c.id) x ON TRUE",
			"SELECT AVG((SELECT COUNT(*) FROM visits v WHERE v.who = c.id)) FROM customers c",
		},
		{"SELECT AVG(h.half) FROM visits v CROSS JOIN LATERAL (SELECT v.cost / 2 AS half) h", "SELECT AVG(half) FROM (SELECT cost / 2 AS half FROM visits) v"},
		// sets of persons
		{
			"SELECT COUNT(*) FROM (SELECT who FROM visits WHERE cost > 5 INTERSECT SELECT customer FROM orders) q",
			"SELECT COUNT(*) FROM (SELECT DISTINCT who FROM (SELECT who FROM visits WHERE cost > 5) v WHERE who IN (SELECT customer FROM orders)) q",
		},
		{
			"SELECT COUNT(*) FROM (SELECT who FROM visits UNION SELECT customer FROM orders) q",
			"SELECT COUNT(*) FROM (SELECT DISTINCT who FROM (SELECT who FROM visits UNION ALL SELECT customer FROM orders) u) q",
		},
		{"SELECT COUNT(*) FROM visits WHERE DATE '2025-12-01' - INTERVAL '90' DAY (3) < DATE '2025-09-03'", "SELECT COUNT(*) FROM visits WHERE DATE '2025-12-01' - INTERVAL '90 days' < DATE '2025-09-03'"},
		// texts without known values
		{"SELECT COUNT(*) FROM lines WHERE TRIM(tag)::varchar(2) = 'a'", "SELECT COUNT(*) FROM lines WHERE LEFT(BTRIM(tag, ' '), 2) = 'a'"},
		{"SELECT AVG(CHAR_LENGTH(tag)) FROM lines", "SELECT AVG(LENGTH(tag)) FROM lines"},
		{"SELECT COUNT(*) FROM lines WHERE POSITION('a' IN SUBSTR(tag, 2)) = 1", "SELECT COUNT(*) FROM lines WHERE STRPOS(SUBSTRING(tag FROM 2), 'a') = 1"},
		// regular expressions
		{"SELECT COUNT(*) FROM lines WHERE tag ~ '^a'", "SELECT COUNT(*) FROM lines WHERE tag LIKE 'a%'"},
		{"SELECT COUNT(*) FROM lines WHERE tag ~* 'A.*b$'", "SELECT COUNT(*) FROM lines WHERE tag ILIKE '%a%b'"},
		{"SELECT COUNT(*) FROM lines WHERE tag !~ '^(Sun|Moon)'", "SELECT COUNT(*) FROM lines WHERE NOT (tag LIKE 'Sun%' OR tag LIKE 'Moon%')"},
		{"SELECT COUNT(*) FROM lines WHERE tag SIMILAR TO '(Sun|Moon)%'", "SELECT COUNT(*) FROM lines WHERE tag LIKE 'Sun%' OR tag LIKE 'Moon%'"},
	} {
		if got, want := planned(c.form), planned(c.meaning); got != want {
			t.Errorf("%s\nhas the plan %s\nand %s\nhas %s", c.form, got, c.meaning, want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM (SELECT cost FROM visits INTERSECT SELECT cost FROM visits) q":                                                "",
		"SELECT COUNT(*) FROM customers WHERE region NOT IN (SELECT region FROM regions EXCEPT SELECT region FROM regions WHERE big)":       "INTERSECT and EXCEPT of other columns are not supported",
		"SELECT COUNT(*) FROM (SELECT who AS w FROM visits EXCEPT SELECT customer FROM orders WHERE w > 5) q":                               "there is no column \"w\"",
		"SELECT COUNT(*) FROM (SELECT who AS w FROM visits INTERSECT SELECT customer FROM orders WHERE q.w = customer) q":                   "there is no table \"q\"",
		"SELECT COUNT(*) FROM (SELECT cost FROM visits UNION SELECT total FROM orders) q":                                                   "",
		"SELECT AVG(x.s) FROM customers c LEFT JOIN LATERAL (SELECT SUM(cost) AS s FROM visits v) x ON TRUE":                                "would pair different persons' rows",
		"SELECT AVG(x.cost) FROM customers c LEFT JOIN LATERAL (SELECT cost FROM visits v WHERE v.who = c.id ORDER BY cost DESC) x ON TRUE": "a LATERAL subquery may only aggregate",
		"SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT 5 AS cut) c ON v.cost > c.cut":                                                     "this subquery is joined to every row",
		"SELECT COUNT(*) FROM visits v, (SELECT v.cost AS cut) c":                                                                           "",
		"SELECT COUNT(*) FROM lines WHERE tag ~ '[0-9]+'":                                                                                   "REGEXP_LIKE is computed only over known values",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: sql}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v", sql, err)
		}
	}
}
