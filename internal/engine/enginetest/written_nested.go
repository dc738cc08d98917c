package enginetest

import (
	"strings"

	"pgregory.net/rapid"
)

// writtenNested draws a question with subqueries in its WHERE, its aggregates or its GROUP BY, and its form's name.
func writtenNested(t *rapid.T) (form, sql string) {
	if rapid.IntRange(0, 9).Draw(t, "outer") == 0 {
		form, c := nestedCondition(t, "p", false)
		return form, "SELECT COUNT(*) FROM (SELECT p.person AS q FROM p WHERE " + c + ") s"
	}
	outer := rapid.SampledFrom([]string{"p", "v", "l"}).Draw(t, "outer table")
	form, c := nestedCondition(t, outer, false)
	from := map[string]string{"p": "p", "v": "v", "l": "l JOIN v ON l.visit = v.id"}[outer]
	switch rapid.IntRange(0, 5).Draw(t, "place") {
	case 0:
		c = "NOT (" + c + ")"
	case 1:
		c = "(" + c + ") IS NULL"
	case 2:
		_, other := nestedCondition(t, outer, true)
		c = c + rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "and") + other
	case 3:
		return form, "SELECT COUNT(CASE WHEN " + c + " THEN 1 END) FROM " + from
	case 4:
		return form, "SELECT COUNT(*) FILTER (WHERE " + c + ") FROM " + from
	}
	return form, "SELECT COUNT(*) FROM " + from + " WHERE " + c
}

// nestedCondition draws a condition with a subquery over the rows of a table, and its form's name.
func nestedCondition(t *rapid.T, outer string, simple bool) (form, c string) {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	unit := map[string]string{"p": "p.person", "v": "v.who", "l": "v.who"}[outer]
	word := map[string]string{"p": "p.home", "v": "v.ward", "l": "v.ward"}[outer]
	number := map[string]string{"p": "p.age", "v": "v.n", "l": "l.cost"}[outer]
	own := pick("own", "", " AND x.n > 1", " AND x.ward = 'a'", " AND x.n IS NOT NULL", " AND x.ward <> 'b' AND x.n < 4")
	where := func(c string) string {
		if c == "" {
			return ""
		}
		return " WHERE " + strings.TrimPrefix(c, " AND ")
	}
	kind := rapid.IntRange(0, 17).Draw(t, "kind")
	if simple {
		kind = min(kind, 4)
	}
	op := pick("op", "<", "<=", ">", ">=", "<>")
	switch kind {
	case 0:
		return "IN of persons", unit + pick("in", " IN ", " NOT IN ") + "(SELECT x.who FROM v x" + where(own) + ")"
	case 1:
		return "EXISTS of a person", pick("not", "", "NOT ") + "EXISTS (SELECT " + pick("item", "1", "*", "x.n") + " FROM v x WHERE x.who = " + unit + own + ")"
	case 2:
		return "IN of public values", word + pick("in", " IN ", " NOT IN ") + "(SELECT name FROM w" + where(pick("public", "", "big", "zone > 1", "w.zone IS NULL")) + ")"
	case 3:
		return "NOT IN of public values with NULL", number + pick("in", " IN ", " NOT IN ") + "(SELECT zone FROM w" + where(pick("public", "", "big")) + ")"
	case 4:
		return "EXISTS of public rows", pick("not", "", "NOT ") + "EXISTS (SELECT 1 FROM w WHERE " + pick("public", "w.name = "+word, "big", "w.zone = "+number+" AND w.big", "w.name = "+word+" AND w.zone > 1") + ")"
	case 5:
		return "IN of own values", word + pick("in", " IN ", " NOT IN ") + "(SELECT x.ward FROM v x WHERE x.who = " + unit + own + ")"
	case 6:
		return "EXISTS with a comparison", pick("not", "", "NOT ") + "EXISTS (SELECT 1 FROM v x WHERE x.who = " + unit + " AND x.n " + op + " " + number + own + ")"
	case 7:
		return "EXISTS with two comparisons", pick("not", "", "NOT ") + "EXISTS (SELECT 1 FROM v x WHERE x.who = " + unit + " AND x.n " + op + " " + number + " AND " + pick("second", "x.n <= "+number+" + 2", "x.ward <> "+word, "x.n BETWEEN "+number+" - 1 AND "+number+" + 1", "x.n + "+number+" > 4") + own + ")"
	case 8:
		return "a person's aggregate", "(SELECT " + pick("aggregate", "COUNT(*)", "COUNT(x.n)", "MIN(x.n)", "SUM(x.n)", "MAX(x.n) - MIN(x.n)", "COUNT(*) - COUNT(x.ward)", "COUNT(DISTINCT x.ward)") + " FROM v x WHERE x.who = " + unit + own + ") " + op + " " + pick("than", "2", "0", "1", number)
	case 9:
		return "a person's aggregate with a comparison", "(SELECT " + pick("aggregate", "COUNT(*)", "MAX(x.n)", "SUM(x.n)") + " FROM v x WHERE x.who = " + unit + " AND x.n " + op + " " + number + own + ") " + op + " " + pick("than", "2", "0", "1", number)
	case 10:
		return "IN of grouped persons", unit + pick("in", " IN ", " NOT IN ") + "(SELECT x.who FROM v x" + where(own) + " GROUP BY x.who HAVING COUNT(*) " + op + " 2)"
	case 11:
		return "a value of one row", pick("lookup", "(SELECT home FROM p q WHERE q.person = "+unit+") = "+word, "(SELECT zone FROM w WHERE w.name = "+word+") "+op+" "+number, "(SELECT q.age FROM p q WHERE q.person = "+unit+") IS NULL")
	case 12:
		return "EXISTS of public rows with comparisons", pick("not", "", "NOT ") + "EXISTS (SELECT 1 FROM w WHERE w.name = " + word + " AND w.zone " + op + " " + number + pick("second", "", " AND w.zone > "+number+" - 3", " AND (w.big OR w.zone = "+number+")") + ")"
	case 13:
		return "EXISTS with an outer column that may be NULL", pick("not", "", "NOT ") + "EXISTS (SELECT 1 FROM v x WHERE x.who = " + unit + " AND (" + pick("or", "x.n "+op+" "+number+" OR x.ward = 'a'", "x.ward <> "+word+" OR x.ward IS NULL", "x.n "+op+" COALESCE("+number+", 2)", word+" IS NULL OR x.n > 2", "CASE WHEN x.ward = "+word+" THEN x.n ELSE "+number+" END "+op+" 2", "NOT (x.n BETWEEN "+number+" AND 3)") + ")" + own + ")"
	case 14:
		return "EXISTS with a subquery inside OR", pick("not", "", "NOT ") + "EXISTS (SELECT 1 FROM v x WHERE x.who = " + unit + " AND (x.n " + op + " " + number + " OR " + pick("inner", "EXISTS (SELECT 1 FROM w WHERE w.name = x.ward)", "x.n > (SELECT MIN(y.n) FROM v y WHERE y.who = x.who)", "x.ward IN (SELECT name FROM w WHERE big)") + "))"
	case 16:
		return "a person's variance", "(SELECT " + pick("spread", "VAR_POP(x.n)", "VARIANCE(x.n)", "STDDEV(x.n)") + " FROM v x WHERE x.who = " + unit + own + ") " + op + " 0.6"
	case 15:
		return "a subquery compared with a subquery", "(SELECT " + pick("left", "MAX(x.n)", "COUNT(*)") + " FROM v x WHERE x.who = " + unit + own + ") " + pick("compared", op+" (SELECT COUNT(*) FROM v y WHERE y.who = "+unit+" AND y.n "+op+" "+number+")", "IN (SELECT y.n FROM v y WHERE y.who = "+unit+" AND y.n "+op+" "+number+" AND y.ward <> "+word+")", "NOT IN (SELECT y.n FROM v y WHERE y.who = "+unit+")")
	}
	return "persons of a union", unit + pick("in", " IN ", " NOT IN ") + "(SELECT person FROM p WHERE age > 3 UNION ALL SELECT x.who FROM v x" + where(own) + ")"
}
