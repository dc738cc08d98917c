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
		if w.pick("column", "column", "part") == "part" {
			return w.part()
		}
		return w.pick("n", "r", "n", "r", "2", "0.5", "-3", "extract(month from d)::integer", "length(k)", "NULL::integer",
			"n / 2", "n / 3", "(n + 1) / nullif(length(k) - 2, 0)", "-7 / 2", "extract(year from d) / 10", "floor(r) / 2", "7 / 2.0", "abs(n) / -3")
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
	switch w.pick("char", "number", "upper", "||", "case", "substring", "coalesce") {
	case "upper":
		return w.pick("upper", "lower", "trim") + "(" + w.text(depth-1) + ")"
	case "||":
		return "(" + w.text(depth-1) + " || " + w.text(depth-1) + ")"
	case "case":
		return "CASE WHEN " + w.condition(depth-1) + " THEN " + w.text(depth-1) + " END"
	case "char":
		return "to_char(" + w.pick(w.date(1), w.moment(1)) + ", " + w.pick("'YYYY-MM'", "'FMMonth DD, YYYY'", "'Mon YY'", "'IYYY-IW'",
			"'HH24:MI:SS.US'", "'Day DDD'", "'\"Q\"Q YYYY'", "'D ID WW W CC HH12 AM'") + ")"
	case "number":
		return "to_char(" + w.pick("n", "n * 1000", "r", "r * 1234.5", "(0 - r) / 1000", "("+w.number(1)+")::double precision + 0") + ", '" +
			w.numberFormat() + "')"
	case "substring":
		return "substring(" + w.text(depth-1) + " from 1 for 2)"
	}
	return "coalesce(" + w.text(depth-1) + ", 'none')"
}

// numberFormat draws a format of numbers.
func (w writer) numberFormat() string {
	if w.pick("usual", "drawn") == "usual" {
		return w.pick("999,999.99", "FM999,999.00", "9", "FM9", "000", "FM990.99", "$9,999", "99.9%", "9999MI", "FM9.9", "0.0", ".99", "FM.9", "9G999D9")
	}
	out := w.pick("", "FM", "$")
	for range rapid.IntRange(0, 5).Draw(w.t, "digits") {
		out += w.pick("9", "9", "0", "9,")
	}
	if out += "9"; w.pick("whole", "fraction") == "fraction" {
		out += "."
		for range rapid.IntRange(1, 4).Draw(w.t, "fraction") {
			out += w.pick("9", "0")
		}
	}
	return out + w.pick("", "", "MI", " %")
}

func (w writer) date(depth int) string {
	if depth == 0 {
		return w.pick("d", "d", "DATE '2024-02-29'", "make_date(2024, length(k), 31 - 3)", "to_date('31.01.2025', 'DD.MM.YYYY')")
	}
	switch w.pick("days", "truncated", "cast") {
	case "days":
		return "(" + w.date(depth-1) + w.pick(" + 40", " - length(k)", " - 1") + ")"
	case "truncated":
		return "CAST(date_trunc('" + w.pick("year", "quarter", "month", "week", "day") + "', " + w.date(depth-1) + ") AS date)"
	}
	return "CAST(" + w.moment(depth-1) + " AS date)"
}

func (w writer) moment(depth int) string {
	if depth == 0 {
		return w.pick("d::timestamp", "TIMESTAMP '2024-02-29 23:59:59.5'", "CAST('2025-03-31 07:08:09.010203' AS timestamp)")
	}
	switch w.pick("later", "later", "truncated") {
	case "later":
		return "(" + w.pick(w.date(depth-1), w.moment(depth-1)) + w.pick(" + ", " - ") + w.span(depth-1) + ")"
	}
	return "date_trunc('" + w.pick("hour", "minute", "second", "month", "week") + "', " + w.moment(depth-1) + ")"
}

func (w writer) span(depth int) string {
	if depth == 0 {
		return w.pick("INTERVAL '1 month'", "INTERVAL '1 year -2 days'", "INTERVAL '-3 days 04:05:06.7'", "'5 months'::interval",
			"length(k) * INTERVAL '1 month 1 day'", "make_interval(days => 7)")
	}
	switch w.pick("age", "age", "minus", "plus", "times", "negated") {
	case "age":
		return "age(" + w.moment(depth-1) + ", " + w.moment(depth-1) + ")"
	case "minus":
		return "(" + w.moment(depth-1) + " - " + w.moment(depth-1) + ")"
	case "plus":
		return "(" + w.span(depth-1) + w.pick(" + ", " - ") + w.span(depth-1) + ")"
	case "times":
		return "(" + w.span(depth-1) + " * " + w.pick("2", "-1", "length(k)") + ")"
	}
	return "(- (" + w.span(depth-1) + "))"
}

// part draws a part of a date, a timestamp or an interval.
func (w writer) part() string {
	switch w.pick("date", "moment", "span") {
	case "date":
		return "EXTRACT(" + w.pick("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "isoyear", "decade", "century",
			"millennium", "epoch") + " FROM " + w.date(1) + ")::integer"
	case "moment":
		return "date_part('" + w.pick("year", "week", "hour", "minute", "second", "milliseconds", "microseconds", "epoch") + "', " +
			w.moment(1) + ")::double precision"
	}
	return "EXTRACT(" + w.pick("year", "quarter", "month", "day", "hour", "minute", "second", "epoch") + " FROM " + w.span(1) +
		")::double precision"
}

func (w writer) condition(depth int) string {
	if depth == 0 {
		if w.pick("value", "value", "time") == "time" {
			op := w.pick(" < ", " >= ", " = ", " <> ")
			return w.pick(w.date(1)+op+w.date(1), w.date(1)+op+w.moment(1), w.moment(1)+op+w.moment(1), w.span(1)+op+w.span(1))
		}
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

func (w writer) percentile() string {
	rank := w.pick("0", "0.5", "0.07", "0.25", "0.9", "1 / 3.0", "1")
	return w.pick("percentile_cont("+rank+") WITHIN GROUP (ORDER BY "+w.pick("n", "r", "n + r"),
		"percentile_disc("+rank+") WITHIN GROUP (ORDER BY "+w.pick("n", "r", "k", "d")) +
		w.pick("", " DESC") + ")" + w.pick("", " FILTER (WHERE n > 1)")
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
	switch w.pick("plain", "plain", "times", "windows", "groups", "distinct", "top", "nested", "whole") {
	case "windows":
		return "SELECT k, d, " + w.window() + " AS a, " + w.window() + " AS b FROM " + rows
	case "groups":
		out := "SELECT " + w.pick("k", "length(k)", "d", "n > 1") + " AS g, " + w.percentile() + " AS p, count(*) AS c, sum(n) AS s, avg(r) AS m, max(" +
			w.number(1) + ") AS x, count(DISTINCT n) AS u, stddev(r) AS sd, sum(n) FILTER (WHERE " + w.condition(0) + ") AS f FROM " + rows
		if w.pick("all", "some") == "some" {
			out += " WHERE " + w.condition(1)
		}
		return out + " GROUP BY 1" + w.pick("", " HAVING count(*) > 1", " HAVING sum(n) IS NOT NULL")
	case "times":
		return "SELECT " + w.date(2) + " AS a, " + w.moment(2) + " AS b, " + w.span(2) + " AS c, CAST(" + w.span(1) + " AS text) AS e FROM " + rows
	case "distinct":
		return "SELECT DISTINCT " + w.text(1) + " AS a, n FROM " + rows
	case "top":
		return "SELECT k, d, " + w.number(1) + " AS a FROM " + rows + " ORDER BY k DESC, 2 LIMIT 4 OFFSET 1"
	case "nested":
		return w.over("(SELECT k, d, n, " + w.number(1) + "::double precision AS r FROM " + rows + " WHERE " + w.condition(1) + ") y")
	case "whole":
		return "SELECT count(*) AS c, sum(r) AS s, min(k) AS k, max(d) AS d, avg(n) AS a, bool_or(n > 3) AS b, " + w.percentile() + " AS p FROM " + rows +
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
		bound, err := programs[len(programs)-1].Bind(columns, len(rows), "")
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
