package plan_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
)

const relationsPolicy = `
version: 1
population: {name: shop}
budget: {epsilon: 10}
tables:
  customers: {source: {csv: c.csv}, unit: id, rows_per_unit: 1, columns: {id: {type: integer}, region: {type: text, values: [a, b]}, age: {type: integer, bounds: [0, 100]}}}
  orders: {source: {csv: o.csv}, unit: customer, rows_per_unit: 20, columns: {number: {type: integer}, customer: {type: integer}, total: {type: real, bounds: [0, 50]}, notes: {type: integer}}}
  visits: {source: {csv: v.csv}, unit: who, rows_per_unit: 10, references: {doctor: customers.id}, columns: {who: {type: integer}, doctor: {type: integer}, cost: {type: integer, bounds: [0, 9]}}}
  letters: {source: {csv: w.csv}, unit: "to", rows_per_unit: 10, columns: {to: {type: text}}}
  lines: {source: {csv: l.csv}, through: number, rows_per_unit: 50, references: {number: orders.number}, columns: {number: {type: integer}, price: {type: integer, bounds: [0, 9]}, tag: {type: text}}}
  events: {source: {csv: e.csv}, unit: row, columns: {region: {type: text, values: [a, b]}, x: {type: real, bounds: [0, 1]}}}
  regions: {source: {csv: r.csv}, public: true, rows_per_value: {region: 1, zone: 300}, columns: {region: {type: text, values: [a, b]}, zone: {type: integer}, size: {type: real}, big: {type: boolean}}}
`

// Every refusal says where, why, and what to write instead.
func TestRelationRefusals(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want, hint string }{
		{"SELECT COUNT(*) FROM orders o JOIN visits v ON o.total > v.cost", "1:36: a join of two tables of persons must match rows of the same person, and this condition does not", "add o.customer = v.who"},
		{"SELECT COUNT(*) FROM orders o JOIN visits v ON o.number = v.who", "1:36: a join of two tables of persons must match rows of the same person, and this condition does not", "add o.customer = v.who"},
		{"SELECT COUNT(*) FROM visits v JOIN customers c ON v.doctor = c.id", "1:36: a join of two tables of persons must match rows of the same person, and this condition does not", "add v.who = c.id"},
		{"SELECT COUNT(*) FROM lines l JOIN visits v ON l.price = v.cost", "1:35: a join of two tables of persons must match rows of the same person, and this condition does not", "select the unit's column of both sides and compare the two; or the owner can declare that one table has its unit through the other"},
		{"SELECT COUNT(*) FROM letters w JOIN visits v ON w.to = 'x'", `1:37: the units of "letters" and "visits" are not the same: one is text, the other integer`, "the owner can declare both unit columns with one type"},
		{"SELECT COUNT(*) FROM events e JOIN visits v ON e.x = v.cost", "1:36: a table in which each row is a unit can be joined to public tables only: no row of another table belongs to the same unit", "the owner can declare a unit column for both"},
		{"SELECT COUNT(*) FROM events JOIN events f ON events.x = f.x", "1:34: a table in which each row is a unit can be joined to public tables only: no row of another table belongs to the same unit", "the owner can declare a unit column for both"},
		{"SELECT COUNT(*) FROM orders JOIN regions r ON orders.total = r.size", "1:34: a join to a public table needs an equality with one of its columns that is not a real number", "write ON t.x = p.x, where x is a column of the public table"},
		{"SELECT COUNT(*) FROM customers c JOIN regions r ON c.age > r.zone", "1:39: a join to a public table needs an equality with one of its columns that is not a real number", "write ON t.x = p.x, where x is a column of the public table"},
		{"SELECT COUNT(*) FROM customers c JOIN regions r ON r.big = (c.age > 3)", "1:39: the policy does not limit how many public rows one row could match", "the owner can declare, for table regions, rows_per_value: {big: 1}, if each value occurs once"},
		{"SELECT COUNT(*) FROM regions r LEFT JOIN customers c ON r.region = c.region", "1:42: this join would add rows that belong to nobody", "write JOIN, or LEFT JOIN from the table of persons: groups of known keys (values, values_from) are shown even if they are empty; or, with PUBLIC_GROUPS, keep (SELECT DISTINCT x FROM p)"},
		{"SELECT COUNT(*) FROM customers c RIGHT JOIN regions r ON r.region = c.region", "1:45: this join would add rows that belong to nobody", "write JOIN, or LEFT JOIN from the table of persons: groups of known keys (values, values_from) are shown even if they are empty; or, with PUBLIC_GROUPS, keep (SELECT DISTINCT x FROM p)"},
		{"SELECT COUNT(*) FROM customers c LEFT JOIN regions r ON r.region = c.region AND c.age > 5", "1:87: the condition of a LEFT JOIN consists of equalities with columns of its right side, and of conditions on its right side alone", "put other conditions on one side into a subquery: LEFT JOIN (SELECT … WHERE …) ON …"},
		{"SELECT COUNT(*) FROM regions r JOIN regions s ON r.region = s.region", "1:37: all tables in FROM are public, so there is nothing to protect", "join it to a table of persons, or read its source directly"},
		{"SELECT COUNT(*) FROM orders o FULL JOIN visits v ON o.customer = v.who", "1:41: FULL JOIN is not supported: it would create rows that belong to nobody", "use JOIN, or LEFT JOIN from the table of persons"},
		{"SELECT COUNT(*) FROM (SELECT DISTINCT region FROM regions) g FULL JOIN customers c ON c.region = g.region", "1:72: FULL JOIN is not supported: it would create rows that belong to nobody", "use JOIN, or LEFT JOIN from the table of persons"},
		{"SELECT COUNT(*) FROM orders CROSS JOIN visits", "1:40: a join needs a condition: without one, every row would be paired with every other", "write JOIN … ON a.x = b.x"},
		{"SELECT COUNT(*) FROM orders o CROSS JOIN visits v WHERE o.customer = v.who", "1:42: a join needs a condition: without one, every row would be paired with every other", "write JOIN … ON a.x = b.x"},
		{"SELECT COUNT(*) FROM regions", `1:22: table "regions" is public and holds nothing to protect`, "read its source directly: it is public"},
		{"SELECT COUNT(*) FROM (SELECT region FROM regions) q", "1:23: all tables in FROM are public, so there is nothing to protect", "join it to a table of persons, or read its source directly"},
		{"SELECT COUNT(*) FROM customers JOIN customers ON customers.id = customers.id", `1:37: two tables are called "customers" here`, "give one of them an alias"},
		{"SELECT SUM(number) FROM orders JOIN lines ON orders.number = lines.number", `1:12: column "number" is ambiguous`, "write orders.number or lines.number"},
		{"SELECT SUM(x) FROM (SELECT age AS x, id AS x FROM customers) q", `1:12: column "x" is ambiguous`, "give one of them another name, with AS"},
		{"SELECT SUM(ag) FROM (SELECT age, id AS who FROM customers) q", `1:12: there is no column "ag" here`, `did you mean "age"?`},
		{"SELECT SUM(p.age) FROM (SELECT age FROM customers) q", `1:12: there is no table "p" in this question`, "there is q"},
		{"SELECT COUNT(*) FROM (SELECT age FROM customer) q", `1:39: there is no table "customer"`, `did you mean "customers"?`},
		{"SELECT SUM(notes) FROM (SELECT notes FROM orders) q", "1:8: column notes has no declared bounds, so it may be compared but not computed with", "the owner can declare bounds in the policy; or give them here, as in SUM(x, bounds => (low, high))"},
		{"SELECT SUM(n) FROM (SELECT customer, SUM(notes) AS n FROM orders GROUP BY customer) q", "1:38: column notes has no declared bounds, so it may be compared but not computed with", "the owner can declare bounds in the policy; or bound it here: LEAST(GREATEST(x, low), high)"},
		{"SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM orders) q", "1:28: inside a subquery, aggregates are over one unit's own rows", "add the unit's column to GROUP BY, customer, and aggregate over persons in the outer SELECT"},
		{"SELECT SUM(n) FROM (SELECT number, COUNT(*) AS n FROM orders GROUP BY number) q", "1:28: inside a subquery, aggregates are over one unit's own rows", "add the unit's column to GROUP BY, customer, and aggregate over persons in the outer SELECT"},
		{"SELECT COUNT(*) FROM (SELECT number FROM orders LIMIT 3) q", "1:23: LIMIT inside a subquery is not supported: whether a row stays would depend on other persons' rows", "leave it out; rows of one person are limited by the policy"},
		{"SELECT COUNT(*) FROM customers WHERE 1 = 1 OR region = 'c' AND nothing = 1", "1:56: 'c' is not among the declared values of column region", "the declared values are 'a', 'b'"},
		{"SELECT COUNT(*) FROM customers WHERE 1 = 2 OR region = 'c'", "1:56: 'c' is not among the declared values of column region", "the declared values are 'a', 'b'"},
		{"SELECT COUNT(*) FROM (SELECT number, row_number() OVER () FROM orders) q", "1:56: a window over single rows must divide them by the person: other windows compare rows of different persons", "write PARTITION BY customer"},
		{"SELECT SUM(n) FROM (SELECT row_number() OVER (PARTITION BY number ORDER BY total) AS n FROM orders) q", "1:46: a window over single rows must divide them by the person: other windows compare rows of different persons", "write PARTITION BY customer, number"},
		{"SELECT SUM(n) FROM (SELECT LAST_VALUE(total) OVER (PARTITION BY customer ORDER BY number) AS n FROM orders) q", "1:28: last_value is not supported over one person's rows", "use FIRST_VALUE, with ORDER BY in the opposite direction"},
		{"SELECT SUM(n) FROM (SELECT NTILE(4) OVER (PARTITION BY customer ORDER BY number) AS n FROM orders) q", "1:28: ntile is not supported over one person's rows", "use ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE or an aggregate without ORDER BY"},
		{"SELECT SUM(n) FROM (SELECT SUM(total) OVER (PARTITION BY customer ORDER BY number) AS n FROM orders) q", "1:44: sum in the order of one person's rows is not supported", "leave ORDER BY out, for all rows of the person"},
		{"SELECT SUM(n) FROM (SELECT SUM(total) OVER (PARTITION BY customer, number) AS n FROM orders) q", "1:44: an aggregate over a window divides single rows by the person alone", "write PARTITION BY customer alone"},
		{"SELECT SUM(n) FROM (SELECT LAG(total) OVER (PARTITION BY customer) AS n FROM orders) q", "1:44: lag needs the order of the rows", "add ORDER BY"},
		{"SELECT MIN(age) FROM customers", "1:8: MIN is not supported: one person's row can decide it", "write percentile_disc(0.01) WITHIN GROUP (ORDER BY age)"},
		{"SELECT MAX(age) FROM (SELECT age FROM customers) q", "1:8: MAX is not supported: one person's row can decide it", "write percentile_disc(0.99) WITHIN GROUP (ORDER BY age)"},
		{"SELECT * FROM (SELECT age FROM customers) q", "1:8: * is not answered: single rows are never returned", "name aggregates, such as COUNT(*) or AVG(x); `dither tables` shows the columns"},
		{"SELECT DISTINCT age FROM (SELECT age FROM customers) q", "1:17: the question has no aggregate", "ask for COUNT(*), SUM(x) or AVG(x)"},
		{"SELECT SUM(n) FROM (SELECT customer, number, COUNT(*) AS n FROM orders GROUP BY customer) q", `1:38: column "number" stands outside any aggregate`, "add it to GROUP BY, or aggregate it"},
		{"SELECT SUM(n) FROM (SELECT customer, MODE(total) AS n FROM orders GROUP BY customer) q", "1:38: mode is not supported over one unit's rows", "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, BOOL_OR or BOOL_AND"},
		{"SELECT SUM(n) FROM (SELECT customer, APPROX_QUANTILES(total, 4) AS n FROM orders GROUP BY customer) q", "1:38: approx_quantiles is not supported over one unit's rows", "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, BOOL_OR or BOOL_AND"},
		{"SELECT SUM(n) FROM (SELECT customer, MEDIAN(DISTINCT total) AS n FROM orders GROUP BY customer) q", "1:38: MEDIAN takes neither * nor DISTINCT", "leave it out"},
		{"SELECT SUM(n) FROM (SELECT customer, MEDIAN(total, 1) AS n FROM orders GROUP BY customer) q", "1:38: wrong arguments for MEDIAN", "write MEDIAN(x)"},
		{"SELECT SUM(n) FROM (SELECT customer, MEDIAN(notes) AS n FROM orders GROUP BY customer) q", "1:45: column notes has no declared bounds, so it may be compared but not computed with", "the owner can declare bounds in the policy; or bound it here: LEAST(GREATEST(x, low), high)"},
		{"SELECT SUM(n) FROM (SELECT customer, QUANTILE_CONT(total, 1.5) AS n FROM orders GROUP BY customer) q", "1:59: a quantile's rank is a decimal from 0 to 1, of at most 4 places", "write a constant such as 0.5, which is the median"},
		{"SELECT SUM(n) FROM (SELECT number, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY tag) AS n FROM lines l JOIN orders o USING (number) GROUP BY number, customer) q", "1:80: PERCENTILE_CONT interpolates numbers, and this is of type text", "write PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY tag)"},
		{"SELECT SUM(n) FROM (SELECT customer, VARIANCE(DISTINCT total) AS n FROM orders GROUP BY customer) q", "1:38: only COUNT without FILTER takes DISTINCT", "COUNT(DISTINCT x) alone"},
		{"SELECT SUM(n) FROM (SELECT customer, MAX(total > 5) AS n FROM orders GROUP BY customer) q", "1:38: max does not take booleans", "use BOOL_OR or BOOL_AND"},
		{"SELECT SUM(n) FROM (SELECT x, COUNT(*) AS n FROM events GROUP BY x) q", "1:28: each row is a unit here, so a subquery has no rows of a unit to aggregate", "leave the aggregate to the outer SELECT"},
		{"SELECT COUNT(*) FROM (SELECT who FROM visits UNION ALL SELECT to FROM letters) q", "1:63: syntax error at or near \"to\"", ""},
		{`SELECT COUNT(*) FROM (SELECT who FROM visits UNION ALL SELECT "to" FROM letters) q`, `1:56: the units of "visits" and "letters" are not the same`, "the owner can declare both unit columns with one type"},
		{"SELECT COUNT(*) FROM (SELECT who FROM visits UNION ALL SELECT customer, total FROM orders) q", "1:56: the SELECTs of UNION ALL have 1 and 2 columns", "select the same columns in each"},
		{"SELECT COUNT(*) FROM (SELECT who FROM visits UNION ALL SELECT region FROM customers) q", "1:56: integer and text don't mix here", "write a number without quotes; a text column cannot be converted to a number"},
		{"SELECT tag, COUNT(*) FROM lines GROUP BY tag", "1:42: the possible values of this GROUP BY expression are not known beforehand; selecting groups costs a delta, and a pure budget has none", "the owner can declare the column's values in the policy; or group by CASE WHEN … THEN 'label' … END; or declare a delta for selection: budget: {epsilon: …, delta: 1e-6, selection_delta: 5e-7}"},
		{"SELECT COUNT(*) FROM orders a JOIN orders b ON a.customer = b.customer JOIN orders c ON c.customer = a.customer JOIN orders d ON d.customer = a.customer JOIN orders e ON e.customer = a.customer", "1:159: one unit could have 3200000 rows here, more than 1000000", "the owner can declare fewer rows_per_unit; or count each person's rows in a subquery first, GROUP BY the person"},
		{"SELECT COUNT(*) FROM orders, customers", "1:30: WHERE has no equality that joins this table to the ones before it", "add orders.customer = customers.id to WHERE"},
		{"SELECT COUNT(*) FROM customers c, regions", "1:35: WHERE has no equality that joins this table to the ones before it", "add c.region = regions.region to WHERE"},
		{"SELECT COUNT(*) FROM orders, regions", "1:30: WHERE has no equality that joins this table to the ones before it", "add an equality, such as orders.x = regions.x, to WHERE"},
		{"SELECT COUNT(*) FROM orders, visits WHERE total = cost", "1:30: a join of two tables of persons must match rows of the same person, and this condition does not", "add orders.customer = visits.who"},
		{"SELECT COUNT(*) FROM orders, customers WHERE customer = id AND agee > 3", `1:64: there is no column "agee" here`, `did you mean "age"?`},
		{"SELECT COUNT(*) FROM (SELECT customer FROM orders) JOIN (SELECT customer FROM orders) USING (customer)", "1:58: USING is for tables and subqueries that have a name", "give it an alias"},
		{"SELECT COUNT(*) FROM (SELECT customer AS a FROM orders) JOIN (SELECT customer AS a FROM orders) ON a = a", `1:100: column "a" is ambiguous`, "give one of them another name, with AS"},
		{"SELECT * FROM (SELECT * FROM orders) q", "1:8: * is not answered: single rows are never returned", "name aggregates, such as COUNT(*) or AVG(x); `dither tables` shows the columns"},
		{"SELECT COUNT(*) FROM (SELECT q.* FROM orders) p", `1:30: there is no table "q" here`, "there is orders"},
		{"SELECT COUNT(*) FROM orders WHERE total > (SELECT AVG(total) FROM orders)", "1:43: this subquery would pair different persons' rows: nothing in it equates the units", "for the same person's rows, give the subquery's table an alias and equate its unit's column with that of orders; for all persons' rows, ask the subquery first, and write its answer as a constant"},
		{"SELECT COUNT(*) FROM orders WHERE total = (SELECT MAX(total) FROM orders)", "1:43: this subquery would pair different persons' rows: nothing in it equates the units", "for the same person's rows, give the subquery's table an alias and equate its unit's column with that of orders; for all persons' rows, ask the subquery first, with percentile_disc(0.99) WITHIN GROUP (ORDER BY total) in the place of max(total), and write its answer as a constant"},
		{"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM visits v WHERE v.cost = o.number)", "1:37: this subquery would pair different persons' rows: nothing in it equates the units", "for the same person's rows, add o.customer = v.who to its WHERE; for all persons' rows, ask the subquery first, and write its answer as a constant"},
		{"SELECT COUNT(*) FROM customers c WHERE c.region IN (SELECT region FROM customers)", "1:49: this subquery would pair different persons' rows: nothing in it equates the units", "for the same person's rows, add c.id = customers.id to its WHERE; for all persons' rows, ask the subquery first, and write its answer as a constant"},
		{"SELECT COUNT(*) FROM visits v WHERE v.doctor IN (SELECT id FROM customers)", "1:46: this subquery would pair different persons' rows: nothing in it equates the units", "for the same person's rows, add v.who = customers.id to its WHERE; for all persons' rows, ask the subquery first, and write its answer as a constant"},
		{"SELECT COUNT(*) FROM events WHERE x > (SELECT AVG(x) FROM events)", "1:39: this subquery would pair different persons' rows: each row of a table is a unit of its own", "ask the subquery first, and write its answer as a constant"},
		{"SELECT COUNT(*) FROM events e WHERE EXISTS (SELECT 1 FROM visits v WHERE v.who = 3)", "1:37: a table in which each row is a unit can be joined to public tables only: no row of another table belongs to the same unit", "the owner can declare a unit column for both"},
		{"SELECT COUNT(*) FROM customers c WHERE c.age > (SELECT MAX(zone) FROM regions)", "1:48: a subquery cannot aggregate public rows", "read the table itself, which is public, and write the value here as a constant"},
		{"SELECT COUNT(*) FROM customers c WHERE c.age > (SELECT zone FROM regions r WHERE r.zone = c.age)", "1:48: this subquery stands for one value, and nothing that is declared says that it has at most one row", "the owner can declare rows_per_value: 1 for the column that the condition equates"},
		{"SELECT COUNT(*) FROM customers c WHERE c.age > (SELECT cost FROM visits v WHERE v.who = c.id)", "1:48: this subquery stands for one value, and nothing that is declared says that it has at most one row", "aggregate it: (SELECT MAX(x) …)"},
		{"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM regions r WHERE r.size = o.total)", "1:82: a real number cannot link a subquery to a row", "compare FLOOR(x) with FLOOR(y)"},
		{"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders q WHERE q.customer = o.customer AND q.total < o.total AND q.total > o.total - 5)", "1:112: a real number cannot link a subquery to a row by two conditions", "compare it with a MIN or MAX: x > (SELECT MIN(y) FROM … WHERE …)"},
		{"SELECT COUNT(*) FROM customers c HAVING COUNT(*) > (SELECT COUNT(*) FROM visits v)", "1:52: this expression is not supported outside an aggregate unless it stands in GROUP BY", "use aggregates, constants, + - * / and ROUND"},
		{"SELECT COUNT(*) FROM customers c JOIN visits v ON c.id = v.who AND EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)", "1:68: a subquery is not supported here", "put it into WHERE, into GROUP BY or inside an aggregate; or ask it first, and write its answer as a constant"},
		{"SELECT COUNT(*) FROM customers c WHERE (c.id, c.age) NOT IN (SELECT who, cost FROM visits)", "1:54: (a, b) IN (SELECT …) is supported as a condition of WHERE only, outside NOT", "write NOT EXISTS (SELECT … WHERE t.a = s.a AND t.b = s.b)"},
		{"SELECT COUNT(*) FROM customers c WHERE c.id IN (SELECT who, cost FROM visits)", "1:45: IN compares one value with each column: there are 1 and 2", "select one column for each value before IN"},
		{"SELECT COUNT(*) FROM customers c WHERE c.id IN (SELECT who FROM visits ORDER BY cost LIMIT 3)", "1:49: LIMIT inside a subquery is not supported: whether a row stays would depend on other persons' rows", "leave it out; rows of one person are limited by the policy"},
		{"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM visits v WHERE v.who = c.id HAVING COUNT(*) > 3)", "1:77: inside a subquery, aggregates are over one unit's own rows", "add the unit's column to GROUP BY, who, and aggregate over persons in the outer SELECT"},
		{"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM visits v WHERE v.who = d.id)", "1:85: there is no table \"d\" in this question", "there is v"},
		{"SELECT COUNT(*) FROM (SELECT NULL AS x FROM orders) p", "1:30: NULL alone has no type", "write CAST(NULL AS integer)"},
	} {
		_, err := plan.Build(p, plan.Request{SQL: c.sql})
		hint := ""
		var mine *plan.Error
		var parsed *query.Error
		if errors.As(err, &mine) {
			hint = mine.Hint
		} else if errors.As(err, &parsed) {
			hint = parsed.Hint
		}
		if err == nil || err.Error() != c.want || hint != c.hint {
			t.Errorf("%s\ngot  %v\n     %s\nwant %s\n     %s", c.sql, err, hint, c.want, c.hint)
		}
	}
}

// A NOT IN joins its subquery several times, and so does each subquery inside it. The number of tables that the joins
// read is bounded, so that deep nesting is refused before it takes long.
func TestDeepSubqueriesAreRefused(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	nested := func(depth int) string {
		condition := "TRUE"
		for i := depth; i > 0; i-- {
			condition = strings.NewReplacer("$i", strconv.Itoa(i), "$o", strconv.Itoa(i-1), "$c", condition).Replace(
				"NOT (v$o.cost IN (SELECT v$i.cost FROM visits v$i WHERE v$i.who = v$o.who AND $c))")
		}
		return "SELECT COUNT(*) FROM visits v0 WHERE " + condition
	}
	if _, err := plan.Build(p, plan.Request{SQL: nested(2)}); err != nil {
		t.Error(err)
	}
	_, err = plan.Build(p, plan.Request{SQL: nested(7)})
	if err == nil || !strings.Contains(err.Error(), "these subqueries are nested too deeply") {
		t.Error(err)
	}
}

// A question cannot take long by functions of long texts over many known values: the work of all of them is bounded,
// before a function is computed.
func TestFunctionsOfTextsAreBounded(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	repeated := func(f string, n int) string { // each call has its own pattern
		var items []string
		for i := range n {
			items = append(items, "COUNT(*) FILTER (WHERE "+strings.ReplaceAll(f, "$", strconv.Itoa(i))+")")
		}
		return "SELECT " + strings.Join(items, ", ") + " FROM visits"
	}
	const f = "REGEXP_COUNT(LPAD(CAST(cost > 5 AS text), 500, 'a'), 'b|a*z$') = 3"
	if _, err := plan.Build(p, plan.Request{SQL: repeated(f, 1)}); err != nil {
		t.Error(err)
	}
	const want = "the functions of texts in this question take too long to compute"
	if _, err := plan.Build(p, plan.Request{SQL: repeated(f, 60)}); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// How many rows one unit may have is the product, or the sum, of what is declared, and no more.
func TestRelationBounds(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int64{
		"SELECT COUNT(*) FROM (SELECT total FROM orders WHERE total > 1) q":                                                              20,
		"SELECT COUNT(*) FROM customers c JOIN regions r ON c.region = r.region":                                                         1,
		"SELECT COUNT(*) FROM customers c JOIN regions r ON c.age = r.zone":                                                              300,
		"SELECT COUNT(*) FROM customers c LEFT JOIN regions r ON c.age = r.zone AND c.region = r.region AND r.big":                       1,
		"SELECT COUNT(*) FROM events c JOIN regions r ON c.region = r.region":                                                            1,
		"SELECT COUNT(*) FROM events c JOIN regions r ON FLOOR(c.x) = r.zone":                                                            300,
		"SELECT COUNT(*) FROM orders JOIN customers ON customer = id":                                                                    20,
		"SELECT COUNT(*) FROM customers JOIN orders ON customer = id":                                                                    20,
		"SELECT COUNT(*) FROM orders JOIN visits ON customer = who":                                                                      200,
		"SELECT COUNT(*) FROM lines":                                                                                                     50,
		"SELECT COUNT(*) FROM lines JOIN orders USING (number) JOIN customers ON customer = id":                                          50,
		"SELECT COUNT(*) FROM orders JOIN lines ON lines.number = orders.number":                                                         50,
		"SELECT COUNT(*) FROM orders LEFT JOIN lines ON lines.number = orders.number":                                                    70,
		"SELECT COUNT(*) FROM lines LEFT JOIN orders ON lines.number = orders.number":                                                    50,
		"SELECT COUNT(*) FROM (SELECT customer, COUNT(*) FROM orders GROUP BY customer) q":                                               1,
		"SELECT COUNT(*) FROM (SELECT customer, total > 5, COUNT(*) FROM orders GROUP BY 1, 2) q":                                        3,
		"SELECT COUNT(*) FROM (SELECT customer, number, COUNT(*) FROM orders GROUP BY 1, 2) q":                                           20,
		"SELECT COUNT(*) FROM (SELECT who FROM visits UNION ALL SELECT customer FROM orders UNION ALL SELECT who FROM visits) q":         40,
		"SELECT COUNT(*) FROM visits v JOIN (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q ON q.customer = v.who":      10,
		"SELECT COUNT(*) FROM orders o JOIN lines a ON a.number = o.number JOIN lines b ON b.number = o.number":                          2500,
		"SELECT COUNT(*) FROM customers JOIN visits ON who = id JOIN orders ON customer = id JOIN lines ON lines.number = orders.number": 500,
		"SELECT COUNT(*) FROM orders o JOIN visits ON customer = who LEFT JOIN lines ON lines.number = o.number":                         700,
		"SELECT COUNT(*) FROM lines l JOIN (SELECT customer, number FROM orders GROUP BY 1, 2) o ON l.number = o.number":                 50,
		"SELECT COUNT(*) FROM lines l JOIN (SELECT customer, number, total > 5 FROM orders GROUP BY 1, 2, 3) o ON l.number = o.number":   50,
		"WITH a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a JOIN a b ON a.who = b.who":                                              100,
		"SELECT COUNT(*) FROM regions r JOIN customers c ON c.region = r.region LEFT JOIN visits ON who = c.id AND cost BETWEEN 1 AND 4": 10,
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if q.Caps.Rows != want || q.Measures[0].L1.Int64() != want {
			t.Errorf("%s: %d rows of a unit, sensitivity %s; want %d", sql, q.Caps.Rows, q.Measures[0].L1, want)
		}
	}
}

// Names and spelling play no part in what is released.
func TestRelationsCanonical(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	key := func(sql string) string {
		t.Helper()
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(sql, err)
		}
		return q.Key(make([]int, len(q.Tables()))...)
	}
	for _, same := range [][]string{
		{"SELECT COUNT(*) FROM orders WHERE total > 1", "SELECT COUNT(*) FROM (SELECT total AS x FROM orders) q WHERE q.x > 1", "WITH a AS (SELECT * FROM orders WHERE total > 1) SELECT COUNT(*) FROM a"},
		{"SELECT COUNT(*) FROM orders JOIN customers ON customer = id", "SELECT COUNT(*) AS n FROM orders AS a JOIN customers b ON b.id = a.customer"},
		{"SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id JOIN regions r ON r.region = c.region WHERE total > 5", "SELECT COUNT(*) FROM orders, customers c, regions r WHERE total > 5 AND customer = id AND r.region = c.region"},
		{"SELECT COUNT(*) FROM orders", "SELECT COUNT(*) FROM (SELECT number FROM orders ORDER BY total) q"},
		{
			"SELECT COUNT(*) FROM customers WHERE TRUE", "SELECT COUNT(*) FROM customers WHERE 'c' = 'c' OR region = 'c'",
			"SELECT COUNT(*) FROM customers WHERE region IN ('c') OR ('c' = 'c')", "SELECT COUNT(*) FROM customers WHERE ((region = 'c' OR TRUE) OR region = 'd') OR TRUE",
		},
		{
			"SELECT SUM(x) FROM (SELECT age AS x FROM customers UNION ALL SELECT total FROM orders) q",
			"SELECT SUM(a) FROM (SELECT age AS x FROM customers UNION ALL SELECT total FROM orders) q (a)",
		},
		{
			"SELECT AVG(n), SUM(z) FROM (SELECT customer, COUNT(*) AS n, SUM(total) AS z FROM orders GROUP BY customer) q",
			"SELECT AVG(b), SUM(z) FROM (SELECT customer, COUNT(*), SUM(total) AS z FROM orders GROUP BY customer) q (a, b)",
			"WITH q (c, b) AS (SELECT customer, COUNT(*), SUM(total) AS z FROM orders GROUP BY 1) SELECT AVG(b), SUM(z) FROM q",
		},
		{"SELECT AVG(n) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q", "WITH t AS (SELECT COUNT(*) AS k FROM orders o GROUP BY o.customer) SELECT AVG(k) FROM t"},
	} {
		for _, sql := range same[1:] {
			if key(sql) != key(same[0]) {
				t.Errorf("%s is another release than %s", sql, same[0])
			}
		}
	}
	// A policy whose columns stand in another order has the same digest, and no release of another question.
	reordered, err := policy.Decode([]byte(strings.Replace(relationsPolicy, "{region: {type: text, values: [a, b]}, zone: {type: integer},", "{zone: {type: integer}, region: {type: text, values: [a, b]},", 1)), ".")
	if err != nil || reordered.Digest() != p.Digest() {
		t.Fatal(err)
	}
	const byZone, byRegion = "SELECT COUNT(*) FROM customers c JOIN regions r ON c.age = r.zone", "SELECT COUNT(*) FROM customers c JOIN regions r ON c.region = r.region"
	for _, sql := range []string{byZone, byRegion} {
		q, err := plan.Build(reordered, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		if k := q.Key(0, 0); k == key(byZone) && sql == byRegion || k == key(byRegion) && sql == byZone {
			t.Error("two questions have one key")
		}
	}
	seen := map[string]string{}
	for _, sql := range []string{
		"SELECT COUNT(*) FROM orders", "SELECT COUNT(*) FROM orders JOIN customers ON customer = id", "SELECT COUNT(*) FROM orders LEFT JOIN customers ON customer = id",
		"SELECT COUNT(*) FROM orders JOIN customers ON customer = id AND age > 3", "SELECT COUNT(*) FROM lines", "SELECT COUNT(*) FROM orders JOIN lines USING (number)",
		"SELECT COUNT(*) FROM (SELECT customer FROM orders GROUP BY customer) q", "SELECT COUNT(*) FROM (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 1) q",
		"SELECT COUNT(*) FROM (SELECT customer FROM orders UNION ALL SELECT id FROM customers) q", "SELECT COUNT(*) FROM (SELECT customer FROM orders UNION ALL SELECT who FROM visits) q",
		"SELECT COUNT(*) FROM customers c JOIN regions r ON c.region = r.region", "SELECT COUNT(*) FROM customers c JOIN regions r ON c.age = r.zone",
	} {
		k := key(sql)
		if other, again := seen[k]; again {
			t.Errorf("%s and %s have one key", sql, other)
		}
		seen[k] = sql
	}
}

// Keys are told as the question writes them, and not by their places in a relation.
func TestKeyText(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	q, err := plan.Build(p, plan.Request{SQL: "SELECT c.region AS r, COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id GROUP BY ROLLUP (FLOOR(o.total / 10), r)"})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{q.KeyText(q.Grouped[0]), q.KeyText(q.Grouped[1])}
	if got[0] != "floor(o.total / 10)" || got[1] != "c.region" {
		t.Errorf("%q", got)
	}
}
