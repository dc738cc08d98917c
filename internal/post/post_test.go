package post

import (
	"math/big"
	"testing"

	"dither/internal/query"
	"dither/internal/value"
	"dither/noise"
)

// TestMeasuredQuestions checks how questions are divided: the measured question has the GROUP BY expressions and the
// aggregates, and nothing that depends on released numbers.
func TestMeasuredQuestions(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{
			"SELECT route, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM trips GROUP BY route ORDER BY share DESC LIMIT 5",
			"SELECT route, count(*) FROM trips GROUP BY route",
		},
		{
			"SELECT m, n - LAG(n) OVER (ORDER BY m) FROM (SELECT date_trunc('month', d) AS m, COUNT(*) AS n FROM t GROUP BY 1) q",
			"SELECT date_trunc('month', d) AS m, count(*) AS n FROM t GROUP BY date_trunc('month', d)",
		},
		{"SELECT CASE WHEN COUNT(*) > 9 THEN 'many' END AS what FROM t WHERE x > 1 GROUP BY t.k HAVING SUM(x) > 3", "SELECT count(*), sum(x) FROM t WHERE x > 1 GROUP BY t.k"},
		{"SELECT COUNT(*) FROM (SELECT k FROM t GROUP BY k) q", "SELECT k FROM t GROUP BY k"},
		{"WITH q AS (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b) SELECT SUM(n) FROM q", "SELECT a, b, count(*) AS n FROM t GROUP BY a, b"},
	} {
		tree, err := query.Parse(c.sql)
		if err != nil {
			t.Fatal(c.sql, err)
		}
		programs := Split(tree, func(*query.Select, string) bool { return false })
		if len(programs) == 0 {
			t.Fatal(c.sql, "has no measured question")
		}
		if got := programs[len(programs)-1].Measured.String(); got != c.want {
			t.Errorf("%s\nmeasures %s\nwant     %s", c.sql, got, c.want)
		}
	}
}

// answer returns the rows of a measured question about a text key k, a number x and a count n, without noise.
func answer() ([]Column, [][]Cell) {
	columns := []Column{{Name: "k", Type: value.Text}, {Name: "x", Type: value.Integer}, {Name: "n", Type: value.Integer}}
	var rows [][]Cell
	for i, k := range []string{"a", "b", "c", "d"} {
		rows = append(rows, []Cell{Exact(value.OfText(k)), Exact(value.OfInt(int64(i % 2))), Exact(value.OfInt(int64(10 * (i + 1))))})
	}
	return columns, rows
}

// TestValues computes SELECTs over a small answer.
func TestValues(t *testing.T) {
	const of = " FROM (SELECT k, x, COUNT(*) AS n FROM t GROUP BY k, x) q"
	for sql, want := range map[string]string{
		"SELECT *" + of + " WHERE n > 20 ORDER BY n DESC":                                                                  "d 1 40; c 0 30",
		"SELECT SUM(n), AVG(n), MIN(k), MAX(n), COUNT(*)" + of:                                                             "100 25 a 40 4",
		"SELECT x, SUM(n) AS s" + of + " GROUP BY x HAVING SUM(n) > 1 ORDER BY s DESC":                                     "1 60; 0 40",
		"SELECT k, SUM(n) OVER (ORDER BY k)" + of:                                                                          "a 10; b 30; c 60; d 100",
		"SELECT k, n - LAG(n) OVER (ORDER BY k) AS d" + of:                                                                 "a NULL; b 10; c 10; d 10",
		"SELECT k, RANK() OVER (PARTITION BY x ORDER BY n DESC) AS r" + of:                                                 "a 2; b 2; c 1; d 1",
		"SELECT k, AVG(n) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)" + of:                                 "a 15; b 20; c 30; d 35",
		"SELECT k || '!' AS k, n / 4 AS q" + of + " LIMIT 2":                                                               "a! 2; b! 5",
		"SELECT k, n * 100.0 / (SELECT SUM(n)" + of + ") AS share" + of:                                                    "a 10; b 20; c 30; d 40",
		"SELECT CASE WHEN n > 20 THEN 'big' ELSE 'small' END AS s, COUNT(*)" + of + " GROUP BY 1":                          "small 2; big 2",
		"SELECT DISTINCT x" + of + " ORDER BY x DESC":                                                                      "1; 0",
		"SELECT k" + of + " WHERE DATE '2025-01-31' + INTERVAL '1 month' = DATE '2025-02-28' AND n < 11":                   "a",
		"SELECT k" + of + " WHERE date_trunc('month', DATE '2025-03-05') > TO_DATE('2025-03-01', 'YYYY-MM-DD') OR n < 11":  "a",
		"SELECT k, to_char(n * 1234.5, '999,999.99')" + of + " WHERE n = '20'":                                             "b   24,690.00",
		"SELECT k, '$' || to_char(n, 'FM990.00')" + of + " LIMIT 1":                                                        "a $10.00",
		"SELECT to_char(DATE '2025-01-31' + x * INTERVAL '1 month', 'FMMonth DD')" + of + " LIMIT 2":                       "January 31; February 28",
		"SELECT AGE(DATE '2025-03-01' + x, DATE '2024-01-31') AS a" + of + " LIMIT 2":                                      "1 year 1 mon 1 day; 1 year 1 mon 2 days",
		"SELECT EXTRACT(month FROM AGE(make_date(2025, 4 + x, 1), DATE '2025-01-31'))" + of + " LIMIT 2":                   "2; 3",
		"SELECT k" + of + " WHERE DATE '2025-01-01' + x >= '2025-01-01T13:00:00Z' LIMIT 1":                                 "b",
		"SELECT to_date(k, 'YYYY') AS d, to_timestamp(x * 1.5) AS t" + of + " OFFSET 3":                                    "NULL 1970-01-01 00:00:01.5",
		"SELECT k, LOCF(NULLIF(NULLIF(n, 10), 30)) OVER (ORDER BY k) AS v" + of:                                            "a NULL; b 20; c 20; d 40",
		"SELECT k, INTERPOLATE(NULLIF(NULLIF(n, 20), 30)) OVER (ORDER BY k) AS v" + of:                                     "a 10; b 20; c 30; d 40",
		"SELECT k, INTERPOLATE(NULLIF(NULLIF(n, 10), 40)) OVER (PARTITION BY x ORDER BY k) AS v" + of + " ORDER BY k":      "a NULL; b 20; c 30; d NULL",
		"SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY n), PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY n DESC)" + of: "17.5 37",
		"SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY k), PERCENTILE_DISC(n, 0.51)" + of + " WHERE n > 1":            "b 30",
		"SELECT NTILE(3) OVER (ORDER BY n) AS t, k" + of + " ORDER BY k":                                                   "1 a; 1 b; 2 c; 3 d",
	} {
		tree, err := query.Parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		programs := Split(tree, func(*query.Select, string) bool { return false })
		columns, rows := answer()
		bound, err := programs[len(programs)-1].Bind(columns, len(rows), "")
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		got := ""
		for i, row := range computed(t, bound, rows).Rows {
			if i > 0 {
				got += "; "
			}
			for j, s := range row {
				if j > 0 {
					got += " "
				}
				got += s.Value.String()
			}
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

// A count is never NULL, so a condition that only says so chooses no row by noise. Beside an outer join it may be NULL.
func TestCountsAreNeverNull(t *testing.T) {
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(90, 1))
	if err != nil {
		t.Fatal(err)
	}
	n := &Noise{Law: gaussian, Unit: 1}
	for sql, want := range map[string]bool{
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q WHERE NOT n IS NULL":                               true,
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q WHERE n IS NOT NULL AND m > 1":                     true,
		"SELECT m, n FROM (SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q) r WHERE n IS NOT NULL":          true,
		"SELECT m, n FROM (SELECT m, 2 * n AS n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q) r WHERE n IS NOT NULL": false,
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q WHERE n > 0":                                       false,
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q ORDER BY n LIMIT 2":                                true,
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q ORDER BY n LIMIT 1":                                false,
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q ORDER BY n LIMIT 5 OFFSET 1":                       false,
		"SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m ORDER BY n LIMIT 1) q":                                false,
		"SELECT 1, AVG(n) AS a FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q ORDER BY 2 LIMIT 1":                      true,
		"SELECT 1, AVG(n) AS a FROM (SELECT m, n FROM (SELECT m, COUNT(*) AS n FROM t GROUP BY m) q ORDER BY n LIMIT 1) r": false,
	} {
		tree, err := query.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		programs := Split(tree, func(*query.Select, string) bool { return false })
		bound, err := programs[len(programs)-1].Bind([]Column{
			{Name: "m", Type: value.Integer}, {Name: "n", Type: value.Integer, Noisy: true, Sure: true},
		}, 2, "")
		if err != nil {
			t.Fatal(sql, err)
		}
		got := computed(t, bound, [][]Cell{
			{Exact(value.OfInt(1)), Released(value.OfInt(5), 0, n)}, {Exact(value.OfInt(2)), Released(value.OfInt(-3), 1, n)},
		})
		if has := got.Columns[1].Why == ""; has != want {
			t.Errorf("%s: an interval: %t, %q", sql, has, got.Columns[1].Why)
		}
	}
}
