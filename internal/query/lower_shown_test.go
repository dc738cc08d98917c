package query

import (
	"strings"
	"testing"
)

// TestLowerShown checks forms that mean the same as another question.
func TestLowerShown(t *testing.T) {
	dp := "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) "
	sameTrees(t, map[string]string{
		`SELECT 2 * COUNT(*) ^ 2 FROM t`:                                  `SELECT 2 * POWER(COUNT(*), 2) FROM t`,
		`SELECT SUM(x)::money FROM t`:                                     `SELECT ROUND(CAST(SUM(x) AS real), 2) FROM t`,
		`SELECT SUM(CAST(x AS INT64)) FROM t`:                             `SELECT SUM(CAST(x AS integer)) FROM t`,
		"SELECT COUNT(*) FROM `shop.t`":                                   `SELECT COUNT(*) FROM t`,
		"SELECT COUNT(*) FROM `a.shop.t` JOIN\n`shop.u` ON true":          `SELECT COUNT(*) FROM a.shop.t JOIN u ON true`,
		"SELECT COUNT(`a.b`) FROM t":                                      `SELECT COUNT("a.b") FROM t`,
		"SELECT COUNT(*) FROM `T.u`":                                      `SELECT COUNT(*) FROM "T.u"`,
		`SELECT format('%s: %s%%', x, COUNT(*)) FROM t GROUP BY x`:        `SELECT concat(x, ': ', COUNT(*), '%') FROM t GROUP BY x`,
		`SELECT format('a') FROM t`:                                       `SELECT concat('a') FROM t`,
		dp + `EXTRACT(DAYOFWEEK FROM d) AS k, COUNT(*) FROM t GROUP BY k`: dp + `EXTRACT(dow FROM d) + 1 AS k, COUNT(*) FROM t GROUP BY k`,
		`SELECT percentile_cont(ARRAY[0.2, 0.5]) WITHIN GROUP (ORDER BY x DESC) FILTER (WHERE c), k, COUNT(*) FROM t GROUP BY 2 ORDER BY 3, 2`: `SELECT
			percentile_cont(0.2) WITHIN GROUP (ORDER BY x DESC) FILTER (WHERE c) AS percentile_cont_1,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY x DESC) FILTER (WHERE c) AS percentile_cont_2,
			k, COUNT(*) FROM t GROUP BY 3 ORDER BY 4, 3`,
		`SELECT k, percentile_disc(ARRAY[0.2]::float8[]) WITHIN GROUP (ORDER BY x) AS q FROM t GROUP BY 1`: `SELECT k, percentile_disc(0.2) WITHIN GROUP (ORDER BY x) AS q_1 FROM t GROUP BY 1`,
		`SELECT (percentile_disc(ARRAY[0.2, 0.7]) WITHIN GROUP (ORDER BY x))[2] FROM t`:                    `SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY x) FROM t`,
	})
	if s, err := Parse("SELECT COUNT(*) FROM `a.shop.t`"); err != nil || len(s.Catalogs) != 2 || s.Catalogs[0] != (Catalog{Pos{1, 23}, "shop", "t"}) {
		t.Errorf("catalogs: %+v, %v", s, err)
	}
	for sql, want := range map[string]string{
		`SELECT format('%d', COUNT(*)) FROM t`:                                       "FORMAT takes a constant text",
		`SELECT format('%s') FROM t`:                                                 "FORMAT takes a constant text",
		`SELECT format('%s', COUNT(*), 1) FROM t`:                                    "FORMAT takes a constant text",
		`SELECT format('%', COUNT(*)) FROM t`:                                        "FORMAT takes a constant text",
		`SELECT (percentile_disc(ARRAY[0.2]) WITHIN GROUP (ORDER BY x))[2] FROM t`:   "subscripts",
		`SELECT (percentile_disc(ARRAY[0.2]) WITHIN GROUP (ORDER BY x))[0] FROM t`:   "subscripts",
		`SELECT (percentile_disc(ARRAY[0.2]) WITHIN GROUP (ORDER BY x))[1:1] FROM t`: "subscripts",
		`SELECT percentile_disc(ARRAY[]::float8[]) WITHIN GROUP (ORDER BY x) FROM t`: "arrays",
		"SELECT COUNT(*) FROM `a.b.c.d`":                                             "",
	} {
		if _, err := Parse(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", sql, err, want)
		}
	}
}

// TestFilled checks that the functions that fill gaps become windows over the buckets.
func TestFilled(t *testing.T) {
	sameTrees(t, map[string]string{
		"SELECT time_bucket_gapfill('1h', t) AS b, s, locf(avg(x)), interpolate(avg(x)) + 1 AS i FROM u GROUP BY 1, s ORDER BY locf(avg(x))": `SELECT
			time_bucket('1h', t) AS b, s, locf(avg(x)) OVER (PARTITION BY s ORDER BY time_bucket('1h', t)) AS locf,
			interpolate(avg(x)) OVER (PARTITION BY s ORDER BY time_bucket('1h', t)) + 1 AS i FROM u GROUP BY 1, s
			ORDER BY locf(avg(x)) OVER (PARTITION BY s ORDER BY time_bucket('1h', t))`,
		"SELECT time_bucket_gapfill('1h', t) AS b, locf(avg(x)) AS y FROM u GROUP BY b": "SELECT time_bucket('1h', t) AS b, locf(avg(x)) OVER (ORDER BY time_bucket('1h', t)) AS y FROM u GROUP BY b",
		"SELECT s, locf(avg(x)) FROM u GROUP BY s":                                      "SELECT s, locf(avg(x)) FROM u GROUP BY s",
		"SELECT locf(1) FROM u GROUP BY time_bucket('1h', t), time_bucket('2h', t)":     "SELECT locf(1) FROM u GROUP BY time_bucket('1h', t), time_bucket('2h', t)",
	})
}

// TestDistinctOn checks that SELECT DISTINCT ON means a window function.
func TestDistinctOn(t *testing.T) {
	sameTrees(t, map[string]string{
		"SELECT COUNT(*) FROM (SELECT DISTINCT ON (a) a, b + 1 AS c FROM t WHERE d ORDER BY a, c DESC NULLS LAST, 2) q": `SELECT COUNT(*) FROM (SELECT a AS a, c AS c FROM (
			SELECT a AS a, b + 1 AS c, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b + 1 DESC NULLS LAST, b + 1) AS row_number FROM t WHERE d) first_rows
			WHERE first_rows.row_number = 1) q`,
		"SELECT COUNT(*) FROM (SELECT DISTINCT ON (x, y) * FROM t ORDER BY y, x, z) q": `SELECT COUNT(*) FROM (SELECT * FROM (
			SELECT *, ROW_NUMBER() OVER (PARTITION BY x, y ORDER BY z) AS row_number FROM t) first_rows WHERE first_rows.row_number = 1) q`,
		"SELECT DISTINCT ON (1) k, l, COUNT(*) FROM t GROUP BY k, l ORDER BY k DESC, COUNT(*) LIMIT 5": `SELECT k AS k, l AS l, count AS count FROM (
			SELECT k AS k, l AS l, COUNT(*) AS count, ROW_NUMBER() OVER (PARTITION BY k ORDER BY COUNT(*)) AS row_number FROM t GROUP BY k, l) first_rows
			WHERE first_rows.row_number = 1 ORDER BY k DESC, count LIMIT 5`,
		"SELECT DISTINCT ON (k) k, SUM(x) AS s FROM t GROUP BY k, l": `SELECT k AS k, s AS s FROM (
			SELECT k AS k, SUM(x) AS s, ROW_NUMBER() OVER (PARTITION BY k) AS row_number FROM t GROUP BY k, l) first_rows WHERE first_rows.row_number = 1`,
	})
}

// sameTrees checks that each question is read as another one is.
func sameTrees(t *testing.T, questions map[string]string) {
	t.Helper()
	for sql, want := range questions {
		got, err := Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		as, err := Parse(want)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if got.String() != as.String() {
			t.Errorf("%s means\n%s, want\n%s", sql, got.String(), as.String())
		}
	}
}
