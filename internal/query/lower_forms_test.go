package query

import (
	"strings"
	"testing"
)

// Forms without a node of their own become an expression that means the same.
func TestForms(t *testing.T) {
	for sql, want := range map[string]string{
		"a ~ 'x'":                                               "regexp_like(a, 'x')",
		"a !~* 'x'":                                             "NOT regexp_like(a, 'x', 'i')",
		"a ^@ 'x'":                                              "starts_with(a, 'x')",
		"a NOT SIMILAR TO 'x|y'":                                "a NOT SIMILAR TO 'x|y'",
		"a LIKE '50!%%' ESCAPE '!'":                             `a LIKE '50\%%'`,
		`a LIKE '50\%' ESCAPE '\'`:                              `a LIKE '50\%'`,
		`a LIKE 'x\y!!' ESCAPE '!'`:                             `a LIKE 'x\\y!'`,
		`a ILIKE 'x\' ESCAPE ''`:                                `a ILIKE 'x\\'`,
		"a IS DISTINCT FROM 'x'":                                "a = 'x' IS NOT TRUE",
		"a IS NOT DISTINCT FROM 3":                              "a = 3 IS TRUE",
		"NULL IS DISTINCT FROM a":                               "a IS NOT NULL",
		"a IS DISTINCT FROM b":                                  "NOT coalesce(a = b, a IS NULL AND b IS NULL)",
		"a BETWEEN SYMMETRIC 9 AND 1":                           "a BETWEEN 9 AND 1 OR a BETWEEN 1 AND 9",
		"a NOT BETWEEN SYMMETRIC 9 AND 1":                       "NOT (a BETWEEN 9 AND 1 OR a BETWEEN 1 AND 9)",
		"a = ANY (ARRAY[1, 2])":                                 "a IN (1, 2)",
		"a <> ALL (ARRAY['x','y']::text[])":                     "a NOT IN ('x', 'y')",
		`a = ANY ('{x,"y z",null}')`:                            "a IN ('x', 'y z', NULL)",
		"a = ANY ('{1, 2}'::int[])":                             "a IN (1, 2)",
		"a = ANY ('{1.5}'::numeric[])":                          "a IN (1.5)",
		"a = ANY ('{1,2}'::text[])":                             "a IN ('1', '2')",
		"a LIKE ANY (ARRAY['x%', 'y%'])":                        "a LIKE 'x%' OR a LIKE 'y%'",
		"a NOT ILIKE ALL (ARRAY['x%'])":                         "NOT a ILIKE 'x%'",
		"a IN (SELECT unnest(ARRAY['x', 'y']))":                 "a IN ('x', 'y')",
		"a NOT IN (SELECT unnest(string_to_array('x,y', ',')))": "NOT a IN ('x', 'y')",
		"a = ANY (SELECT unnest('{1,2}'::int[]))":               "a IN (1, 2)",
		"a IN (VALUES (1), (b + 2))":                            "a IN (1, b + 2)",
		"time_bucket('1h', a, 'utc')":                           "time_bucket('1h', a)",
		"time_bucket('1 week', a, INTERVAL '1 day')":            "time_bucket('1 week', a - INTERVAL '1 days') + INTERVAL '1 days'",
		"time_bucket('1 day', a, '2025-01-01')":                 "time_bucket('1 day', a, '2025-01-01')",
		"position('x' in a)":                                    "strpos(a, 'x')",
		"trim(both 'x' from a)":                                 "btrim(a, 'x')",
		"substring(a from 2 for 3)":                             `"substring"(a, 2, 3)`,
		"if(a, 1, 2)":                                           "CASE WHEN a THEN 1 ELSE 2 END",
		"IIF(a = 1, 'x', NULL)":                                 "CASE WHEN a = 1 THEN 'x' ELSE NULL END",
		"COUNTIF(a)":                                            "count(CASE WHEN a THEN 1 END)",
		"count_if(a) FILTER (WHERE b)":                          "count(CASE WHEN a THEN 1 END) FILTER (WHERE b)",
		"COUNTIF(a, epsilon => 1)":                              "count(CASE WHEN a THEN 1 END, epsilon => 1)",
		"if(a, 1)":                                              "if(a, 1)",
		"countif(DISTINCT a)":                                   "countif(DISTINCT a)",
		"a::varchar":                                            "CAST(a AS text)",
		"a::varchar(3)":                                         `"left"(CAST(a AS text), 3)`,
		"a::char(1)":                                            `"left"(CAST(a AS text), 1)`,
		"a::varchar(5000)":                                      "CAST(a AS text)",
		"a::numeric(10,2)":                                      "round(CAST(a AS double precision), 2)",
		"a::decimal(10)":                                        "round(CAST(a AS double precision), 0)",
	} {
		s, err := Parse("SELECT " + sql + " FROM t")
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := Print(s.Items[0].Expr); got != want {
			t.Errorf("%s is %s, not %s", sql, got, want)
		}
	}
	for _, sql := range []string{
		"a < ANY (ARRAY[1])", "a = ANY ('1,2')", `a = ANY ('{"x}')`, "a = ANY ('{{1}}')", "a = ANY ('{}')",
		"a = ANY ('{x}'::int[])", "a = ANY (ARRAY[]::int[])", "a LIKE 'x' ESCAPE 'ab'", "a LIKE 'x!' ESCAPE '!'",
		"a::numeric(40,20)", "a::timestamp(3)", "time_bucket('1h', a, 'Mars/Base')", "a IN (SELECT 1)", "a IN (VALUES (1, 2))",
		"a IN (SELECT unnest(ARRAY[1]) LIMIT 1)",
		strings.Repeat("COUNTIF(", 110) + "a" + strings.Repeat(")", 110),             // as deep as what it means
		strings.Repeat("(", 100) + "a" + strings.Repeat(" IS DISTINCT FROM b)", 100), // would double each time
	} {
		if s, err := Parse("SELECT " + sql + " FROM t"); err == nil {
			t.Errorf("%s is accepted as %s", sql, s)
		}
	}
}
