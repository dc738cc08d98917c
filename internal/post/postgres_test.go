package post

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/query"
	"dither/internal/stattest"
	"dither/internal/value"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// writer draws SELECTs over an answer with a text key k, a date key d, an integer n and a real r, all of which but k and d
// may be NULL.
type writer struct{ t *rapid.T }

func (w writer) pick(from ...string) string { return rapid.SampledFrom(from).Draw(w.t, "pick") }

func (w writer) number(depth int) string {
	if depth == 0 {
		return w.pick("n", "r", "n", "r", "2", "0.5", "-3", "extract(month from d)::integer", "length(k)", "NULL::integer")
	}
	a, b := func() string { return w.number(depth - 1) }, func() string { return w.number(depth - 1) }
	switch w.pick("+", "-", "*", "/", "abs", "coalesce", "nullif", "greatest", "case", "cast", "round", "floor", "neg", "mod", "sqrt") {
	case "+":
		return "(" + a() + " + " + b() + ")"
	case "-":
		return "(" + a() + " - " + b() + ")"
	case "*":
		return "(" + a() + " * " + b() + ")"
	case "/":
		return "(" + a() + " / nullif(" + b() + "::double precision, 0))"
	case "abs":
		return "abs(" + a() + ")"
	case "coalesce":
		return "coalesce(" + a() + ", " + b() + ")"
	case "nullif":
		return "nullif(" + a() + ", " + b() + ")"
	case "greatest":
		return w.pick("greatest", "least") + "(" + a() + ", " + b() + ", 1)"
	case "case":
		return "CASE WHEN " + w.condition(depth-1) + " THEN " + a() + " ELSE " + b() + " END"
	case "cast":
		return "CAST(" + a() + "::double precision AS integer)"
	case "round":
		return "round((" + a() + ")::numeric, 1)"
	case "floor":
		return w.pick("floor", "ceil") + "((" + a() + ")::double precision)"
	case "neg":
		return "(- " + a() + ")"
	case "mod":
		return "(CAST(" + a() + "::double precision AS integer) % 3)"
	}
	return "sqrt(abs(" + a() + "))"
}

func (w writer) text(depth int) string {
	if depth == 0 {
		return w.pick("k", "k", "'x'", "NULL::text")
	}
	switch w.pick("upper", "||", "case", "substring", "coalesce") {
	case "upper":
		return w.pick("upper", "lower", "trim") + "(" + w.text(depth-1) + ")"
	case "||":
		return "(" + w.text(depth-1) + " || " + w.text(depth-1) + ")"
	case "case":
		return "CASE WHEN " + w.condition(depth-1) + " THEN " + w.text(depth-1) + " END"
	case "substring":
		return "substring(" + w.text(depth-1) + " from 1 for 2)"
	}
	return "coalesce(" + w.text(depth-1) + ", 'none')"
}

func (w writer) condition(depth int) string {
	if depth == 0 {
		return w.pick("n > 2", "r <= 1.5", "k = 'ab'", "d >= '2025-02-01'", "n IS NULL", "k LIKE 'a%'", "n IN (1, 4, NULL)",
			"r BETWEEN -1 AND 2", "d <> DATE '2025-03-01'", "(n > 1) IS TRUE")
	}
	switch w.pick("and", "or", "not", "compare") {
	case "and":
		return "(" + w.condition(depth-1) + " AND " + w.condition(depth-1) + ")"
	case "or":
		return "(" + w.condition(depth-1) + " OR " + w.condition(depth-1) + ")"
	case "not":
		return "NOT (" + w.condition(depth-1) + ")"
	}
	return w.number(depth-1) + w.pick(" < ", " = ", " >= ", " <> ") + w.number(depth-1)
}

func (w writer) window() string {
	over := "PARTITION BY " + w.pick("k", "length(k)", "n > 2") + " "
	if w.pick("whole", "parts") == "whole" {
		over = ""
	}
	unique := over + "ORDER BY " + w.pick("k, d", "d DESC, k", "n NULLS FIRST, k, d")
	f := w.pick("sum(n)", "avg(r)", "count(*)", "count(r)", "min(n)", "max(r)", "sum(r)")
	switch w.pick("whole", "range", "rows", "rank", "row", "value", "tile") {
	case "whole":
		return f + " OVER (" + over + ")"
	case "range":
		return f + " OVER (" + over + "ORDER BY " + w.pick("k", "n", "d DESC") + ")"
	case "rows":
		return f + " OVER (" + unique + " ROWS BETWEEN " + w.pick("UNBOUNDED PRECEDING AND CURRENT ROW",
			"1 PRECEDING AND 2 FOLLOWING", "CURRENT ROW AND UNBOUNDED FOLLOWING", "3 PRECEDING AND 1 PRECEDING",
			"1 FOLLOWING AND 2 FOLLOWING", "2 PRECEDING AND UNBOUNDED FOLLOWING") + ")"
	case "rank":
		return w.pick("rank", "dense_rank", "percent_rank", "cume_dist") + "() OVER (" + over + "ORDER BY " +
			w.pick("n", "k", "r DESC", "n NULLS FIRST") + ")"
	case "row":
		return "row_number() OVER (" + unique + ")"
	case "tile":
		return "ntile(" + w.pick("1", "2", "3", "9") + ") OVER (" + unique + ")"
	}
	return w.pick("lag(n)", "lead(r)", "lag(n, 2)", "lead(k, 1, 'end')", "first_value(n)", "last_value(d)", "nth_value(n, 2)") +
		" OVER (" + unique + ")"
}

// over draws a SELECT over rows with the columns k, d, n and r.
func (w writer) over(rows string) string {
	switch w.pick("plain", "plain", "windows", "groups", "distinct", "top", "nested", "whole") {
	case "windows":
		return "SELECT k, d, " + w.window() + " AS a, " + w.window() + " AS b FROM " + rows
	case "groups":
		out := "SELECT " + w.pick("k", "length(k)", "d", "n > 1") + " AS g, count(*) AS c, sum(n) AS s, avg(r) AS m, max(" +
			w.number(1) + ") AS x, count(DISTINCT n) AS u, stddev(r) AS sd, sum(n) FILTER (WHERE " + w.condition(0) + ") AS f FROM " + rows
		if w.pick("all", "some") == "some" {
			out += " WHERE " + w.condition(1)
		}
		return out + " GROUP BY 1" + w.pick("", " HAVING count(*) > 1", " HAVING sum(n) IS NOT NULL")
	case "distinct":
		return "SELECT DISTINCT " + w.text(1) + " AS a, n FROM " + rows
	case "top":
		return "SELECT k, d, " + w.number(1) + " AS a FROM " + rows + " ORDER BY k DESC, 2 LIMIT 4 OFFSET 1"
	case "nested":
		return w.over("(SELECT k, d, n, " + w.number(1) + "::double precision AS r FROM " + rows + " WHERE " + w.condition(1) + ") y")
	case "whole":
		return "SELECT count(*) AS c, sum(r) AS s, min(k) AS k, max(d) AS d, avg(n) AS a, bool_or(n > 3) AS b FROM " + rows +
			" WHERE " + w.condition(1)
	}
	return "SELECT " + w.number(2) + " AS a, " + w.text(2) + " AS b, " + w.condition(2) + " AS c FROM " + rows
}

const groupsOf = "(SELECT k, d, SUM(n) AS n, SUM(r) AS r FROM t GROUP BY k, d) q"

// SELECTs over an answer compute what a PostgreSQL server computes. A real quotient and a rounding are written so that
// they mean the same in both, because a division of released numbers is always real.
func TestAgreesWithPostgres(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	stattest.ShortCases(t, 150)
	pgtest.Exec(t, url, "CREATE TABLE t (k text, d date, n integer, r double precision)")
	columns := []Column{{Type: value.Text}, {Type: value.Date}, {Type: value.Integer}, {Type: value.Real}}
	var rows [][]Cell
	for i, k := range []string{"a", "ab", "b", "abc"} {
		for month := range 3 {
			n, r := fmt.Sprint((i*5+month*3)%7-1), fmt.Sprint(float64(i*month)/4-0.75)
			if (i+month)%5 == 4 {
				n = "NULL"
			}
			if i*month == 2 {
				r = "NULL"
			}
			day := fmt.Sprintf("2025-%02d-01", month+1)
			pgtest.Exec(t, url, fmt.Sprintf("INSERT INTO t VALUES ('%s', '%s', %s, %s)", k, day, n, r))
			rows = append(rows, []Cell{Exact(value.OfText(k)), cellOf(t, value.Date, day), cellOf(t, value.Integer, n), cellOf(t, value.Real, r)})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rapid.Check(t, func(t *rapid.T) {
		sql := writer{t}.over(groupsOf)
		result := conn.ExecParams(ctx, sql, nil, nil, nil, nil).Read()
		if result.Err != nil {
			t.Skip(sql, result.Err) // the draw is not SQL for the server, such as a modulus of types that it does not mix
		}
		tree, err := query.Parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		programs := Split(tree, func(*query.Select, string) bool { return false })
		bound, err := programs[len(programs)-1].Bind(columns, "")
		if err != nil {
			t.Fatal(sql, err)
		}
		var want, got []string
		for _, row := range result.Rows {
			text := ""
			for _, cell := range row {
				if cell == nil {
					text += "NULL|"
				} else {
					text += shortened(string(cell)) + "|"
				}
			}
			want = append(want, text)
		}
		for _, row := range computed(t, bound, rows).Rows {
			text := ""
			for _, s := range row {
				cell := s.Value.String()
				if s.Value.Type == value.Boolean && !s.Value.Null {
					cell = cell[:1]
				}
				text += shortened(cell) + "|"
			}
			got = append(got, text)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Fatalf("%s\nwant %s\ngot  %s", sql, strings.Join(want, "\n     "), strings.Join(got, "\n     "))
		}
	})
}

func cellOf(t *testing.T, of value.Type, text string) Cell {
	t.Helper()
	if text == "NULL" {
		return Exact(value.NullOf(of))
	}
	v, err := value.Parse(of, text)
	if err != nil {
		t.Fatal(err)
	}
	return Exact(v)
}

// shortened writes a number with nine digits, and any other text as it is.
func shortened(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if math.Abs(x) < 1e-9 {
		return "0"
	}
	return strconv.FormatFloat(x, 'g', 9, 64)
}
