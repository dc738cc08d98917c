package post

import (
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/internal/query"
	"dither/internal/stattest"
	"dither/internal/value"
	"dither/noise"
)

// severalForms are questions about one answer of five groups k with a count n, and about another of the same groups or of
// all rows. Each column has intervals, except for the keys.
var severalForms = []string{
	"SELECT n / (SELECT COUNT(*) FROM u) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a",
	"SELECT k, COUNT(*) - (SELECT COUNT(*) FROM u) / 5 FROM t GROUP BY k",
	"SELECT a.n - b.n, 2 * a.n + b.n FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a JOIN (SELECT k, COUNT(*) AS n FROM u GROUP BY k) b ON a.k = b.k",
	"SELECT a.n / b.n FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a JOIN (SELECT k, COUNT(*) AS n FROM u GROUP BY k) b USING (k)",
	"SELECT SUM(a.n + b.n) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a FULL JOIN (SELECT k, COUNT(*) AS n FROM u GROUP BY k) b USING (k)",
	"WITH a AS (SELECT k, COUNT(*) AS n FROM t GROUP BY k) SELECT x.k, x.n - COALESCE(y.n, 0) FROM a x LEFT JOIN a y ON y.k = x.k - 1",
	"SELECT SUM(n) FROM (SELECT 'all' AS k, COUNT(*) AS n FROM u UNION ALL SELECT 'part', COUNT(*) FROM t) q",
	"SELECT 'all' AS k, COUNT(*) AS n FROM u UNION ALL SELECT 'none', 0 * COUNT(*) + 7 FROM t",
	"SELECT x.n - y.n FROM (SELECT COUNT(*) AS n FROM t) x CROSS JOIN (SELECT COUNT(*) AS n FROM u) y",
	"SELECT SUM(x * n) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a JOIN (VALUES (1, 2), (2, -1), (9, 5)) v (k, x) ON v.k = a.k",
	"SELECT c, COALESCE(n, 0) FROM generate_series(-1, 5) c LEFT JOIN (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a ON a.k = c",
}

// answersOf binds a question. Its measured questions have the columns k and n, or n alone.
func answersOf(t testing.TB, sql string) (*Bound, []bool) {
	t.Helper()
	return answersWith(t, sql, false)
}

// answersWith binds a question as answersOf does. If open is set, the keys of its measured questions are unknown.
func answersWith(t testing.TB, sql string, open bool) (*Bound, []bool) {
	t.Helper()
	tree, err := query.Parse(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	var texts []string
	var grouped []bool
	bound, err := Several(tree, Parts{Has: func(*query.Select, string) bool { return false }, Measure: func(p *Program) (Answer, error) {
		q := p.Measured
		if q.From.Relation != nil || contains(query.Expr(&query.In{X: &query.Literal{}, List: conjuncts(q.Where)}), func(e query.Expr) bool {
			_, nested := e.(*query.Nested)
			return nested
		}) {
			return Answer{}, os.ErrInvalid
		}
		text, rows := q.String(), 1
		if len(q.GroupBy) > 0 {
			rows = 5
		}
		for i, known := range texts {
			if known == text {
				return Answer{Index: i, Same: i, From: 100 * i, Columns: columnsFor(q), Rows: rows, Open: open && rows > 1}, nil
			}
		}
		texts, grouped = append(texts, text), append(grouped, len(q.GroupBy) > 0)
		return Answer{Index: len(texts) - 1, Same: len(texts) - 1, From: 100 * (len(texts) - 1), Columns: columnsFor(q), Rows: rows, Open: open && rows > 1}, nil
	}})
	if err != nil {
		t.Fatal(sql, err)
	}
	return bound, grouped
}

func columnsFor(q *query.Select) (out []Column) {
	for _, item := range q.Items {
		_, key := item.Expr.(*query.Column)
		out = append(out, Column{Type: value.Integer, Noisy: !key})
	}
	return out
}

// drawnAnswers returns the rows of the answers, with noise from draw.
func drawnAnswers(grouped []bool, noises [2]*Noise, draw func(*Noise) int64) (out [][][]Cell) {
	for i, g := range grouped {
		n, rows := noises[i%2], [][]Cell{}
		for j, c := range exactCounts {
			cells := []Cell{Released(value.OfInt(c[i%2]+300+draw(n)), i<<40+j, n)}
			if g {
				cells = append([]Cell{Exact(value.OfInt(int64(j + 1)))}, cells...)
			}
			rows = append(rows, cells)
		}
		if !g {
			rows = rows[:1]
		}
		out = append(out, rows)
	}
	return out
}

// Intervals of numbers from several answers hold the value without noise. Each of these at most 60 sequential tests fails
// by chance with probability at most 1e-7 if every interval covers with probability 95 % or more. A coverage of 85 % or
// less is found with probability 99 %.
func TestCoverageOverSeveralAnswers(t *testing.T) {
	laplace, err := noise.NewDiscreteLaplace(big.NewRat(8, 1))
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(90, 1))
	if err != nil {
		t.Fatal(err)
	}
	noises := [2]*Noise{{Law: laplace, Unit: 1}, {Law: gaussian, Unit: 1}}
	for _, form := range severalForms {
		bound, grouped := answersOf(t, form)
		truth := computed(t, bound, drawnAnswers(grouped, noises, func(*Noise) int64 { return 0 })...)
		rows := len(truth.Rows)
		if strings.Contains(form, "/") { // quotients take longer
			rows = 1
		}
		tests := make([]*stattest.Sequential, rows)
		for i := range tests {
			tests[i] = &stattest.Sequential{Promised: 0.95, Wrong: 0.85, FalseAlarm: 1e-7, Miss: 1e-2}
		}
		for draws := 0; draws < 4000 && stattest.AnyOpen(tests); draws++ {
			got := computed(t, bound, drawnAnswers(grouped, noises, func(n *Noise) int64 { return n.Law.Draw().Int64() })...)
			for i, test := range tests {
				for c, column := range got.Columns {
					if !column.Noisy {
						continue
					}
					if column.Why != "" {
						t.Fatalf("%s: %s", form, column.Why)
					}
					want, in := number(truth.Rows[i][c].Value), got.Rows[i][c].Interval
					test.Observe(in.Low <= want && want <= in.High)
				}
			}
		}
		for i, test := range tests {
			if err := test.Check(); err != nil {
				t.Errorf("%s, row %d: %v", form, i, err)
			}
		}
	}
}

// A number minus itself is 0 without error, wherever its question stands. Numbers of different questions are independent.
func TestSameQuestionIsOneAnswer(t *testing.T) {
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(100, 1))
	if err != nil {
		t.Fatal(err)
	}
	noises := [2]*Noise{{Law: gaussian, Unit: 1}, {Law: gaussian, Unit: 1}}
	for sql, want := range map[string]float64{
		"SELECT COUNT(*) - (SELECT COUNT(*) FROM t) FROM t":                                                0,
		"SELECT a.n - b.n FROM (SELECT COUNT(*) AS n FROM t) a CROSS JOIN (SELECT COUNT(*) AS n FROM t) b": 0,
		"SELECT COUNT(*) - (SELECT COUNT(*) FROM u) FROM t":                                                14.142135,
		"SELECT a.n + b.n FROM (SELECT COUNT(*) AS n FROM t) a, (SELECT COUNT(*) AS n FROM t) b":           20,
	} {
		bound, grouped := answersOf(t, sql)
		got := computed(t, bound, drawnAnswers(grouped, noises, func(n *Noise) int64 { return n.Law.Draw().Int64() })...)
		if sd := got.Rows[0][0].StdDev; sd < want-1e-3 || sd > want+1e-3 {
			t.Errorf("%s: standard deviation %g, and not %g", sql, sd, want)
		}
	}
}

// A SELECT whose rows a ranked answer limits is measured for all groups. Its numbers keep their intervals unless the
// ranking reads them too.
func TestLimitedGroups(t *testing.T) {
	for sql, sure := range map[string]bool{
		"SELECT k, COUNT(*) AS n FROM t WHERE x > 1 AND k IN (SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2) GROUP BY k":                                                      true,
		"SELECT k, COUNT(*) AS n FROM t JOIN (SELECT k AS key, COUNT(*) AS m FROM u GROUP BY k ORDER BY m DESC LIMIT 2) l ON k = key GROUP BY k":                                          true,
		"WITH l AS (SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2) SELECT l.k, COUNT(*) AS n FROM t JOIN l ON l.k = t.k GROUP BY 1":                                           true,
		"WITH l AS (SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2) SELECT k, COUNT(*) AS n FROM t JOIN l USING (k) GROUP BY k":                                                true,
		"SELECT k, COUNT(*) FROM t WHERE k IN (SELECT k FROM t GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2) GROUP BY k":                                                                     false,
		"SELECT k, COUNT(*) - (SELECT SUM(count) FROM (SELECT k, COUNT(*) FROM u GROUP BY k) q) FROM t WHERE k IN (SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2) GROUP BY k": false,
	} {
		bound, grouped := answersOf(t, sql)
		got := computed(t, bound, drawnAnswers(grouped, [2]*Noise{{Unit: 1, Law: law(t)}, {Unit: 1, Law: law(t)}},
			func(*Noise) int64 { return 0 })...)
		keys := map[int64]bool{}
		for _, row := range got.Rows {
			keys[row[0].Value.Int] = true
		}
		if len(got.Rows) != 2 || !keys[5] || !keys[1] || (got.Columns[1].Why == "") != sure {
			t.Errorf("%s\nhas the rows %v, without an interval because %q", sql, got.Rows, got.Columns[1].Why)
		}
	}
	for _, sql := range []string{ // these do more than limit groups
		"SELECT COUNT(*) FROM t WHERE k IN (SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2)",
		"SELECT x, COUNT(*) FROM t WHERE k IN (SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2) GROUP BY x",
		"SELECT k, COUNT(*) FROM t JOIN (SELECT k AS key, x, COUNT(*) FROM u GROUP BY k, x LIMIT 2) l ON k = key GROUP BY k",
		"SELECT k, COUNT(*) FROM t JOIN (SELECT k AS key, COUNT(*) FROM u GROUP BY k LIMIT 2) l ON k = key AND x > 1 GROUP BY k",
		"SELECT k, COUNT(*) FROM t LEFT JOIN (SELECT k AS key, COUNT(*) FROM u GROUP BY k LIMIT 2) l ON k = key GROUP BY k",
	} {
		tree, err := query.Parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		if got := limited(tree, func(*query.Select, string) bool { return false }); got != nil {
			t.Errorf("%s\nis read as %s", sql, got)
		}
	}
}

// A group of unknown keys that an answer lacks has an unknown number, and not 0. So what stands for it in an outer join has
// no interval.
func TestMissingGroupsOfUnknownKeys(t *testing.T) {
	const a, b = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k) a", "(SELECT k, COUNT(*) AS n FROM u GROUP BY k) b"
	for sql, sure := range map[string][2]bool{ // with known keys, and with unknown ones
		"SELECT a.n + COALESCE(b.n, 0) FROM " + a + " LEFT JOIN " + b + " ON a.k = b.k + 9":                                                              {true, false},
		"SELECT COALESCE(a.n, 0) + b.n FROM " + a + " RIGHT JOIN " + b + " ON a.k = b.k + 9":                                                             {true, false},
		"SELECT SUM(a.n), SUM(b.n) FROM " + a + " FULL JOIN " + b + " ON a.k = b.k + 3":                                                                  {true, false},
		"SELECT x.n - COALESCE(b.n, 0) FROM (SELECT * FROM " + a + ") x LEFT JOIN (SELECT k, n FROM " + b + " UNION ALL SELECT 8, 0) b ON b.k = x.k + 9": {true, false},
		"SELECT a.n + COALESCE(b.n, 0) FROM " + a + " JOIN " + b + " ON a.k = b.k":                                                                       {true, true},
		"SELECT a.n + COALESCE(b.n, 0) FROM " + a + " LEFT JOIN (SELECT 8 AS k, COUNT(*) AS n FROM u) b ON a.k = b.k":                                    {true, true},
	} {
		for i, open := range []bool{false, true} {
			bound, grouped := answersWith(t, sql, open)
			got := computed(t, bound, drawnAnswers(grouped, [2]*Noise{{Unit: 1, Law: law(t)}, {Unit: 1, Law: law(t)}},
				func(*Noise) int64 { return 0 })...)
			if found := got.Rows[0][0].Interval != nil; found != sure[i] {
				t.Errorf("%s\nhas an interval: %t, with unknown keys: %t", sql, found, open)
			}
		}
	}
}

// Noise that chooses rows, however independent it is of their numbers, decides what is computed from several of them, and
// what a choice by it shows.
func TestSiftedRowsDecide(t *testing.T) {
	const q = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k) q"
	const in = "IN (SELECT k FROM u GROUP BY k HAVING COUNT(*) > 2)"
	for sql, exact := range map[string]bool{
		"SELECT k FROM " + q + " WHERE k " + in:                                                        true,
		"SELECT k FROM " + q + " WHERE NOT k " + in + " AND k > 0":                                     true,
		"SELECT COUNT(*) FROM " + q + " WHERE k " + in:                                                 false,
		"SELECT MAX(k) FROM " + q + " WHERE k " + in:                                                   false,
		"SELECT COUNT(*) FROM (SELECT k FROM " + q + " WHERE k " + in + ") r":                          false,
		"SELECT COUNT(*) OVER () FROM " + q + " WHERE k " + in:                                         false,
		"SELECT CASE WHEN k " + in + " THEN 1 ELSE 0 END FROM " + q:                                    false,
		"SELECT k " + in + " FROM " + q + " GROUP BY 1":                                                false,
		"SELECT k FROM " + q + " WHERE k " + in + " OR k > 3":                                          true,
		"SELECT (SELECT k FROM " + q + " WHERE k " + in + " LIMIT 1) FROM " + q:                        false,
		"SELECT b.k FROM " + q + " LEFT JOIN (SELECT k FROM " + q + " WHERE k " + in + ") b USING (k)": false,
	} {
		bound, grouped := answersOf(t, sql)
		got := computed(t, bound, drawnAnswers(grouped, [2]*Noise{{Unit: 1, Law: law(t)}, {Unit: 1, Law: law(t)}},
			func(*Noise) int64 { return 0 })...)
		if got.Columns[0].Noisy == exact {
			t.Errorf("%s\nshows exact values: %v", sql, !got.Columns[0].Noisy)
		}
	}
}

func law(t *testing.T) noise.Distribution {
	t.Helper()
	out, err := noise.NewDiscreteGaussian(big.NewRat(90, 1))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestJoins shows the rows of small joins. TestSeveralAgreeWithPostgres compares the rows of random ones with a server's.
func TestJoins(t *testing.T) {
	a, b := "(SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING k < 4) a", "(SELECT k, COUNT(*) AS m FROM u GROUP BY k HAVING k > 2) b"
	for sql, want := range map[string]string{
		"SELECT a.k, b.k FROM " + a + " JOIN " + b + " ON a.k = b.k":                      "3|3",
		"SELECT a.k, b.k FROM " + a + " LEFT JOIN " + b + " ON a.k = b.k":                 "1|NULL 2|NULL 3|3",
		"SELECT a.k, b.k FROM " + a + " RIGHT JOIN " + b + " ON a.k = b.k":                "3|3 NULL|4 NULL|5",
		"SELECT a.k, b.k FROM " + a + " FULL JOIN " + b + " ON a.k = b.k":                 "1|NULL 2|NULL 3|3 NULL|4 NULL|5",
		"SELECT k, a.k, b.k FROM " + a + " FULL JOIN " + b + " USING (k)":                 "1|1|NULL 2|2|NULL 3|3|3 4|NULL|4 5|NULL|5",
		"SELECT k FROM " + a + " NATURAL JOIN " + b:                                       "3",
		"SELECT a.k, b.k FROM " + a + " LEFT JOIN " + b + " ON a.k = b.k - 2 AND b.k < 5": "1|3 2|4 3|NULL",
		"SELECT a.k, b.k FROM " + a + ", " + b + " WHERE a.k + 2 = b.k":                   "1|3 2|4 3|5",
		"SELECT a.k, b.k FROM " + a + " JOIN " + b + " ON a.k > b.k OR a.k + b.k = 8":     "3|5",
		"SELECT k FROM " + a + " WHERE k IN (SELECT k FROM " + b + ")":                    "3",
		"SELECT k FROM " + a + " WHERE k NOT IN (SELECT k FROM " + b + ")":                "1 2",
		"SELECT COUNT(*) FROM " + a + " WHERE EXISTS (SELECT k FROM " + b + ")":           "3",
		"SELECT b.k, COUNT(*) FROM " + a + " JOIN " + b + " ON a.k < b.k GROUP BY b.k":    "3|2 4|3 5|3",
	} {
		bound, grouped := answersOf(t, sql)
		noises := [2]*Noise{{Unit: 1}, {Unit: 1}}
		got := ""
		for _, row := range bound.of.rows(&env{
			ctx: t.Context(), answers: drawnAnswers(grouped, noises, func(*Noise) int64 { return 0 }), pairs: mostPairs, inner: map[*inner]*found{},
		}) {
			var values []string
			for _, c := range row {
				values = append(values, c.Value.String())
			}
			got += " " + strings.Join(values, "|")
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s\ngives %s\nwant  %s", sql, got, want)
		}
	}
}

// A subquery in an expression cannot read columns of the question around it, and the refusal says so.
func TestSubqueriesReadNoOuterColumn(t *testing.T) {
	for _, sql := range []string{
		"SELECT k, COUNT(*), (SELECT COUNT(*) FROM u WHERE u.k = a.k) AS m FROM t a GROUP BY k",
		"SELECT k, COUNT(*) - (SELECT COUNT(a.k) FROM u) AS m FROM t a GROUP BY k",
	} {
		tree, err := query.Parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		_, err = Several(tree, Parts{Has: func(*query.Select, string) bool { return false }, Measure: func(p *Program) (Answer, error) {
			return Answer{Columns: columnsFor(p.Measured), Rows: 5}, nil
		}})
		if err == nil || !strings.Contains(err.Error(), `cannot read column "a.k" of the question around it`) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Rows that stand in the order of noisy numbers are chosen by noise if a LIMIT of any SELECT around them cuts some off, or if
// a window function depends on their order. A LIMIT that leaves all rows chooses none.
func TestRankedRows(t *testing.T) {
	const (
		groups = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k)"
		ranked = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 5)"
		other  = "(SELECT k, COUNT(*) AS m FROM u GROUP BY k)"
	)
	for sql, want := range map[string]bool{ // whether the last column has an interval
		"SELECT k, n FROM " + ranked + " q":                                                                                           true,
		"SELECT k, n FROM " + ranked + " q LIMIT 5":                                                                                   true,
		"SELECT k, n FROM " + ranked + " q LIMIT 4":                                                                                   false,
		"SELECT k, n FROM " + ranked + " q WHERE TRUE LIMIT 1":                                                                        false,
		"SELECT k, n FROM " + ranked + " q ORDER BY 1 + 1 LIMIT 1":                                                                    false,
		"SELECT k, n FROM " + ranked + " q OFFSET 1":                                                                                  false,
		"SELECT k, n FROM (SELECT * FROM " + ranked + " q) r LIMIT 1":                                                                 false,
		"SELECT (SELECT n FROM " + ranked + " q LIMIT 1) AS top":                                                                      false,
		"SELECT SUM(n) FROM (SELECT n FROM " + ranked + " q LIMIT 1) r":                                                               false,
		"SELECT SUM(n) FROM (SELECT n FROM " + ranked + " q LIMIT 5) r":                                                               true,
		"SELECT n FROM " + ranked + " q UNION ALL SELECT COUNT(*) FROM t":                                                             true,
		"SELECT n FROM (SELECT n FROM " + ranked + " q UNION ALL SELECT COUNT(*) FROM t) r LIMIT 1":                                   false,
		"SELECT n FROM (SELECT n FROM " + ranked + " q UNION ALL SELECT COUNT(*) FROM t) r LIMIT 6":                                   true,
		"SELECT a.n FROM " + ranked + " a JOIN " + other + " b USING (k) LIMIT 1":                                                     false,
		"SELECT a.k, a.n FROM " + groups + " a WHERE a.k IN (SELECT k FROM " + ranked + " q LIMIT 1)":                                 false,
		"SELECT FIRST_VALUE(n) OVER () FROM " + ranked + " q":                                                                         false,
		"SELECT LAG(n) OVER () FROM " + ranked + " q":                                                                                 false,
		"SELECT SUM(n) OVER (ROWS UNBOUNDED PRECEDING) FROM " + ranked + " q":                                                         false,
		"SELECT SUM(n) OVER () FROM " + ranked + " q":                                                                                 true,
		"SELECT SUM(n) OVER (ORDER BY k) FROM " + groups + " q":                                                                       true,
		"SELECT a.n + b.m FROM " + groups + " a JOIN " + other + " b USING (k) ORDER BY 1 LIMIT 5":                                    false,
		"SELECT a.n + b.m FROM " + groups + " a JOIN " + other + " b USING (k) ORDER BY 1 LIMIT 25":                                   true,
		"SELECT COALESCE(a.n, 0) + COALESCE(b.m, 0) FROM " + groups + " a FULL JOIN " + other + " b ON a.k = -b.k ORDER BY 1 LIMIT 9": false,
	} {
		bound, _ := answersOf(t, sql)
		columns := bound.Columns()
		if last := columns[len(columns)-1]; last.Noisy && last.Why == "" != want || !last.Noisy {
			t.Errorf("%s: %+v, want an interval: %t", sql, last, want)
		}
	}
	bound, _ := answersOf(t, "SELECT ROW_NUMBER() OVER () AS rank FROM "+ranked+" q")
	if c := bound.Columns()[0]; !c.Noisy || c.Why != whyOrder {
		t.Errorf("a rank in a noisy order is exact: %+v", c)
	}
}
