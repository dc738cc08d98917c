package enginetest

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
		"(SELECT "+g.pick("COUNT(*)", "MAX(x.j)", "COUNT(x.d)")+" FROM v x WHERE x.who = a.person"+own+") > 1",
		"a.s "+g.pick("IN", "NOT IN")+" (SELECT x.c FROM v x WHERE x.who = a.person"+own+")",
		"a.person IN (SELECT who FROM v GROUP BY who HAVING COUNT(*) > 1)",
		"(SELECT x.ri FROM r x WHERE x.rk = a.k) > 2",
	)
	if g.chance(3) {
		number := "(SELECT " + g.pick("AVG(x.y)", "MAX(x.y)", "COUNT(*)") + " FROM v x WHERE x.who = a.person" + own + ")"
		out.numbers = []string{number, "a.i", "a.k"}
	}
	return out
}
