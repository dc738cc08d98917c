package enginetest

import (
	"fmt"
	"math"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/policy"
	"dither/internal/value"
)

// Policy is the policy of generated questions. It has two tables with the same columns: in t each row is a unit,
// and in p persons are the units.
const Policy = `
version: 1
population: {name: hostile, neighbours: NEIGHBOURS}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  t: {source: {csv: t.csv}, unit: row, part: {column: k}, columns: {COLUMNS}}
  p: {source: {csv: p.csv}, unit: person, rows_per_unit: 3, max_groups: 2, max_rows_per_group: GROUPED, part: {column: k, per_unit: PARTS}, columns: {COLUMNS, person: {type: integer, nullable: true}}}
`

const columns = `i: {type: integer, bounds: [-7, 9], nullable: true}, j: {type: integer, bounds: [0, 1000000000000]}, ` +
	`k: {type: integer, values: [-3, 0, 5], nullable: true}, n: {type: integer, nullable: true}, ` +
	`x: {type: real, bounds: [-2.5, 17], nullable: true}, y: {type: real, bounds: [0.001, 1000]}, z: {type: real, nullable: true}, ` +
	`s: {type: text, values: [a, B, "it's", ""], nullable: true}, w: {type: text, nullable: true}, ` +
	`b: {type: boolean, nullable: true}, d: {type: date, bounds: [1999-12-30, 2000-01-05], nullable: true}, e: {type: date}, ` +
	`ts: {type: timestamp, bounds: ["1999-12-30 21:15", "2000-01-05 03:00:00.5"], nullable: true}, tu: {type: timestamp}, ` +
	`tc: {type: time, nullable: true}`

// PolicyText returns Policy for a neighbouring relation. Units in table p are bounded by rows, and each unit counts in
// one part: a subset of the rows, by the value of a column.
func PolicyText(neighbours string) []byte { return policyText(neighbours, "3", "1") }

// ByGroups is like PolicyText, except that units in table p count in two parts. They are bounded by groups if the
// question has groups or counts units.
func ByGroups(neighbours string) []byte { return policyText(neighbours, "1", "2") }

func policyText(neighbours, rowsPerGroup, parts string) []byte {
	return []byte(strings.NewReplacer("NEIGHBOURS", neighbours, "COLUMNS", columns, "GROUPED", rowsPerGroup, "PARTS",
		parts).Replace(Policy))
}

// hostile lists values of each type that files may hold and that would break careless arithmetic.
var hostile = map[value.Type][]value.Value{
	value.Integer: integers64(0, 1, -1, 2, 5, -3, 9, 10, -7, -8, 17, 1<<31, 1<<53, 1<<53+1, 1<<62, math.MaxInt64,
		math.MinInt64, math.MinInt64+1),
	value.Real: reals(0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, -2.5, 16.999999999999996, 17, 1e-3, 1e-18, 1e-19,
		-1e-300, 5e-324,
		1e300, -math.MaxFloat64, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 0.1, 1.0/3, 123456.789,
		0.49999999999999994, -0.49999999999999994, 0x1p-60, -0x1p-60, 0x1p53+2, 17.000000000000004, 1e-3+0x1p-62),
	value.Text: texts("", "a", "A", "B", "it's", "%", "_", `\`, "a%b", "Straße", "日本", "x y\nz", "NULL", "~", "aa",
		"e\u0301", "é", "É", "İ", "ß", "a ", "\U0001F469\u200D\U0001F467", "\u202Ea", "\x01", "\uFFFD", "\uFEFFa"),
	value.Boolean: {value.OfBool(true), value.OfBool(false)},
	value.Date: days(0, -1, 10955, 10956, 10957, 10958, 10961, 11016, 20000, -25567, -719000, 11015, 11017, 19782,
		20088, value.MinDay, value.MinDay+5, value.MaxDay, value.MaxDay-4),
}

// The hostile timestamps are near the ends of days, months and years, near 1970-01-01, and at the ends of the type.
func init() {
	for _, day := range hostile[value.Date] {
		for _, of := range []int64{0, 1, 12 * 3_600_000_000, value.DayMicros - 1} {
			hostile[value.Timestamp] = append(hostile[value.Timestamp], value.OfMicro(day.Int*value.DayMicros+of))
		}
	}
	for _, n := range []int64{0, 1, 999_999, 59_999_999, 3_599_999_999, 12 * 3_600_000_000, value.DayMicros - 1} {
		hostile[value.Time] = append(hostile[value.Time], value.Value{Type: value.Time, Int: n})
	}
}

func integers64(ns ...int64) (out []value.Value) {
	for _, n := range ns {
		out = append(out, value.OfInt(n))
	}
	return out
}

func reals(xs ...float64) (out []value.Value) {
	for _, x := range xs {
		out = append(out, value.OfReal(x))
	}
	return out
}

func texts(ss ...string) (out []value.Value) {
	for _, s := range ss {
		out = append(out, value.OfText(s))
	}
	return out
}

func days(ns ...int64) (out []value.Value) {
	for _, n := range ns {
		out = append(out, value.OfDay(n))
	}
	return out
}

// Rows makes at most `most` random rows of a table, with hostile values: values that would break careless arithmetic.
func Rows(t *rapid.T, table *policy.Table, most int) []Row {
	n := rapid.IntRange(0, most).Draw(t, "rows")
	out := make([]Row, n)
	for i := range out {
		out[i] = Row{}
		for _, c := range table.Columns {
			v := rapid.SampledFrom(hostile[c.Type]).Draw(t, c.Name)
			if c.Name == "person" {
				v = value.OfInt(int64(rapid.IntRange(1, 4).Draw(t, "person")))
			}
			if c.Name == "k" && rapid.Bool().Draw(t, "in a part") {
				v = rapid.SampledFrom(c.Values).Draw(t, "part")
			}
			if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
				v = value.NullOf(c.Type)
			}
			out[i][c.Name] = v
		}
	}
	return out
}

// Question draws a question over table t or p. The planner accepts most of these questions.
func Question(t *rapid.T, table string) string {
	g := generator{t}
	var items []string
	for range rapid.IntRange(1, 3).Draw(t, "aggregates") {
		items = append(items, g.aggregate(table))
	}
	if g.chance(5) {
		items = append(items, g.beside())
	}
	if g.chance(6) {
		items[0] = "WITH DIFFERENTIAL_PRIVACY OPTIONS(" + g.pick("epsilon=0.25", "max_rows_contributed=2",
			"max_rows_contributed=1, delta=1e-6", "max_rows_contributed=9") + ") " + items[0]
	}
	return g.from(strings.Join(items, ", "), table) + g.groups()
}

// Scores draws a question for a score of each of its groups. The planner accepts most of these questions.
func Scores(t *rapid.T, table string) string {
	g := generator{t}
	return g.from(g.aggregate(table), table) + g.groups()
}

// Values draws a question for the values of rows. The planner accepts most of these questions.
func Values(t *rapid.T, table string) string {
	g := generator{t}
	return g.from(g.number(3), table)
}

// from returns a SELECT of the expressions in the text `what`, in some cases with a WHERE.
func (g generator) from(what, table string) string {
	sql := "SELECT " + what + " FROM " + table
	switch {
	case g.chance(4):
		sql += " WHERE " + g.confined()
	case g.chance(2):
		sql += " WHERE " + g.condition(3)
	}
	return sql
}

// confined draws a condition that confines a question to some parts (subsets of the units).
func (g generator) confined() string {
	parts := g.pick("k = 5", "k = 0", "k = -3", "0 = k", "k IN (0, 5)", "k <> 0", "k <= 0", "NOT k = 5",
		"k BETWEEN -3 AND 0", "(k = 5 OR k = 0)", "k NOT IN (5)")
	switch g.pick("alone", "and", "and", "or") {
	case "and":
		return parts + " AND (" + g.condition(2) + ")"
	case "or":
		return "(" + g.condition(1) + ") AND k = 5 OR " + parts + " AND k <> -3"
	}
	return parts
}

// groups draws a GROUP BY clause, or "".
func (g generator) groups() string {
	if !g.chance(2) {
		return ""
	}
	groups := []string{g.group()}
	if g.chance(3) {
		groups = append(groups, g.group())
	}
	if g.chance(3) {
		return " GROUP BY " + g.sets(groups)
	}
	return " GROUP BY " + strings.Join(groups, ", ")
}

// sets draws grouping sets of one or two expressions.
func (g generator) sets(of []string) string {
	all := strings.Join(of, ", ")
	last := of[len(of)-1]
	return g.pick("ROLLUP ("+all+")", "CUBE ("+all+")", "GROUPING SETS ("+all+", ())",
		"GROUPING SETS (("+all+", "+last+"), "+last+")",
		of[0]+", ROLLUP ("+last+")", "ROLLUP ("+last+"), CUBE ("+all+")")
}

type generator struct{ t *rapid.T }

func (g generator) chance(n int) bool { return rapid.IntRange(1, n).Draw(g.t, "chance") == 1 }

func (g generator) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(g.t, "pick")
}

func (g generator) aggregate(table string) string {
	if table == "p" && g.chance(4) {
		return g.pick("COUNT(DISTINCT person)", "COUNT(DISTINCT person) FILTER (WHERE "+g.condition(1)+")",
			"COUNT(DISTINCT CASE WHEN "+g.condition(1)+" THEN person END)")
	}
	if g.chance(5) {
		f := ""
		if g.chance(3) {
			f = " FILTER (WHERE " + g.condition(1) + ")"
		}
		if g.chance(3) {
			return "SUM(DISTINCT " + g.pick("i", "-i", "i - 5", "k", "k % 2", "j", "LEAST(i, 3)", "CAST(b AS integer)") +
				g.pick("", ", bounds => (-2, 4)") + ")" + f
		}
		return "COUNT(DISTINCT " + g.pick(g.number(2), g.condition(1), "s", "w", "d", "ts", "tc", "tu::date", "n", "z", "x", "b", "k", "k % 2",
			"CASE WHEN b THEN s END") + ")" + f
	}
	if g.chance(2) {
		f := ""
		if g.chance(2) {
			f = " FILTER (WHERE " + g.condition(2) + ")"
		}
		switch g.pick("one", "two", "plain") {
		case "one":
			return g.pick("VAR_POP", "VARIANCE", "STDDEV") + "(" + g.number(2) + ")" + f
		case "two":
			return g.pick("COVAR_POP", "CORR", "REGR_SLOPE", "REGR_COUNT", "REGR_AVGX", "REGR_INTERCEPT") + "(" +
				g.number(1) + ", " + g.number(1) + ")" + f
		}
		return g.pick("COUNT(*)", "COUNT(s)", "SUM("+g.number(2)+")", "AVG("+g.number(1)+")", "COUNT(d)") + f
	}
	if g.chance(3) {
		return g.named()
	}
	switch g.pick("rows", "count", "sum", "sum", "avg") {
	case "rows":
		return "COUNT(*)"
	case "count":
		return "COUNT(" + g.pick(g.number(2), g.condition(1), "s", "w", "d") + ")"
	case "avg":
		return "AVG(" + g.number(3) + ")"
	}
	return "SUM(" + g.number(3) + ")"
}

// beside draws a sum and an average of the same values, in some cases with their count.
func (g generator) beside() string {
	of := "(" + g.number(2) + ")"
	if g.chance(3) {
		of += " FILTER (WHERE " + g.condition(1) + ")"
	}
	return g.pick("", "COUNT"+of+", ") + "SUM" + of + ", AVG" + of
}

func (g generator) group() string {
	return g.pick("i", "k", "s", "b", "d", "i % 3", "FLOOR(x)", "ROUND(x / 4)", "CEIL(x)", "x > 1",
		"LEAST(i, 2)", "SIGN(x)",
		"COALESCE(s, 'none')", "CAST(x AS integer)", "CASE WHEN x > 1 THEN 1.5 ELSE 2.5 END", "n % 3", "3 % n",
		"EXTRACT(year FROM d)", "date_trunc('week', d)", "WIDTH_BUCKET(x, -1, 9.5, 4)", "WIDTH_BUCKET(i, 0, 9, 3)",
		"WIDTH_BUCKET("+g.number(2)+", "+g.pick("-3", "0", "0.1", "-1.5")+", "+g.pick("5", "0.3",
			"7.7")+", "+g.pick("1", "3", "7", "100")+")",
		"date_trunc('"+g.pick("year", "quarter", "month", "week", "day")+"', "+g.pick("d", "e", "COALESCE(d, e)",
			"CASE WHEN "+g.condition(1)+" THEN d END", "LEAST(d, DATE '2000-01-02')",
			"GREATEST(LEAST(e, DATE '2003-01-02'), DATE '1999-12-02')",
			"date_trunc('"+g.pick("year", "quarter", "month", "week", "day")+"', d)")+")",
		"EXTRACT("+g.pick("year", "quarter", "month", "day", "dow", "isodow", "doy")+" FROM "+g.pick("d", "e",
			"date_trunc('week', d)", "COALESCE(d, e)", "NULLIF(d, '2000-01-01')")+")",
		"date_trunc('"+g.pick("year", "quarter", "month", "week", "day", "hour", "minute")+"', "+g.timestamp()+")",
		"EXTRACT("+g.pick("year", "month", "dow", "hour", "minute")+" FROM "+g.timestamp()+")",
		"EXTRACT(hour FROM "+g.pick("tc", "ts::time")+")", "CAST("+g.timestamp()+" AS date)",
		g.shifted(), g.char(), "EXTRACT("+g.pick("week", "isoyear", "century", "decade")+" FROM "+g.pick("d", "ts", "e")+")",
		"CAST("+g.shifted()+" AS date)", "date_trunc('"+g.pick("week", "month", "hour")+"', "+g.shifted()+")",
		"date_bin('"+g.pick("36 hours", "1 day", "5 hours 30 minutes")+"', ts, TIMESTAMP '"+g.pick("2000-01-01", "1999-12-31 18:00", "2001-07-07")+"')",
		"EXTRACT(doy FROM d) % 7", "i * i", "(i * i) - 3", "WIDTH_BUCKET(i * i, 0, 9, 3)",
		"EXTRACT(month FROM e) * EXTRACT(month FROM e)",
		"FLOOR(x / 2.5) * 2.5", "(FLOOR((i - 0.0) / 2.5) * 2.5) + 0.0", "ROUND(x, 1)", "ABS(FLOOR(x)) * 0.5", "MOD(n, 2)",
		g.text(2), g.text(2), "LENGTH("+g.text(1)+")",
		"CASE WHEN "+g.condition(1)+" THEN 'u' WHEN "+g.condition(1)+" THEN 'v' END")
}

// text draws an expression of type text with known values.
func (g generator) text(depth int) string {
	if depth == 0 {
		return g.pick("s", "s", "'aB'", "CAST(b AS text)", "i::text", "CASE WHEN x > 1 THEN 'Up' ELSE s END", "COALESCE(s, 'none')")
	}
	a := g.text(depth - 1)
	switch g.pick("one", "joined", "part", "concat", "replace") {
	case "joined":
		return "(" + a + " || " + g.pick("'-'", "k", "b", "s") + ")"
	case "concat":
		return g.pick("CONCAT(", "CONCAT_WS('/', ") + a + ", " + g.pick("'x'", "s", "b", "k") + ")"
	case "part":
		return g.pick("LEFT("+a+", 1)", "SUBSTRING("+a+", 2)", "RPAD("+a+", 3, '*')", "SPLIT_PART("+a+", '''', 1)")
	case "replace":
		return g.pick("REPLACE("+a+", 'a', '')", "TRANSLATE("+a+", 'aB', 'Ba')", "REGEXP_REPLACE("+a+", '[a-z]', '+')")
	}
	return g.pick("LOWER", "UPPER", "INITCAP", "TRIM", "REVERSE") + "(" + a + ")"
}

// timestamp draws an expression of type timestamp.
func (g generator) timestamp() string {
	return g.pick("ts", "tu", "COALESCE(ts, tu)", "LEAST(tu, TIMESTAMP '2000-01-02 06:00')", "d::timestamp",
		"CASE WHEN b THEN ts ELSE d END", "date_trunc('hour', ts)", "date_trunc('month', tu)",
		"GREATEST(LEAST(tu, '2000-01-04'), '1999-12-29 23:30')")
}

// shifted draws the sum of a date or a timestamp with bounds and an interval or a number of days.
func (g generator) shifted() string {
	by := g.pick("INTERVAL '1 day'", "INTERVAL '-1 month'", "INTERVAL '13 months -2 days 01:30:00.000001'", "INTERVAL '-36 hours'",
		"2 * INTERVAL '30 minutes'", "INTERVAL '1 year'")
	return "(" + g.pick("d", "ts", "date_trunc('month', d)", "date_trunc('hour', ts)", "COALESCE(d, '2000-01-02')") + " " + g.pick("+", "-") +
		" " + g.pick(by, by, "LEAST(GREATEST(n, -5), 1000) * INTERVAL '1 hour'") + ")"
}

// char draws a text of a date, a timestamp or a time.
func (g generator) char() string {
	return g.pick("to_char(d, 'YYYY-MM')", "to_char(d, 'Dy DD Mon')", "to_char(ts, 'IYYY-IW')", "to_char(ts, 'HH24:MI')", "to_char(ts, 'FMMonth')",
		"to_char(d, 'Day|DDD|Q|D|ID|YY')", "to_char(tc, 'HH12 AM')", "to_char(ts, 'YYYY-MM-DD HH24')", "to_char(e, 'MON\"\"MM')",
		"to_char(date_trunc('month', e), 'YYYY-MM-DD')")
}

// number draws a numeric expression.
func (g generator) number(depth int) string {
	if depth == 0 || g.chance(3) {
		return g.pick("i", "j", "k", "x", "y", "LEAST(GREATEST(n, -5), 1000)", "LEAST(GREATEST(z, -4.5), 1e6)", "3",
			"0", "-2", "0.5", "1.5",
			"EXTRACT("+g.pick("year", "quarter", "month", "day", "dow", "isodow", "doy")+" FROM "+g.pick("d", "e")+")",
			"EXTRACT("+g.pick("epoch", "hour", "minute", "second", "doy")+" FROM "+g.timestamp()+")",
			"EXTRACT("+g.pick("epoch", "hour", "second")+" FROM "+g.pick("tc", "date_trunc('minute', tc)")+")",
			"EXTRACT(epoch FROM "+g.pick("d", "e")+")",
			"(d - "+g.pick("e", "DATE '2000-01-02'", "'1999-12-31'")+")",
			"EXTRACT("+g.pick("epoch", "day", "hour", "minute", "second")+" FROM "+g.pick("ts - tu", "tu - d", "ts - TIMESTAMP '2000-01-01 00:30'")+")",
			"EXTRACT("+g.pick("year", "month", "day")+" FROM AGE("+g.pick("DATE '2024-02-29', e", "d, DATE '1987-10-31'", "d, DATE '2000-01-02'")+"))",
			"EXTRACT("+g.pick("week", "isoyear", "century", "decade", "millennium", "hour", "milliseconds", "microseconds")+" FROM "+g.pick("d", "ts", "tu")+")",
			"EXTRACT("+g.pick("day", "month", "epoch", "minute")+" FROM "+g.shifted()+")",
			"(d - make_date("+g.pick("2000 + i", "1900 + 4 * i", "LEAST(GREATEST(n, 1), 9999)")+", "+g.pick("ABS(i) + 1", "2", "10 + k % 2")+", "+
				g.pick("28", "ABS(i) + 19")+"))",
			"LN(1)", "i * i", "x * x", "(x - 3) * (x - 3)", "WIDTH_BUCKET(x, 0, 5, 10)", "WIDTH_BUCKET(y, 0.1, 0.3, 7)",
			"LN(LEAST(y, 1) / LEAST(y, 1))", "LOG("+g.pick("", "2, ")+"LEAST(y, 1) / LEAST(y, 1))")
	}
	a, b := g.number(depth-1), g.number(depth-1)
	switch g.pick("+", "-", "*", "/", "%", "neg", "case", "least", "greatest", "coalesce", "abs", "sqrt", "floor",
		"round", "cast", "nullif", "sign", "two", "digits") {
	case "neg":
		return "-(" + a + ")"
	case "case":
		return "CASE WHEN " + g.condition(depth-1) + " THEN " + a + " ELSE " + b + " END"
	case "least":
		return "LEAST(" + a + ", " + b + ")"
	case "greatest":
		return "GREATEST(" + a + ", " + b + ")"
	case "coalesce":
		return "COALESCE(" + a + ", " + b + ")"
	case "abs", "sqrt", "floor", "round", "sign":
		return g.pick("ABS", "SQRT", "FLOOR", "CEIL", "ROUND", "SIGN") + "(" + a + ")"
	case "two":
		if g.chance(2) { // a product, whose last digits are the same everywhere, as those of other powers are not
			return "POWER(" + a + ", " + g.pick("2", "3", "-1") + ")"
		}
		return g.pick("MOD", "DIV") + "(" + a + ", " + g.pick(b, "2", "0.5", "-1", "10") + ")"
	case "digits":
		return g.pick("ROUND", "TRUNC") + "(" + a + ", " + g.pick("1", "-1", "0", "2") + ")"
	case "cast":
		return "CAST(" + a + " AS " + g.pick("integer", "double precision") + ")"
	case "nullif":
		return "NULLIF(" + a + ", " + b + ")"
	}
	return "(" + a + ") " + g.pick("+", "-", "*", "/", "%") + " (" + b + ")"
}

// condition draws a boolean expression.
func (g generator) condition(depth int) string {
	if depth > 0 && g.chance(3) {
		a := g.condition(depth - 1)
		switch g.pick("not", "and", "or", "true") {
		case "not":
			return "NOT (" + a + ")"
		case "true":
			return "(" + a + ") IS " + g.pick("TRUE", "FALSE", "NOT TRUE", "UNKNOWN")
		case "or":
			return "(" + a + ") OR (" + g.condition(depth-1) + ")"
		}
		return "(" + a + ") AND (" + g.condition(depth-1) + ")"
	}
	compare := g.pick("=", "<>", "<", "<=", ">", ">=")
	switch g.pick("number", "number", "number", "text", "date", "time", "bool", "between", "in", "like", "null") {
	case "text":
		if g.chance(3) {
			return g.pick(g.text(1), "LOWER(w)", "UPPER(w)") + " " + g.pick(compare, "IS DISTINCT FROM") + " " + g.pick("'a'", "'A'", "''", "'B'")
		}
		return g.pick("s", "w") + " " + compare + " " + g.pick("'a'", "'B'", "'it''s'", "''", "'日'")
	case "date":
		day := g.pick("d", "e")
		if g.chance(2) {
			day = "date_trunc('" + g.pick("year", "quarter", "month", "week", "day") + "', " + day + ")"
		}
		return day + " " + compare + " " +
			g.pick("'2000-01-01'", "DATE '1999-12-31'", "'1999-12-27'", "'0001-01-01'", "'9999-10-01'")
	case "time":
		if g.chance(4) {
			return g.pick(g.shifted()+" "+compare+" "+g.pick("ts", "d", "'2000-01-02 12:00'", "TIMESTAMP '1999-12-31 23:59:59'"),
				"ts - tu "+compare+" INTERVAL '1 day'", "AGE(d, e) "+compare+" INTERVAL '3 years'", "AGE(ts, tu) "+compare+" INTERVAL '10 days'", g.char()+" "+compare+" 'F'",
				"d "+compare+" '2000-01-02 06:00:00'", "ts "+compare+" '2000-01-02T00:00:00+02'")
		}
		if g.chance(3) {
			return g.pick("tc", "ts::time", "date_trunc('hour', tc)") + " " + compare + " " + g.pick("'12:00'", "TIME '00:00:00.000001'")
		}
		return g.timestamp() + " " + compare + " " + g.pick("'2000-01-01'", "TIMESTAMP '1999-12-31 12:00'", "d", "e", "tu",
			"DATE '2000-01-02'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'")
	case "bool":
		return "b"
	case "between":
		return g.number(1) + " BETWEEN " + g.number(0) + " AND " + g.number(0)
	case "in":
		return g.pick("i IN (1, 2, -3)", "s IN ('a', 'it''s')", "x IN (0, 1.5)", "n % -1 = 0", "7 % n > 0",
			"i IN (1, CAST(NULL AS integer))", "NOT k IN (0)", "n NOT IN (1, 2, 5)")
	case "like":
		if g.chance(4) {
			return g.pick("LEFT(w, 1) = 'a'", "RIGHT(w, 1) > 'A'", "SUBSTRING(w, 2, 1) = 'b'", "TRIM(w) <> w", "LTRIM(w, 'a') = ''",
				"SPLIT_PART(w, 'b', 1) = 'a'", "STRPOS(w, 'b') = 2", "LENGTH(w) > 1", "OCTET_LENGTH(w) > LENGTH(w)")
		}
		if g.chance(4) {
			return g.pick("s ~ '^[ab]'", "s ~* 'B'", "s SIMILAR TO '_|it%'", "STARTS_WITH(w, 'a')", "LOWER(w) LIKE 'a%'")
		}
		return g.pick("s", "w") + g.pick(" LIKE ", " ILIKE ") +
			g.pick("'a%'", "'%a'", "'%'", "'_'", `'\%'`, "'%a%b%'", "'__'", "'A'", `'%\\%'`, "'_%_'", `'\_'`, "'%i_'")
	case "null":
		return g.pick("i", "k", "n", "z", "s", "w", "b", "d", "ts", "tc") + " IS " + g.pick("NULL", "NOT NULL")
	}
	return fmt.Sprintf("%s %s %s", g.pick(g.number(depth), "n", "z"), compare, g.number(max(depth-1, 0)))
}
