package post

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/query"
	"dither/internal/stattest"
	"dither/internal/value"
)

// Several answers are joined, united and compared as a PostgreSQL server joins, unites and compares tables.
func TestSeveralAgreeWithPostgres(t *testing.T) {
	stattest.ShortCases(t, 150)
	s := newServer(t)
	rapid.Check(t, func(t *rapid.T) {
		sql := writer{t}.several()
		want, err := s.ask(sql)
		if err != nil {
			t.Skip(sql, err) // such as a FULL JOIN by an inequality, which the server cannot run
		}
		if got := s.computed(t, sql); !slices.Equal(want.texts, got) {
			t.Fatalf("%s\nwant %s\ngot  %s", sql, strings.Join(want.texts, "\n     "), strings.Join(got, "\n     "))
		}
	})
}

// Rankings limit and divide groups as on a PostgreSQL server, also if keys leave out the rows in which they are NULL.
func TestRankingsAgreeWithPostgres(t *testing.T) {
	stattest.ShortCases(t, 150)
	s := newServer(t)
	s.lossy = true
	rapid.Check(t, func(t *rapid.T) {
		sql := writer{t}.limited()
		want, err := s.ask(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		if got := s.computed(t, sql); !slices.Equal(want.texts, got) {
			t.Fatalf("%s\nwant %s\ngot  %s", sql, strings.Join(want.texts, "\n     "), strings.Join(got, "\n     "))
		}
	})
}

// several draws a question about the answers of the tables t, u and w.
func (w writer) several() string {
	switch w.pick("over", "over", "over", "star", "values", "limited", "totals", "weights") {
	case "weights": // a directly standardized rate
		return "WITH v (key) AS " + w.pick("", "MATERIALIZED ") + "(VALUES " + w.pick("('a', 0.25)", "('a', 0.25), ('ab', 2), (NULL, 5)") +
			"), q AS (SELECT k, SUM(n) AS n FROM " + w.pick("t", "u") + " GROUP BY k) SELECT " +
			w.pick("SUM(q.n * x.column2) AS s", "q.k, q.n, x.column2", "SUM(q.n * column2) / SUM(column2) AS r", "COUNT(*) AS c") +
			" FROM q " + w.kind() + " v x ON x.key = q.k"
	case "star":
		x, y := w.answer("x"), w.answer("y")
		return "SELECT " + w.pick("*", "x.*, y.n", "y.*", "k", "k, x.k, y.k") + " FROM " + x + " " + w.kind() + " " + y + " USING (" + w.pick("k", "k, d") + ")"
	case "values":
		return "SELECT k, n + " + w.value() + " AS a, (n - " + w.value() + ")" + w.pick("", " / 2", " / 3") + " AS h, n > " + w.value() + " AS b FROM " + w.combined("q", 1)
	case "limited":
		return w.limited()
	case "totals":
		return "SELECT 'all' AS k, COUNT(*) AS c FROM " + w.pick("t", "u") + w.pick(" UNION ALL ", " UNION ") +
			"SELECT k, COUNT(*) FROM " + w.pick("t", "u") + " GROUP BY k"
	}
	return w.overMany(w.combined("q", 2))
}

// overMany draws a SELECT over rows that may be equal in k and d, so that an order by these is not unique.
func (w writer) overMany(rows string) string {
	switch w.pick("plain", "groups", "distinct", "whole") {
	case "groups":
		return "SELECT " + w.pick("k", "length(k)", "d", "n > 1") + " AS g, count(*) AS c, sum(n) AS s, max(" + w.number(1) +
			") AS x, count(DISTINCT n) AS u, sum(n) / 2 AS h, count(*) / 2 AS j, sum(count(*)) OVER () / 2 AS o FROM " + rows + " GROUP BY 1" + w.pick("", " HAVING count(*) > 1", " HAVING sum(n) > "+w.value())
	case "distinct":
		return "SELECT DISTINCT " + w.text(1) + " AS a, n FROM " + rows
	case "whole":
		return "SELECT count(*) AS c, sum(r) AS s, min(k) AS k, max(d) AS d, avg(n) AS a FROM " + rows + " WHERE " + w.condition(1)
	}
	return "SELECT k, n, r, " + w.number(1) + " AS a, " + w.pick("d", "d + INTERVAL '1 month 2 days 3 hours'",
		"d - 2 * INTERVAL '1 year'", "INTERVAL '-40 days' + d") +
		" AS e FROM " + rows
}

// answer draws a measured question with the columns k, d, n and r.
func (w writer) answer(as string) string {
	from := w.pick("t", "u", "w")
	return "(SELECT k, d, SUM(n) AS n, SUM(r) AS r FROM " + from + w.pick("", "", " WHERE n > 1") + " GROUP BY k, d" +
		w.pick("", "", "", " ORDER BY SUM(n) DESC NULLS LAST, k, d LIMIT 4") + ") " + as
}

func (w writer) kind() string {
	return w.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "INNER JOIN", "LEFT OUTER JOIN")
}

// combined draws rows with the columns k, d, n and r.
func (w writer) combined(as string, depth int) string {
	if depth == 0 {
		return w.answer(as)
	}
	part := func(as string) string { return w.combined(as, depth-1) }
	switch w.pick("on", "on", "using", "natural", "cross", "three", "union", "in", "exists", "value", "top", "public", "listed", "calendar", "cut") {
	case "public":
		return "(SELECT " + w.pick("x.k", "w.k") + ", " + w.pick("x.d", "w.d") + ", x.n, w.r FROM " + part("x") + " " + w.kind() + " w ON " +
			w.pick("x.k = w.k", "w.k = x.k AND w.n > 1", "x.k = w.k AND x.d = w.d") + w.pick("", " WHERE w.n > 1", " WHERE x.n IS NULL") + ") " + as
	case "listed":
		return "(SELECT " + w.pick("x.k", "v.label AS k") + ", x.d, " + w.pick("x.n", "x.n * v.m AS n", "v.m AS n") + ", x.r FROM " + part("x") + " " + w.kind() +
			" (VALUES ('a', 'first', 2), ('ab', 'second', NULL), (NULL, 'third', 3)) v (key, label, m) ON v.key = x.k) " + as
	case "calendar":
		return "(SELECT x.k, " + w.pick("c.m::date AS d", "x.d") + ", " + w.pick("x.n", "COALESCE(x.n, 0) AS n") + ", x.r FROM " +
			w.pick("generate_series(DATE '2025-01-31', DATE '2025-06-01', INTERVAL '1 month') c (m)",
				"generate_series(TIMESTAMP '2025-03-02', TIMESTAMP '2025-01-30', INTERVAL '-1 day') AS c (m)",
				"(SELECT generate_series('2025-01-01'::date, '2025-03-01'::date, '1 month') AS m) c") +
			" " + w.kind() + " " + part("x") + " ON x.d = c.m::date) " + as
	case "cut":
		return "((SELECT k, d, n, r FROM " + part("q") + " ORDER BY k, d, n, r LIMIT 2) UNION ALL (SELECT k, d, n, r FROM " + part("q") +
			" ORDER BY r, n, d, k OFFSET 1)" + w.pick("", " UNION ALL SELECT 'z', d, n, r FROM "+part("q")) + ") " + as
	case "on":
		return "(SELECT " + w.pick("x.k", "y.k", "COALESCE(x.k, y.k) AS k") + ", " + w.pick("x.d", "y.d") + ", " +
			w.pick("x.n", "y.n", "x.n + y.n AS n", "COALESCE(y.n, 0) AS n") + ", " + w.pick("x.r", "y.r", "x.r - COALESCE(y.r, x.n) AS r") +
			" FROM " + part("x") + " " + w.kind() + " " + part("y") + " ON " + w.pick("x.k = y.k", "y.k = x.k AND x.d = y.d",
			"x.k = y.k AND x.n > y.n", "x.n = y.n", "x.d = y.d AND (x.k < y.k OR y.n IS NULL)", "x.n = y.r",
			"y.d = x.d - INTERVAL '1 month' AND x.k = y.k", "x.k = y.k OR x.n = y.n", "x.k = 'a'", "x.k = y.k AND y.k = 'ab'",
			"length(x.k) = y.n", "x.k = y.k AND x.n IS NULL", "x.n < y.n", "x.k IS NOT DISTINCT FROM y.k", "x.n + y.n = 3",
			"x.k = y.k AND x.d <= DATE '2025-02-01'", "NOT (x.k = y.k)") + ") " + as
	case "using":
		return "(SELECT " + w.pick("k", "x.k", "y.k") + ", " + w.pick("d", "d", "d") + ", x.n, y.r FROM " + part("x") + " " + w.kind() +
			" " + part("y") + " USING (k, d)) " + as
	case "natural":
		return "(SELECT k, d, x.n, y.r FROM (SELECT k, d, n FROM " + part("q") + ") x NATURAL " + w.kind() +
			" (SELECT r, d, k FROM " + part("q") + ") y) " + as
	case "cross":
		return "(SELECT x.k, y.d, x.n, y.r FROM " + part("x") + w.pick(" CROSS JOIN ", ", ") + part("y") +
			w.pick("", " WHERE x.k = y.k", " WHERE x.d = y.d AND x.n > y.n", " WHERE x.k = y.k OR x.n = 1") + ") " + as
	case "three":
		return "(SELECT k, z.d, x.n + COALESCE(z.n, y.n) AS n, z.r FROM " + w.answer("x") + " " + w.kind() + " " + w.answer("y") + " USING (k) " +
			w.kind() + " " + part("z") + " " + w.pick("USING (k)", "USING (k)") + ") " + as
	case "union":
		return "(SELECT k, d, n, r FROM " + part("q") + w.pick(" UNION ALL ", " UNION ALL ", " UNION ") + "SELECT " + w.pick("k", "'z'", "NULL") +
			", d, " + w.pick("n", "1", "NULL") + ", " + w.pick("r", "n") + " FROM " + part("q") + ") " + as
	case "in":
		return "(SELECT * FROM " + part("q") + " WHERE " + w.pick("k IN (SELECT k FROM ", "k NOT IN (SELECT k FROM ",
			"(k, n) IN (SELECT k, n FROM ", "(k, n) NOT IN (SELECT k, n FROM ", "n IN (SELECT r FROM ", "n NOT IN (SELECT n FROM ") + part("q") +
			w.pick("", " WHERE "+w.condition(0)) + ")) " + as
	case "exists":
		return "(SELECT * FROM " + part("q") + " WHERE " + w.pick("", "NOT ") + "EXISTS (SELECT 1 FROM " + part("q") + " WHERE " + w.condition(0) + ")) " + as
	case "value":
		return "(SELECT k, d, n - " + w.value() + " AS n, r FROM " + part("q") + " WHERE n " + w.pick("<", ">=", "<>") + " " + w.value() + ") " + as
	}
	return "(SELECT k, d, n, r FROM " + part("q") + " ORDER BY k, d, n, r LIMIT 5" + w.pick("", " OFFSET 2") + ") " + as
}

// value draws a subquery that gives one value.
func (w writer) value() string {
	return "(SELECT " + w.pick("SUM(n)", "COUNT(*)", "MAX(n)") + " FROM " + w.pick("t", "u", "w WHERE n > 100", w.answer("q"), w.answer("q")+" WHERE k = 'ab'") + ")"
}

// limited draws a question whose groups another answer chooses.
func (w writer) limited() string {
	ranked := func(names string) string {
		return "(SELECT k" + names + " FROM " + w.pick("t", "u", "w") + " WHERE k IS NOT NULL GROUP BY k ORDER BY COUNT(*) DESC, k LIMIT 2)"
	}
	where := w.pick("", " WHERE n > 0")
	and := " AND "
	if where == "" {
		and = " WHERE "
	}
	switch w.pick("in", "not", "join", "using", "others", "others", "rest", "part", "beside") {
	case "others":
		return "SELECT " + w.pick("d", "d > DATE '2025-02-01'") + " AS d, CASE WHEN l.key IS NULL THEN 'others' ELSE k END AS g, COUNT(*) AS c, SUM(n) AS s, AVG(n) AS a FROM " +
			w.pick("t", "u") + " LEFT JOIN " + ranked(" AS key, COUNT(*) AS m") + " l ON " + w.pick("k = key", "key = k AND d < DATE '2025-03-01'") + where + " GROUP BY 1, 2" +
			w.pick("", " HAVING COUNT(*) > 1")
	case "rest":
		return "SELECT CASE WHEN k IN " + ranked("") + " THEN k ELSE 'rest' END AS g, COUNT(n) AS c, SUM(r) FILTER (WHERE n > 0) AS s FROM t" + where + " GROUP BY 1"
	case "part":
		from := w.pick("t"+where+and+"k IN "+ranked(""), "u JOIN "+ranked(" AS key")+" l ON k = key"+where, "u JOIN "+ranked("")+" l USING (k)"+where)
		return w.pick("SELECT d, COUNT(*) AS c FROM "+from+" GROUP BY d", "SELECT COUNT(*) AS c FROM "+from)
	case "beside":
		return "SELECT COUNT(*) AS c, SUM(r) AS s FROM t" + where + and + w.pick("(k IN "+ranked("")+" OR ", "(k NOT IN "+ranked("")+" OR ",
			"((k IN "+ranked("")+") IS NOT TRUE AND ", "(COALESCE(k, 'a') IN "+ranked("")+" AND ") +
			w.pick("n > 1", "n IS NULL", "k < 'b'", "d > DATE '2025-02-01'", "(n > 1) IS NOT TRUE", "TRUE") + ")"
	case "in":
		return "SELECT k, COUNT(*) AS c FROM t" + where + and + "k IN " + ranked("") + " GROUP BY k"
	case "not":
		return "SELECT k, d, SUM(n) AS c FROM u" + where + and + "k NOT IN " + ranked("") + " GROUP BY k, d"
	case "join":
		return "SELECT k, COUNT(*) AS c FROM u JOIN " + ranked(" AS key, COUNT(*) AS m") + " l ON k = key" + where + " GROUP BY k"
	}
	return "SELECT k, SUM(n) AS c FROM t JOIN " + ranked("") + " l USING (k)" + where + " GROUP BY k"
}

// server is a PostgreSQL server with the tables t, u and w, of which some keys, dates and numbers are NULL.
type server struct {
	ctx  context.Context
	conn *pgconn.PgConn
	kept map[string]*reply
	// lossy says that k and n are not nullable: a key that reads one of them, and is no CASE, leaves out the rows in which it
	// is NULL
	lossy bool
}

// leavesOut reports whether a key leaves out the rows in which it is NULL.
func (s *server) leavesOut(key query.Expr) bool {
	_, whole := key.(*query.Case)
	return s.lossy && !whole && contains(key, func(e query.Expr) bool {
		c, ok := e.(*query.Column)
		return ok && (c.Name == "k" || c.Name == "n")
	})
}

// reply is the answer of the server: the rows as sorted texts, and as they are.
type reply struct {
	texts []string
	types []value.Type
	rows  [][]*string
}

func newServer(t *testing.T) *server {
	t.Helper()
	url := pgtest.Start(t).Database(t)
	for number, table := range []string{"t", "u", "w"} {
		pgtest.Exec(t, url, "CREATE TABLE "+table+" (k text, d date, n integer, r double precision)")
		for i := range 14 {
			k := []string{"'a'", "'ab'", "'b'", "'abc'", "NULL"}[(i*(number+1)+number)%5]
			d := []string{"'2025-01-01'", "'2025-02-01'", "'2025-03-01'", "NULL"}[(i+i/5)%(4-number%2)]
			n := []string{"0", "1", "2", "4", "-3", "NULL", "1"}[(i*3+number)%7]
			r := []string{"1", "0.5", "NULL", "2", "-0.75"}[(i+number*i)%5]
			pgtest.Exec(t, url, fmt.Sprintf("INSERT INTO %s VALUES (%s, %s, %s, %s)", table, k, d, n, r))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx); cancel() })
	return &server{ctx: ctx, conn: conn, kept: map[string]*reply{}}
}

// ask returns the server's answer.
func (s *server) ask(sql string) (*reply, error) {
	if out, ok := s.kept[sql]; ok {
		return out, nil
	}
	reader := s.conn.ExecParams(s.ctx, sql, nil, nil, nil, nil)
	result := reader.Read()
	if result.Err != nil {
		return nil, result.Err
	}
	out := &reply{}
	for _, f := range reader.FieldDescriptions() { // a result without rows has none of its own
		out.types = append(out.types, map[uint32]value.Type{
			pgtype.TextOID: value.Text, pgtype.DateOID: value.Date, pgtype.Int4OID: value.Integer, pgtype.Int8OID: value.Integer,
			pgtype.Float8OID: value.Real, pgtype.NumericOID: value.Real, pgtype.BoolOID: value.Boolean,
		}[f.DataTypeOID])
	}
	for _, row := range result.Rows {
		text, cells := "", []*string{}
		for _, cell := range row {
			if cell == nil {
				text, cells = text+"NULL|", append(cells, nil)
				continue
			}
			c := string(cell)
			text, cells = text+shortened(c)+"|", append(cells, &c)
		}
		out.texts, out.rows = append(out.texts, text), append(out.rows, cells)
	}
	slices.Sort(out.texts)
	s.kept[sql] = out
	return out, nil
}

// computed returns the rows of a question as sorted texts. The server answers its measured questions, which read one table
// each.
func (s *server) computed(t *rapid.T, sql string) (out []string) {
	tree, err := query.Parse(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	var texts []string
	var answers [][][]Cell
	from := 0
	answer := func(text string, lossy []bool) Answer {
		found, err := s.ask(text)
		if err != nil {
			t.Fatal(text, err)
		}
		a := Answer{Index: len(texts), Same: len(texts), From: from, Rows: len(found.rows)}
		for _, typ := range found.types {
			a.Columns = append(a.Columns, Column{Type: typ})
		}
		if i := slices.Index(texts, text); i >= 0 {
			a.Same = i
		}
		texts, from = append(texts, text), from+len(a.Columns)
		var rows [][]Cell
		for _, cells := range found.rows {
			var row []Cell
			left := false
			for i, cell := range cells {
				if cell == nil {
					left = left || i < len(lossy) && lossy[i]
					row = append(row, Exact(value.NullOf(found.types[i])))
					continue
				}
				v, err := value.Parse(found.types[i], *cell)
				if err != nil {
					t.Fatal(err)
				}
				row = append(row, Exact(v))
			}
			if !left {
				rows = append(rows, row)
			}
		}
		answers = append(answers, rows)
		return a
	}
	names := []string{"k", "d", "n", "r"}
	bound, err := Several(tree, Parts{
		Has: func(_ *query.Select, name string) bool { return slices.Contains(names, name) },
		Measure: func(p *Program) (Answer, error) {
			q := p.Measured
			if q.From.Relation != nil || strings.Contains(q.String(), "(SELECT") {
				return Answer{}, os.ErrInvalid
			}
			lossy := make([]bool, len(q.Items))
			for i, item := range q.Items {
				lossy[i] = slices.ContainsFunc(q.GroupBy, func(k query.Expr) bool { return plain(k) == plain(item.Expr) && s.leavesOut(k) })
			}
			return answer(q.String(), lossy), nil
		},
		Whole: func(_ *query.Select, key query.Expr) bool { return !s.leavesOut(key) },
		Public: func(name string) (a Answer, _ string, public bool) {
			if name != "w" {
				return a, "", false
			}
			a = answer("SELECT k, d, n, r FROM w", nil)
			for i := range a.Columns {
				a.Columns[i].Name = names[i]
			}
			return a, "", true
		},
	})
	if err != nil {
		t.Fatal(sql, err)
	}
	return texted(computed(t, bound, answers...).Rows)
}

// texted returns rows as sorted texts, as the server writes them.
func texted(rows [][]Shown) (out []string) {
	for _, row := range rows {
		text := ""
		for _, s := range row {
			cell := s.Value.String()
			if s.Value.Type == value.Boolean && !s.Value.Null {
				cell = cell[:1]
			}
			text += shortened(cell) + "|"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}
