package enginetest

import "slices"

// first draws a subquery that keeps the first rows of each person.
func (g generator) first(p columnsOf) columnsOf {
	key := func() string {
		return g.pick("i", "k", "x", "s", "b", "i % 2", "x * 2") + g.pick("", " DESC") + g.pick("", "", " NULLS FIRST", " NULLS LAST")
	}
	order := key()
	if g.chance(2) {
		order += ", " + key()
	}
	from := "p" + g.pick("", " WHERE i > 0 OR b")
	out := p
	switch g.pick("number", "number", "rank", "on", "join", "lines", "some", "parts", "other rows", "other rows", "several") {
	case "some":
		out.from = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY " + order + ") AS n FROM " + from + ") a"
		out.where = g.pick("n <= 2", "n = 2", "n BETWEEN 2 AND 3", "n IN (1, 3)", "n > 1", "n <= 2 OR a.b")
		out.numbers, out.keys = slices.Concat(p.numbers, []string{"n"}), slices.Concat(p.keys, []string{"n"})
	case "parts":
		out.from = "(SELECT *, " + g.pick("ROW_NUMBER", "ROW_NUMBER", "DENSE_RANK") + "() OVER (PARTITION BY " + g.pick("person, b", "k, person", "s, person, k") +
			" ORDER BY " + order + ") AS n FROM " + from + ") a"
		out.where = g.pick("n = 1", "n <= 2", "n < 2")
	case "other rows":
		over := " OVER (PARTITION BY person" + g.pick("", "", ", b") + " ORDER BY " + order + ")"
		out.from = "(SELECT *, i - " + g.pick("LAG(i)", "LEAD(i)", "LAG(k, 2)", "LAG(i, 1, 5)", "FIRST_VALUE(i)", "LEAD(x, 1)", "SUM(k) OVER (PARTITION BY person) + LAG(i)") + over + " AS m, " +
			g.pick("LAG(s)"+over, "LEAD(s)"+over, "FIRST_VALUE(s)"+over, "MAX(s) OVER (PARTITION BY person)") + " AS o FROM " + from + ") a"
		out.numbers, out.keys = []string{"a.m", "a.i"}, []string{"a.o", "a.b"}
		out.where = g.pick("", "", "m > 0", "o = 'a' OR m IS NULL")
	case "several":
		out.from = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY " + order + ") AS n, LAG(i) OVER (PARTITION BY person ORDER BY " + key() +
			") AS m FROM " + from + ") a"
		out.numbers, out.where = []string{"a.m", "n", "a.i"}, g.pick("", "n <= 2", "n = 1")
	case "on":
		out.from = "(SELECT DISTINCT ON (person) person, i, k, x, s, b FROM " + from + " ORDER BY person, " + order + ") a"
	case "rank":
		out.from = "(SELECT *, " + g.pick("RANK", "DENSE_RANK") + "() OVER (PARTITION BY person ORDER BY " + order + ") AS n FROM " + from + ") a"
		out.where = g.pick("a.n = 1", "n <= 1")
	case "join":
		out.from = "p a " + g.pick("JOIN", "LEFT JOIN") + " (SELECT who, y, c, ROW_NUMBER() OVER (PARTITION BY who ORDER BY d, y DESC) AS n FROM v) b " +
			"ON a.person = b.who AND b.n = 1"
		out.numbers, out.keys = []string{"a.i", "b.y", "b.n"}, []string{"b.c", "a.s"}
	case "lines":
		out = columnsOf{
			from:    "(SELECT a.person, b.q, b.z, ROW_NUMBER() OVER (PARTITION BY a.person ORDER BY b.z, b.q) AS n FROM l b JOIN p a ON b.parent = a.id) a",
			numbers: []string{"a.q", "a.z"}, keys: []string{"a.q"}, person: "a.person", where: "n = 1",
		}
	default:
		out.from = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY " + order + ") AS n FROM " + from + ") a"
		out.where = g.pick("a.n = 1", "n < 2", "1 = a.n")
	}
	return out
}

// asks makes a FROM clause of persons, with a condition that has subqueries, or with the value of one as a column.
func (g generator) asks(p columnsOf) columnsOf {
	own := g.pick("", " AND x.y > 2", " AND x.c = 'a'", " AND x.j > a.i", " AND x.c = a.s", " AND x.j > a.i AND x.j < a.i + 7",
		" AND x.y <> a.k", " AND x.d IS NULL")
	out := p
	out.from = "p a"
	out.where = g.pick(
		"a.person "+g.pick("IN", "NOT IN")+" (SELECT who FROM v WHERE y > 2)",
		g.pick("", "NOT ")+"EXISTS (SELECT 1 FROM v x WHERE x.who = a.person"+own+")",
		g.pick("", "NOT ")+"EXISTS (SELECT 1 FROM l x WHERE x.parent = a.id AND x.q > "+g.pick("3", "a.i")+")",
		"a.s "+g.pick("IN", "NOT IN")+" (SELECT rs FROM r WHERE rx > 1)",
		"a.i "+g.pick("IN", "NOT IN")+" (SELECT ri FROM r"+g.pick("", " WHERE rk = 0")+")",
		"(a.b OR EXISTS (SELECT 1 FROM r WHERE rk = a.k))",
		"(SELECT "+g.pick("COUNT(*)", "MAX(x.j)", "COUNT(x.d)", "MEDIAN(x.y)")+" FROM v x WHERE x.who = a.person"+own+") > 1",
		"a.s "+g.pick("IN", "NOT IN")+" (SELECT x.c FROM v x WHERE x.who = a.person"+own+")",
		"a.person IN (SELECT who FROM v GROUP BY who HAVING COUNT(*) > 1)",
		"(SELECT x.ri FROM r x WHERE x.rk = a.k) > 2",
	)
	if g.chance(3) {
		number := "(SELECT " + g.pick("AVG(x.y)", "MAX(x.y)", "COUNT(*)", "PERCENTILE_DISC(x.j, 0.25)", "MEDIAN(x.y)") + " FROM v x WHERE x.who = a.person" + own + ")"
		out.numbers = []string{number, "a.i", "a.k"}
	}
	return out
}
