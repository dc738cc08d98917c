package enginetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/policy"
	"dither/internal/value"
)

// relationPolicy is the policy of generated questions about relations. Tables p and v hold rows of persons. Rows of
// l belong to persons through one reference, and rows of m through two. In t each row is a unit, and r is public.
const relationPolicy = `
version: 1
population: {name: hostile, neighbours: NEIGHBOURS}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  p: {source: {csv: p.csv}, unit: person, rows_per_unit: 3, max_groups: 2, max_rows_per_group: GROUPED, columns: {person: {type: integer, nullable: true}, id: {type: integer, nullable: true}, i: {type: integer, bounds: [-7, 9], nullable: true}, k: {type: integer, values: [-3, 0, 5], nullable: true}, x: {type: real, bounds: [-2.5, 17], nullable: true}, s: {type: text, values: [a, B, ""], nullable: true}, b: {type: boolean, nullable: true}}}
  v: {source: {csv: v.csv}, unit: who, rows_per_unit: 2, columns: {who: {type: integer, nullable: true}, ref: {type: integer, nullable: true}, j: {type: integer, bounds: [0, 1000000000000]}, y: {type: real, bounds: [0.001, 1000]}, c: {type: text, values: [a, B]}, d: {type: date, bounds: [1999-12-30, 2000-01-05], nullable: true}}, references: {ref: p.id}}
  l: {source: {csv: l.csv}, through: parent, rows_per_unit: 4, columns: {parent: {type: integer, nullable: true}, line: {type: integer}, q: {type: integer, bounds: [0, 50]}, z: {type: real, bounds: [-1, 1], nullable: true}}, references: {parent: p.id}}
  m: {source: {csv: m.csv}, through: up, rows_per_unit: 2, max_groups: 1, columns: {up: {type: integer}, w: {type: integer, bounds: [-1, 3]}}, references: {up: l.line}}
  t: {source: {csv: t.csv}, unit: row, columns: {k: {type: integer, values: [-3, 0, 5]}, i: {type: integer, bounds: [-7, 9]}, x: {type: real, bounds: [-2.5, 17]}, s: {type: text, values: [a, B]}}}
  r: {source: {csv: r.csv}, public: true, rows_per_value: {rk: 1, rs: 2}, columns: {rk: {type: integer, values: [-3, 0, 5]}, rs: {type: text, values: [a, B, ""]}, ri: {type: integer, bounds: [0, 9], nullable: true}, rx: {type: real, bounds: [0, 4]}}}
`

// RelationPolicy returns the policy of Relation's questions. If byGroups is set, units in table p are bounded by
// groups.
func RelationPolicy(neighbours string, byGroups bool) []byte {
	rows := "3"
	if byGroups {
		rows = "1"
	}
	return relationPolicyText(neighbours, rows)
}

func relationPolicyText(neighbours, rowsPerGroup string) []byte {
	return []byte(strings.NewReplacer("NEIGHBOURS", neighbours, "GROUPED", rowsPerGroup).Replace(relationPolicy))
}

// StoredRelations is RelationPolicy with stored rows limited to the number that may count in an answer.
func StoredRelations(neighbours string) []byte {
	return regexp.MustCompile(
		`\brows_per_unit: (\d+)`,
	).ReplaceAll(
		RelationPolicy(neighbours, false),
		[]byte("rows_per_unit: $1, stored_rows_per_unit: $1"),
	)
}

// Recorded returns facts that sealing records about a table: the most rows of one unit, and the most rows that
// refer to one row. A fact that does not apply to the table is 0.
func Recorded(t *policy.Table, rows []Row) (mostRows, mostPerKey int64) {
	most := func(column string) (n int64) {
		by := map[string]int64{}
		for _, r := range rows {
			if v, ok := r[column]; ok && !v.Null {
				by[v.String()]++
				n = max(n, by[v.String()])
			}
		}
		return n
	}
	if t.Unit.Column != "" {
		mostRows = most(t.Unit.Column)
	}
	if t.Unit.Through != "" {
		mostPerKey = most(t.Unit.Through)
	}
	return mostRows, mostPerKey
}

// few holds the columns that identify persons and rows, with the number of their values. The numbers are small, so
// that rows of different tables often match.
var few = map[string]int{"person": 4, "who": 4, "id": 5, "ref": 5, "parent": 6, "line": 5, "up": 6}

// RelationRows makes at most `most` random rows of every table, with hostile values: values that would break careless
// arithmetic.
func RelationRows(t *rapid.T, p *policy.Policy, most int) Tables {
	out := Tables{}
	for _, table := range p.Tables {
		out[table.Name] = relationRows(t, table, most)
	}
	return out
}

func relationRows(t *rapid.T, table *policy.Table, most int) []Row {
	rows := Rows(t, table, most)
	for _, r := range rows {
		for name, v := range r {
			if n := few[name]; n > 0 && !v.Null {
				r[name] = value.OfInt(int64(rapid.IntRange(1, n).Draw(t, name)))
			}
		}
	}
	return rows
}

// RelationNeighbour returns a neighbouring dataset of rows: one unit is removed with its rows in all tables or, if
// replace is set, replaced by another. The unit is a person, with all rows that belong to this person alone. If
// ofRows is set, it is a row of t. Rows of l and m that belong to no person may be removed or kept.
func RelationNeighbour(t *rapid.T, p *policy.Policy, rows Tables, ofRows, replace bool) Tables {
	if !ofRows {
		victim := int64(rapid.IntRange(1, 4).Draw(t, "victim"))
		return withoutPerson(t, rows, victim, replace,
			func(table string) []Row { return relationRows(t, p.Table(table), 5) })
	}
	out := cloned(rows)
	if len(out["t"]) > 0 {
		i := rapid.IntRange(0, len(out["t"])-1).Draw(t, "victim")
		out["t"] = slices.Delete(out["t"], i, i+1)
		if replace {
			out["t"] = append(out["t"], RowsOf(t, p.Table("t"), 1)...)
		}
	}
	return out
}

func cloned(rows Tables) Tables {
	out := Tables{}
	for name, all := range rows {
		out[name] = slices.Clone(all)
	}
	return out
}

// withoutPerson is RelationNeighbour for a given person: it returns the tables without that person's rows. If replace
// is set, the function draw makes the rows of the replacement.
func withoutPerson(t *rapid.T, rows Tables, person int64, replace bool, draw func(table string) []Row) Tables {
	out, victim := cloned(rows), value.OfInt(person)
	drop := func(table string, gone func(Row) bool) { out[table] = slices.DeleteFunc(out[table], gone) }
	drop("p", func(r Row) bool { return equal(r["person"], victim) })
	drop("v", func(r Row) bool { return equal(r["who"], victim) })
	orphan := rapid.Bool().Draw(t, "orphans go")
	owned := func(of []Row, key string, v value.Value) bool {
		return slices.ContainsFunc(of,
			func(r Row) bool { return equal(r[key], v) && (key != "id" || !r["person"].Null) })
	}
	drop("l", func(r Row) bool { return orphan && !owned(out["p"], "id", r["parent"]) })
	drop("m", func(r Row) bool {
		return orphan && !slices.ContainsFunc(out["l"],
			func(l Row) bool { return equal(l["line"], r["up"]) && owned(out["p"], "id", l["parent"]) })
	})
	if !replace {
		return out
	}
	for _, table := range []string{"p", "v", "l", "m"} {
		for _, r := range draw(table) {
			switch table { // the rows of a new person, and further rows that belong to no other person
			case "p":
				r["person"] = value.OfInt(somebodyNew)
			case "v":
				r["who"] = value.OfInt(somebodyNew)
			case "l":
				if owned(slices.DeleteFunc(slices.Clone(out["p"]),
					func(r Row) bool { return equal(r["person"], value.OfInt(somebodyNew)) }), "id", r["parent"]) {
					continue
				}
				r["line"] = value.OfInt(77)
			case "m":
				r["up"] = value.OfInt(77)
			}
			out[table] = append(out[table], r)
		}
	}
	return out
}

const somebodyNew = 1000

// RowsOf makes exactly n random rows of a table.
func RowsOf(t *rapid.T, table *policy.Table, n int) []Row {
	for {
		if rows := relationRows(t, table, n); len(rows) == n {
			return rows
		}
	}
}

// columnsOf is a relation as SQL text, with the columns that questions can use.
type columnsOf struct {
	from             string
	numbers, keys    []string
	person, relation string
	where            string // the condition that joins the tables, or ""
}

// Relation draws a question over a relation. ofRows reports whether each row is a unit. The planner accepts most of
// these questions.
func Relation(t *rapid.T) (sql string, ofRows bool) {
	g := generator{t}
	r := g.relation(2)
	var items []string
	for range rapid.IntRange(1, 2).Draw(t, "aggregates") {
		items = append(items, g.over(r))
	}
	sql = "SELECT " + strings.Join(items, ", ") + " FROM " + r.from
	switch more := g.chance(3); {
	case more && r.where != "":
		sql += " WHERE " + g.where(r) + " AND " + r.where
	case more:
		sql += " WHERE " + g.where(r)
	case r.where != "":
		sql += " WHERE " + r.where
	}
	if len(r.keys) > 0 && g.chance(2) {
		sql += " GROUP BY " + g.pick(r.keys...)
	}
	return sql, r.relation == "t"
}

// RelationValues draws a question for the values of the rows of a relation.
func RelationValues(t *rapid.T) string {
	g := generator{t}
	r := g.relation(1)
	sql := "SELECT " + g.pick(r.numbers...) + " FROM " + r.from
	if r.where != "" {
		sql += " WHERE " + r.where
	}
	return sql
}

func (g generator) over(r columnsOf) string {
	if r.person != "" && g.chance(5) {
		return "COUNT(DISTINCT " + r.person + ")"
	}
	n := g.pick(r.numbers...)
	return g.pick("COUNT(*)", "SUM("+n+")", "SUM("+n+" - 1)", "AVG("+n+")", "COUNT("+n+")",
		"COUNT(*) FILTER (WHERE "+g.where(r)+")", "VARIANCE("+n+")")
}

func (g generator) where(r columnsOf) string {
	n := g.pick(r.numbers...)
	return g.pick(n+" > 1", n+" <= "+g.pick(r.numbers...), n+" IS NULL", "NOT ("+n+" = 0)", n+" BETWEEN 0 AND 5")
}

// relation makes a random FROM clause, without the word FROM.
func (g generator) relation(depth int) columnsOf {
	pColumns := columnsOf{
		numbers: []string{"a.i", "a.k", "a.x"}, keys: []string{"a.s", "a.k", "a.b", "a.i % 3"},
		person: "a.person",
	}
	of := func(from string, c columnsOf, numbers []string, keys ...string) columnsOf {
		c.from = from
		c.numbers, c.keys = append(slices.Clone(c.numbers), numbers...), append(slices.Clone(c.keys), keys...)
		return c
	}
	kind := g.pick("plain", "public", "public", "unit", "reference", "through", "inner", "inner", "union", "rows",
		"with", "nested", "three", "list", "asks", "asks", "first", "first")
	joined := g.pick("JOIN", "LEFT JOIN")
	switch kind {
	case "public":
		on := g.pick("a.k = b.rk", "b.rs = a.s", "a.k = b.rk AND a.s = b.rs", "a.i = b.ri AND a.k = b.rk",
			"b.rs = COALESCE(a.s, 'B')", "a.s = b.rs AND b.rx > 1", "a.k = b.rk AND b.ri < 5",
			"a.k = b.rk AND a.i = b.rk", "b.rs = a.s AND b.rs = COALESCE(a.s, 'B') AND a.k = b.rk")
		if joined == "JOIN" && g.chance(3) {
			on += " AND a.i < b.rx"
		}
		from := "p a " + joined + " r b ON " + on
		switch {
		case g.chance(4):
			from = "r b RIGHT JOIN p a ON " + on
			if strings.Contains(on, "a.i <") {
				from = "r b JOIN p a ON " + on
			}
		case g.chance(5):
			from = "p a " + joined + " (SELECT rk AS rk, rs, rx + 1 AS rx, ri FROM r WHERE rx > 0) b ON " + on
		}
		return of(from, pColumns, []string{"b.ri", "b.rx"}, "b.rk", "b.rs")
	case "unit":
		on := "a.person = b.who"
		if g.chance(3) {
			on += " AND a.s = b.c"
		}
		if g.chance(4) && joined == "JOIN" {
			on += " AND a.i > b.y"
		}
		from := "p a " + joined + " v b ON " + on
		if g.chance(3) {
			from = "v b " + joined + " p a ON " + on
			if joined == "LEFT JOIN" {
				pColumns.person = "b.who"
			}
		} else if joined == "LEFT JOIN" && g.chance(3) {
			from, pColumns.person = "p a RIGHT JOIN v b ON "+on, "b.who"
		}
		return of(from, pColumns, []string{"b.y", "b.j"}, "b.c", "b.d")
	case "reference":
		from := g.pick("v b "+joined+" p a ON b.ref = a.id", "p a RIGHT JOIN v b ON a.id = b.ref",
			"v b RIGHT JOIN p a ON a.id = b.ref", "p a "+joined+" v b ON a.id = b.ref",
			"p a "+joined+" v b ON b.y > 2 AND a.id = b.ref")
		if !g.chance(8) { // without this condition, the planner refuses the join
			from += " AND a.person = b.who"
		}
		pColumns.person = ""
		return of(from, pColumns, []string{"b.y"}, "b.c")
	case "through":
		line := columnsOf{numbers: []string{"b.q", "b.z", "b.line % 5"}, keys: []string{"b.q"}}
		switch g.pick("alone", "owner", "lines", "chain", "twice", "pairs", "beside") {
		case "alone":
			line.from = "l b"
			return line
		case "owner":
			return of("l b "+joined+" p a ON b.parent = a.id", pColumns, line.numbers)
		case "lines":
			return of("p a "+joined+" l b ON b.parent = a.id", pColumns, line.numbers)
		case "chain":
			return columnsOf{from: "m", numbers: []string{"w"}, keys: []string{"w"}}
		case "pairs":
			return of("p a JOIN l b ON b.parent = a.id "+joined+" l c ON c.parent = a.id", pColumns,
				append([]string{"c.q"}, line.numbers...))
		case "beside":
			return of("v d JOIN p a ON a.person = d.who "+joined+" l b ON b.parent = a.id", pColumns,
				append([]string{"d.y"}, line.numbers...))
		}
		return columnsOf{
			from: "m c " + joined + " l b ON c.up = b.line", numbers: []string{"c.w", "b.q"},
			keys: []string{"c.w"},
		}
	case "inner":
		return g.inner(depth)
	case "asks":
		return g.asks(pColumns)
	case "first":
		return g.first(pColumns)
	case "union":
		second := g.pick("SELECT who, y, c FROM v", "SELECT person, i, 'B' FROM p WHERE b",
			"SELECT q.who, q.y * 2, 'a' FROM v q JOIN p ON p.person = q.who")
		all := "(SELECT person AS u, x AS x, s AS s FROM p UNION ALL " + second + ")"
		return columnsOf{from: all + " a", numbers: []string{"a.x"}, keys: []string{"a.s", "s"}, person: "a.u"}
	case "rows":
		c := columnsOf{numbers: []string{"a.i", "a.x"}, keys: []string{"a.s", "a.k"}, relation: "t"}
		from := g.pick("t a "+joined+" r b ON a.k = b.rk", "t a "+joined+" r b ON a.s = b.rs",
			"t a "+joined+" r b ON a.s = b.rs AND b.rx > 2")
		if g.chance(4) {
			c.from = "(SELECT * FROM t UNION ALL SELECT k, i * 2, x, 'a' FROM t WHERE x > 0) a"
			return c
		}
		return of(from, c, []string{"b.rx"}, "b.rs")
	case "with":
		r := g.relation(0)
		if r.where != "" {
			r.from += " WHERE " + r.where
		}
		return columnsOf{from: "(SELECT " + r.numbers[0] + " AS n, " + g.pick(r.keys...) + " AS g FROM " + r.from +
			") a", numbers: []string{"a.n"}, keys: []string{"a.g"}, relation: r.relation}
	case "list":
		r := of("p a, v b, r c", pColumns, []string{"b.y", "c.rx"}, "c.rs", "b.c")
		r.where = "a.person = b.who AND " + g.pick("a.k = c.rk", "b.c = c.rs", "c.rk = a.k AND b.y > 1 AND a.s = c.rs")
		return r
	case "nested":
		return of("(SELECT person, i, k, x, s, NOT b AS b FROM p WHERE "+g.pick("i > 0", "b", "x < 3 OR s = 'a'")+") a",
			pColumns, nil)
	case "three":
		return of("p a JOIN v b ON a.person = b.who "+joined+" r c ON a.k = c.rk", pColumns,
			[]string{"b.y", "c.rx"}, "c.rs")
	}
	return of("p a", pColumns, nil)
}

// inner draws a subquery that aggregates each person's rows.
func (g generator) inner(depth int) columnsOf {
	from, who, n, key, cond := "p", "person", g.pick("i", "k", "x", "x * x", "i - 3"), g.pick("s", "k", "i % 2"), "b"
	switch {
	case depth > 0 && g.chance(4):
		from, who, n, key, cond = "p a JOIN v b ON a.person = b.who", "a.person", g.pick("b.y", "a.i"), "b.c", "a.b"
	case g.chance(4):
		from, who, n, key, cond = "v", "who", g.pick("y", "j"), "c", "y > 3"
	}
	f := ""
	if g.chance(4) {
		f = " FILTER (WHERE " + cond + ")"
	}
	list := fmt.Sprintf(
		"COUNT(*)%[2]s AS n, SUM(%[1]s)%[2]s AS sum, AVG(%[1]s) AS avg, MIN(%[1]s) AS lo, MAX(%[1]s) + 1 AS hi, "+
			"COUNT(DISTINCT %[3]s) AS d, BOOL_OR(%[4]s) AS o, BOOL_AND(%[4]s) AS e",
		n,
		f,
		key,
		cond,
	)
	out := columnsOf{
		numbers: []string{"a.n", "a.sum", "a.avg", "a.lo", "a.hi", "a.d"}, keys: []string{"a.n", "a.o", "a.e", "a.d"},
		person: "a.u",
	}
	if g.chance(2) {
		list += g.quantiles(n, key, f)
		out.numbers, out.keys = []string{"a.m", "a.c", "a.c - a.m", "a.n"}, []string{"a.q", "a.n"}
	}
	by, having := who, ""
	if g.chance(3) {
		by += ", " + key
	}
	if g.chance(3) {
		having = " HAVING " + g.pick("COUNT(*) > 1", "SUM("+n+") > 2 OR BOOL_AND("+cond+")")
	}
	out.from = "(SELECT " + who + " AS u, " + list + " FROM " + from + " GROUP BY " + by + having + ") a"
	return out
}

// quantiles draws three further columns: quantiles of the values n and key of one person.
func (g generator) quantiles(n, key, filter string) string {
	rank := func() string { return g.pick("0", "0.1", "0.25", "0.5", "0.3333", "0.75", "0.9999", "1") }
	desc := func() string { return g.pick("", "", " DESC") }
	return fmt.Sprintf(
		", MEDIAN(%[1]s)%[3]s AS m, PERCENTILE_CONT(%[4]s) WITHIN GROUP (ORDER BY %[1]s%[5]s)%[3]s AS c, "+
			"PERCENTILE_DISC(%[6]s) WITHIN GROUP (ORDER BY %[2]s%[7]s) AS q",
		n, key, filter, rank(), desc(), rank(), desc(),
	)
}
