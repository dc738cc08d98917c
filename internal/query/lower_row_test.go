package query_test

import (
	"strings"
	"testing"

	"dither/internal/query"
)

// Rows of values mean comparisons of the single values.
func TestRowsOfValues(t *testing.T) {
	for sql, want := range map[string]string{
		"(a, b) = (1, 2)":                "a = 1 AND b = 2",
		"(a, b) <> (1, 2)":               "NOT (a = 1 AND b = 2)",
		"(a, b) IN ((1, 2), (3, 4))":     "a = 1 AND b = 2 OR a = 3 AND b = 4",
		"(a, b) NOT IN ((1, 2))":         "NOT (a = 1 AND b = 2)",
		"ROW(a, b) IN ((1, 2))":          "a = 1 AND b = 2",
		"(a, b) < (1, 2)":                "a < 1 OR a = 1 AND b < 2",
		"(a, b, c) >= (1, 2, 3)":         "a > 1 OR a = 1 AND (b > 2 OR b = 2 AND c >= 3)",
		"(a, b) IN (SELECT a, b FROM u)": "(a, b) IN (SELECT a, b FROM u)",
	} {
		got, err := query.Parse("SELECT COUNT(*) FROM t WHERE " + sql)
		if err != nil {
			t.Error(sql, err)
			continue
		}
		as, err := query.Parse("SELECT COUNT(*) FROM t WHERE " + want)
		if err != nil {
			t.Fatal(want, err)
		}
		if query.Print(got.Where) != query.Print(as.Where) {
			t.Errorf("%s is %s, and not %s", sql, query.Print(got.Where), query.Print(as.Where))
		}
	}
	for sql, want := range map[string]string{
		"(a, b) = (1, 2, 3)":      "rows of values are compared with rows of as many values",
		"(a, b) IN ((1, 2), (3))": "rows of values are compared with rows of as many values",
		"(a, b) + (1, 2) = 3":     "rows of values can only be compared",
		"(a, b) = 3":              "rows of values are not supported",
	} {
		_, err := query.Parse("SELECT COUNT(*) FROM t WHERE " + sql)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Error(sql, err)
		}
	}
}

// A name of a table or of its columns is no call of AGE, whose one argument would be completed by the current date.
func TestAgeAsAName(t *testing.T) {
	for sql, want := range map[string]string{
		"WITH age(x) AS (SELECT a FROM t) SELECT AVG(x) FROM age":            "",
		"WITH b AS (SELECT a FROM t), age (x) AS (SELECT a FROM b) SELECT 1": "",
		"SELECT COUNT(*) FROM t AS age(p)":                                   "",
		"SELECT COUNT(*) FROM t age(p)":                                      "",
		"SELECT COUNT(*) FROM (SELECT a FROM t) age(p)":                      "",
		"SELECT COUNT(*) FROM t GROUP BY AGE(d)":                             "SELECT COUNT(*) FROM t GROUP BY AGE(DATE '1970-01-01', d)",
		"SELECT AGE(d) AS age FROM t":                                        "SELECT AGE(DATE '1970-01-01', d) AS age FROM t",
		"SELECT EXTRACT(year FROM age (d)) FROM t":                           "SELECT EXTRACT(year FROM age(DATE '1970-01-01', d)) FROM t",
	} {
		if want == "" {
			want = sql
		}
		if got, _, _ := query.AtInstant(sql, func() int64 { return 0 }); got != want {
			t.Errorf("%s\nbecomes %s", sql, got)
		}
	}
}
