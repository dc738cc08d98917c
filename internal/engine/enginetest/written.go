package enginetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/policy"
	"dither/internal/value"
)

// WrittenPolicy is the policy of the questions of Written. Table p has one row of each person, v several, and l
// several for each row of v. Tables w and z are public.
const WrittenPolicy = `
version: 1
population: {name: written}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  p: {source: {csv: p.csv}, unit: person, rows_per_unit: 1, columns: {person: {type: integer}, home: {type: text, values: [a, b, c], nullable: true}, age: {type: integer, bounds: [0, 9], nullable: true}}}
  v: {source: {csv: v.csv}, unit: who, rows_per_unit: 4, references: {who: p.person}, columns: {id: {type: integer}, who: {type: integer}, ward: {type: text, values: [a, b, c], nullable: true}, n: {type: integer, bounds: [0, 9], nullable: true}, d: {type: date, bounds: [2025-01-01, 2025-01-20], nullable: true}}}
  l: {source: {csv: l.csv}, through: visit, rows_per_unit: 12, references: {visit: v.id}, columns: {visit: {type: integer}, item: {type: integer, bounds: [0, 5], nullable: true}, cost: {type: integer, bounds: [0, 9], nullable: true}}}
  w: {source: {csv: w.csv}, public: true, rows_per_value: {name: 1}, columns: {name: {type: text, values: [a, b, c]}, zone: {type: integer, bounds: [0, 3], nullable: true}, big: {type: boolean, nullable: true}}}
  z: {source: {csv: z.csv}, public: true, rows_per_value: {zone: 1}, columns: {zone: {type: integer, bounds: [0, 3]}, title: {type: text, values: [x, y]}}}
`

// WrittenRows draws rows of all tables of WrittenPolicy, within the bounds that the policy declares.
func WrittenRows(t *rapid.T, p *policy.Policy) Tables {
	out := Tables{}
	null := func(v value.Value) value.Value {
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			return value.NullOf(v.Type)
		}
		return v
	}
	number := func(most int) value.Value { return value.OfInt(int64(rapid.IntRange(0, most).Draw(t, "number"))) }
	word := func(words ...string) value.Value { return value.OfText(rapid.SampledFrom(words).Draw(t, "word")) }
	first, err := value.Parse(value.Date, "2025-01-01")
	if err != nil {
		t.Fatal(err)
	}
	id := int64(0)
	for person := int64(1); person <= 4; person++ {
		if rapid.IntRange(0, 3).Draw(t, "row of p") > 0 {
			out["p"] = append(out["p"], Row{"person": value.OfInt(person), "home": null(word("a", "b", "c")), "age": null(number(9))})
		}
		for range rapid.IntRange(0, 4).Draw(t, "rows of v") {
			id++
			day := first
			day.Int += int64(rapid.IntRange(0, 19).Draw(t, "day"))
			out["v"] = append(out["v"], Row{"id": value.OfInt(id), "who": value.OfInt(person), "ward": null(word("a", "b", "c")), "n": null(number(4)), "d": null(day)})
			for range rapid.IntRange(0, 3).Draw(t, "rows of l") {
				out["l"] = append(out["l"], Row{"visit": value.OfInt(id), "item": null(number(5)), "cost": null(number(9))})
			}
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 3).Draw(t, "row of w") > 0 {
			out["w"] = append(out["w"], Row{"name": value.OfText(name), "zone": null(number(3)), "big": null(value.OfBool(rapid.Bool().Draw(t, "big")))})
		}
	}
	for zone := range 4 {
		if rapid.IntRange(0, 3).Draw(t, "row of z") > 0 {
			out["z"] = append(out["z"], Row{"zone": value.OfInt(int64(zone)), "title": word("x", "y")})
		}
	}
	return out
}

// Written draws a question of one number, in a form that is planned otherwise than it is written, and the form's name.
func Written(t *rapid.T) (form, sql string) {
	switch rapid.IntRange(0, 13).Draw(t, "form") {
	case 0:
		return "comma join", writtenList(t)
	case 1:
		return "join tree", writtenTree(t)
	case 2:
		return "factored OR", writtenOr(t)
	case 3:
		return "distinct rows of a person", "SELECT " + rapid.SampledFrom([]string{"COUNT(*)", "COUNT(q.x)"}).Draw(t, "of distinct rows") +
			" FROM (SELECT DISTINCT " + rapid.SampledFrom([]string{"v.who, v.n AS x", "v.n % 2 AS x, v.who AS w", "v.n AS x, v.ward, v.who"}).Draw(t, "distinct") +
			" FROM v" + rapid.SampledFrom([]string{"", " WHERE v.n > 1", " JOIN p ON p.person = v.who WHERE p.age > v.n"}).Draw(t, "from") + ") q"
	case 4:
		return "numbered rows of a person", writtenNumbers(t)
	case 5:
		return "other rows of a person", writtenOthers(t)
	case 6:
		return "limited rows of a person", writtenLimited(t)
	case 7:
		return "ranges", writtenRanges(t)
	}
	return writtenNested(t)
}

// writtenNumbers keeps rows by their number in a window of each person, in a total order.
func writtenNumbers(t *rapid.T) string {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	over := " OVER (PARTITION BY " + pick("part", "v.who", "v.who", "v.who, v.ward", "v.n, v.who") + " ORDER BY " + pick("order", "", "v.d, ", "v.n DESC, ", "v.ward NULLS FIRST, ") + "v.id)"
	number := pick("number", "ROW_NUMBER()", "RANK()", "DENSE_RANK()")
	if number != "ROW_NUMBER()" {
		over = strings.ReplaceAll(strings.ReplaceAll(over, ", v.id)", ")"), " v.id)", " v.d)")
	}
	kept := pick("kept", "q.r = 1", "r = 2", "q.r <= 2", "r < 3", "2 >= r", "r BETWEEN 2 AND 3", "r IN (1, 3)", "r > 1 AND r <= 3", "r = 1 OR q.n > 2", "r > 2", "r <> 1")
	q := "(SELECT v.who, v.n, v.ward, " + number + over + " AS r FROM v" + pick("where", "", " WHERE v.n > 1", " JOIN p ON p.person = v.who WHERE p.age > 3") + ") q"
	switch pick("place", "where", "where", "filter", "join") {
	case "filter":
		return "SELECT COUNT(*) FILTER (WHERE " + kept + ") FROM " + q
	case "join":
		return "SELECT COUNT(q.n) FROM p LEFT JOIN " + q + " ON q.who = p.person AND q.r = 1" + pick("more", "", " WHERE p.age > 4")
	}
	return "SELECT " + pick("count", "COUNT(*)", "COUNT(q.n)") + " FROM " + q + " WHERE " + kept + pick("and", "", " AND q.n > 1", " AND q.ward = 'a'")
}

// writtenOthers counts rows by values of other rows of the same person, in a total order.
func writtenOthers(t *rapid.T) string {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	over := " OVER (PARTITION BY " + pick("part", "who", "who, ward") + " ORDER BY " + pick("order", "", "d, ", "n DESC, ", "ward, ") + "id)"
	item := pick("item", "d - LAG(d)"+over, "n - LEAD(n)"+over, "n - LAG(n, 2)"+over, "n - LAG(n, 1, 3)"+over, "n - FIRST_VALUE(n)"+over,
		"MAX(n) OVER (PARTITION BY who) - n", "COUNT(*) OVER (PARTITION BY who)", "SUM(n) OVER (PARTITION BY who) - LAG(n, 1, 0)"+over,
		"CASE WHEN LAG(ward)"+over+" = ward THEN 1 END", "COALESCE(LEAD(n, 1, 9 - n)"+over+", 0) - n", "n + LAG(n)"+over+" - LEAD(n)"+over)
	return "SELECT " + pick("count", "COUNT(x)", "COUNT(*) FILTER (WHERE x > 1)", "COUNT(CASE WHEN x IS NULL OR x < 0 THEN 1 END)") +
		" FROM (SELECT " + item + " AS x, n FROM v" + pick("where", "", " WHERE n > 1", " WHERE ward <> 'b'") + ") q" + pick("outer", "", " WHERE x < 3", " WHERE n IS NOT NULL")
}

// meetings are the conditions by which the tables of WrittenPolicy meet, and conditions the conditions on one of them.
var (
	meetings = []string{"p.person = v.who", "l.visit = v.id", "v.ward = w.name", "w.zone = z.zone"}
	tested   = []string{"p.age > 3", "v.n < 3", "l.cost >= 2", "z.title = 'x'", "w.big", "w.zone <> 1", "(v.n > 1 OR v.n IS NULL)"}
)

// writtenList joins some tables in any order, by conditions in any order.
func writtenList(t *rapid.T) string {
	tables := []string{"v", "p", "l", "w", "z"}
	met := rapid.Permutation(meetings).Draw(t, "meetings")
	where := append(met, rapid.SliceOfNDistinct(rapid.SampledFrom(tested), 0, 2, rapid.ID).Draw(t, "tested")...)
	return "SELECT COUNT(*) FROM " + strings.Join(rapid.Permutation(tables).Draw(t, "tables"), ", ") + " WHERE " +
		strings.Join(where, " AND ")
}

// writtenTree joins tables in a tree of any shape: each condition stands at the first join that has both its tables.
func writtenTree(t *rapid.T) string {
	left := append([]string(nil), meetings...)
	left = append(left, rapid.SliceOfNDistinct(rapid.SampledFrom(tested), 0, 2, rapid.ID).Draw(t, "tested")...)
	var tree func(tables []string) string
	tree = func(tables []string) string {
		if len(tables) == 1 {
			return tables[0]
		}
		at := rapid.IntRange(1, len(tables)-1).Draw(t, "split")
		text := tree(tables[:at]) + " JOIN " + tree(tables[at:])
		var on []string
		for i := len(left) - 1; i >= 0; i-- {
			if sees(tables, left[i]) {
				on = append(on, left[i])
				left = append(left[:i], left[i+1:]...)
			}
		}
		if on == nil {
			on = []string{"1 = 1"}
		}
		return "(" + text + " ON " + strings.Join(on, " AND ") + ")"
	}
	return "SELECT COUNT(*) FROM " + tree(rapid.Permutation([]string{"v", "p", "l", "w", "z"}).Draw(t, "tables"))
}

// sees reports whether a condition names these tables alone.
func sees(tables []string, condition string) bool {
	for _, table := range []string{"p", "v", "l", "w", "z"} {
		if strings.Contains(" "+strings.ReplaceAll(condition, "(", " "), " "+table+".") && !strings.Contains(strings.Join(tables, " "), table) {
			return false
		}
	}
	return true
}

// writtenOr joins two tables by an equality that all operands of an OR share.
func writtenOr(t *rapid.T) string {
	type pair struct {
		tables    []string
		same      []string
		different []string
	}
	c := rapid.SampledFrom([]pair{
		{[]string{"v", "w"}, []string{"v.ward = w.name", "w.name = v.ward"}, []string{"w.big", "v.n > 2", "w.zone = v.n", "v.n IS NULL"}},
		{[]string{"p", "v"}, []string{"p.person = v.who", "v.who = p.person"}, []string{"p.age > 3", "v.n > 2", "v.n < p.age", "p.home = v.ward"}},
	}).Draw(t, "pair")
	var operands []string
	for range rapid.IntRange(2, 3).Draw(t, "operands") {
		operand := append([]string{rapid.SampledFrom(c.same).Draw(t, "same")},
			rapid.SliceOfNDistinct(rapid.SampledFrom(c.different), 0, 2, rapid.ID).Draw(t, "different")...)
		operands = append(operands, "("+strings.Join(rapid.Permutation(operand).Draw(t, "operand"), " AND ")+")")
	}
	condition := strings.Join(operands, " OR ")
	tables := rapid.Permutation(c.tables).Draw(t, "tables")
	if rapid.Bool().Draw(t, "on") {
		return fmt.Sprintf("SELECT COUNT(*) FROM %s JOIN %s ON %s", tables[0], tables[1], condition)
	}
	return fmt.Sprintf("SELECT COUNT(*) FROM %s, %s WHERE %s", tables[0], tables[1], condition)
}

// writtenLimited joins the first rows of a person, or reads one value of the first.
func writtenLimited(t *rapid.T) string {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	rows := func(limit string) string {
		return "(SELECT v.n, v.ward FROM v WHERE " + pick("link", "v.who = p.person", "p.person = v.who AND v.n > 1", "v.ward = 'a' AND v.who = p.person") +
			" ORDER BY " + pick("order", "", "v.d, ", "n DESC NULLS LAST, ", "1 NULLS FIRST, ") + "v.id LIMIT " + limit + ")"
	}
	switch pick("place", "left", "cross", "list", "value") {
	case "value":
		return "SELECT COUNT(*) FROM p WHERE " + strings.Replace(rows("1"), "v.n, v.ward FROM", "v.n FROM", 1) + pick("than", " > 2", " IS NULL", " < p.age")
	case "cross":
		return "SELECT COUNT(*) FROM p CROSS JOIN LATERAL " + rows(pick("limit", "1", "2")) + " x WHERE x.n > 1"
	case "list":
		return "SELECT COUNT(*) FROM p, LATERAL " + rows(pick("limit", "1", "2")) + " x WHERE x.n < p.age"
	}
	return "SELECT COUNT(" + pick("count", "*", "x.n", "x.ward") + ") FROM p LEFT JOIN LATERAL " + rows(pick("limit", "1", "3")) + " x ON TRUE"
}

// writtenRanges joins a table of constants whose rows are ranges that do not overlap.
func writtenRanges(t *rapid.T) string {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	const table = "(VALUES (0, 2, 'x'), (2, 4, 'y'), (6, 9, 'z')) b (lo, hi, w)"
	const byWard = "(VALUES ('a', 0, 2, 'x'), ('a', 3, 4, 'y'), ('b', 0, 9, 'z')) b (ward, lo, hi, w)"
	n := pick("of", "v.n", "n", "v.n + 1")
	where := pick("where", "", " WHERE b.w <> 'x'", " WHERE v.n > 1")
	switch pick("form", "on", "on", "list", "ward") {
	case "ward":
		return "SELECT COUNT(b.w) FROM v " + pick("join", "JOIN ", "LEFT JOIN ") + byWard + " ON b.ward = v.ward AND " + n + " BETWEEN b.lo AND b.hi" + where
	case "list":
		return "SELECT COUNT(*) FROM v, " + table + " WHERE " + n + " >= lo AND hi > " + n + " AND w = 'y'"
	}
	return "SELECT COUNT(" + pick("count", "*", "b.w", "b.lo") + ") FROM v " + pick("join", "JOIN ", "LEFT JOIN ") + table + " ON " + n + " >= b.lo AND " + n + " < b.hi" + where
}
