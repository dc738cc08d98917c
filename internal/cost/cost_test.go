package cost_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/cost"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/stattest"
)

const households = `
version: 1
population: {name: town}
budget: {epsilon: 10}
tables:
  visits:
    source: {csv: visits.csv}
    unit: pid
    rows_per_unit: 4
    columns:
      pid: {type: integer}
      married: {type: boolean}
      age: {type: real, bounds: [0, 115]}
      note: {type: text}
`

const shop = `
version: 1
population: {name: shop}
budget: {epsilon: 10}
tables:
  customers:
    source: {csv: c.csv}
    unit: id
    rows_per_unit: 1
    columns: {id: {type: integer}, region: {type: text, values: [a, b]}}
  orders:
    source: {csv: o.csv}
    unit: customer
    rows_per_unit: 20
    columns: {number: {type: integer}, customer: {type: integer}, total: {type: real, bounds: [0, 50]}}
  visits:
    source: {csv: v.csv}
    unit: who
    rows_per_unit: 10
    columns: {who: {type: integer}, doctor: {type: integer}, cost: {type: integer, bounds: [0, 9]}}
  letters:
    source: {csv: w.csv}
    unit: "to"
    rows_per_unit: 10
    columns: {to: {type: text}}
  lines:
    source: {csv: l.csv}
    through: number
    rows_per_unit: 50
    references: {number: orders.number}
    columns: {number: {type: integer}, price: {type: integer, bounds: [0, 9]}}
`

func costPolicy(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// selfJoined is a question of one person's rows, joined with themselves on the unit, in which each pair is computed
// with.
func selfJoined(tables int, condition string) string {
	var b strings.Builder
	b.WriteString("WITH s AS (SELECT pid, age, note FROM visits WHERE pid = 17 AND married) SELECT COUNT(*) FROM s AS s1")
	for i := 2; i <= tables; i++ {
		fmt.Fprintf(&b, " JOIN s AS s%d ON s1.pid = s%d.pid", i, i)
	}
	return b.String() + " WHERE " + condition
}

// repeated joins so many texts that %d tells apart.
func repeated(n int, text, by string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(text, i))
	}
	return strings.Join(all, by)
}

// What one person's rows could take is bounded when a question is planned: whoever joins a few rows with themselves
// until they are hundreds of thousands, and computes with each, would read from the clock whether they are there.
func TestUnitCostIsLimited(t *testing.T) {
	p := costPolicy(t, households)
	exps := repeated(150, "EXP(s1.age / 9) > 2%d", " OR ")
	likes := repeated(150, "s1.note LIKE '%%special%d%%requests%%'", " OR ")
	for _, c := range []struct {
		sql  string
		hint string // "" where it is answered
	}{
		{selfJoined(9, exps), "join fewer tables"},
		{selfJoined(9, likes), "join fewer tables"},
		{selfJoined(9, "TRUE"), "join fewer tables"},
		{selfJoined(1, likes), "fewer or shorter patterns"},
		{selfJoined(1, "s1.note LIKE '%"+strings.Repeat("a", 250)+"%'"), "fewer or shorter patterns"},
		{selfJoined(1, exps), ""},
		{selfJoined(2, "s1.age > s2.age"), ""},
		{selfJoined(1, "s1.note LIKE '%special%requests%'"), ""},
		{"SELECT COUNT(*) FROM visits WHERE note LIKE '%special%requests%'", ""},
	} {
		q, err := plan.Build(p, plan.Request{SQL: c.sql})
		if c.hint == "" {
			if err != nil {
				t.Errorf("%.150s: %v", c.sql, err)
			} else if cost := cost.Of(p, q.AllLooks()...); cost.Steps > p.MostUnitCost() || cost.Steps <= 0 || cost.Unbounded {
				t.Errorf("%.150s: %+v", c.sql, cost)
			}
			continue
		}
		var refused *plan.Error
		if !errors.As(err, &refused) {
			t.Errorf("%.150s… is answered: %v", c.sql, err)
			continue
		}
		if !strings.Contains(refused.Message, "the rows of one pid could take") || !strings.Contains(refused.Message, "the limit of 3,000,000,000") || !strings.Contains(refused.Hint, c.hint) {
			t.Errorf("%.150s: %v (%s)", c.sql, err, refused.Hint)
		}
		if of := refused.Pos; (of == query.Pos{}) && strings.Contains(c.hint, "join") {
			t.Errorf("%.150s: no position", c.sql)
		}
	}
}

// Joins of three and four tables, as they are usually written, are within the default limit, and a join of persons with
// two tables of which each person has many rows is once FROM begins with the longer one, as the refusal says.
func TestUnitCostOfJoins(t *testing.T) {
	p := costPolicy(t, shop)
	const doors = "SELECT COUNT(*) FROM customers JOIN orders ON customer = id JOIN visits ON who = id JOIN letters ON \"to\" = id"
	wide := costPolicy(t, strings.NewReplacer("to: {type: text}", "to: {type: integer}").Replace(shop))
	for _, sql := range []string{
		"SELECT COUNT(*) FROM customers JOIN visits ON who = id JOIN orders ON customer = id",
		"SELECT COUNT(*) FROM customers JOIN orders ON customer = id JOIN lines ON lines.number = orders.number",
		"SELECT region, SUM(total), AVG(cost) FROM customers JOIN visits ON who = id JOIN orders ON customer = id GROUP BY region",
		"SELECT COUNT(*) FROM customers JOIN visits ON who = id JOIN orders ON customer = id JOIN lines ON lines.number = orders.number",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	_, err := plan.Build(wide, plan.Request{SQL: doors})
	var refused *plan.Error
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Hint, "begin FROM with orders, which has the most rows_per_unit, or join fewer tables") {
		t.Fatalf("%v, %+v", err, refused)
	}
	const followed = "SELECT COUNT(*) FROM orders JOIN customers ON customer = id JOIN visits ON who = id JOIN letters ON \"to\" = id"
	if _, err := plan.Build(wide, plan.Request{SQL: followed}); err != nil {
		t.Error(err)
	}
}

// The other primitives look at the same rows.
func TestUnitCostIsLimitedOfTargets(t *testing.T) {
	p := costPolicy(t, households)
	from := strings.TrimPrefix(selfJoined(9, "TRUE"), "WITH s AS (SELECT pid, age, note FROM visits WHERE pid = 17 AND married) SELECT COUNT(*)")
	with := "WITH s AS (SELECT pid, age, note FROM visits WHERE pid = 17 AND married) "
	for name, build := range map[string]func() error{
		"scores": func() error {
			_, err := plan.BuildScores(p, plan.Request{SQL: with + "SELECT COUNT(*)" + from})
			return err
		},
		"order": func() error {
			_, err := plan.BuildOrder(p, plan.Request{SQL: with + "SELECT s1.age" + from})
			return err
		},
		"rows": func() error {
			_, err := plan.BuildRows(p, plan.Request{SQL: with + "SELECT s1.age" + from})
			return err
		},
		"moments": func() error {
			_, err := plan.BuildMoments(p, plan.Request{SQL: with + "SELECT s1.age" + from}, plan.VectorRequest{
				Blocks: []plan.BlockRequest{{Size: 1, Norm: bounded.NormL2}}, Sums: []plan.SumRequest{{Kind: bounded.SumFirst}},
			})
			return err
		},
	} {
		if err := build(); err == nil || !strings.Contains(err.Error(), "the rows of one pid could take") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The limit is the policy's, and so is how many rows of a unit are stored; what is on a server is bounded by neither.
func TestUnitCostByPolicy(t *testing.T) {
	sql := "SELECT COUNT(*) FROM visits WHERE age > 3"
	cost := func(text string) cost.Cost {
		p := costPolicy(t, text)
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		return cost.Of(p, q.AllLooks()...)
	}
	base := cost(households)
	if base.Rows != 1000 || base.Unbounded {
		t.Errorf("%+v", base)
	}
	more := cost(strings.Replace(households, "rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: 2000", 1))
	if more.Rows != 2000 || more.Steps <= 2*base.Steps-1 {
		t.Errorf("%+v and %+v", base, more)
	}
	row := cost(strings.Replace(households, "unit: pid\n    rows_per_unit: 4", "unit: row", 1))
	if row.Rows != 1 || row.Steps*500 > base.Steps {
		t.Errorf("%+v and %+v", base, row)
	}
	live := cost(strings.Replace(households, "{csv: visits.csv}", "{postgres: {service: clinic}, table: public.visits}", 1))
	if !live.Unbounded {
		t.Errorf("%+v", live)
	}
	sql = "SELECT COUNT(*) FROM visits WHERE note LIKE '%z%'" // five steps for each byte, of a thousand rows
	texts := func(values string) int64 {
		return cost(strings.Replace(households, "note: {type: text}", "note: {type: text"+values+"}", 1)).Steps
	}
	short, long, any := texts(", values: [a]"), texts(", values: [a, "+strings.Repeat("x", 500)+"]"), texts("")
	if long < short+5*499*1000 || any < long+5*3500*1000 {
		t.Errorf("a text of one byte: %d steps, of 500: %d, of any length: %d", short, long, any)
	}
	sql = "SELECT COUNT(*) FROM visits WHERE age > 3"
	p := costPolicy(t, strings.Replace(households, "tables:", "limits: {unit_cost: 1000}\ntables:", 1))
	if _, err := plan.Build(p, plan.Request{SQL: sql}); err == nil || !strings.Contains(err.Error(), "the limit of 1,000") {
		t.Error(err)
	}
}

// Rows of a table through another are all read before those that are stored are found, and nothing bounds them: it is said.
func TestUnitCostThroughIsUnbounded(t *testing.T) {
	p := costPolicy(t, strings.Replace(households, "tables:", `tables:
  orders: {source: {csv: orders.csv}, unit: pid, rows_per_unit: 20, columns: {pid: {type: integer}, number: {type: integer}}}
  lines: {source: {csv: lines.csv}, through: number, references: {number: orders.number}, rows_per_unit: 100, columns: {number: {type: integer}, price: {type: integer, bounds: [0, 9]}}}`, 1))
	for sql, owned := range map[string]bool{
		"SELECT SUM(price) FROM lines":                                            true,
		"SELECT COUNT(*) FROM lines AS l JOIN orders AS o ON l.number = o.number": true,
		"SELECT COUNT(*) FROM orders":                                             false,
		"SELECT COUNT(*) FROM visits AS v JOIN orders AS o ON v.pid = o.pid":      false,
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		if cost := cost.Of(p, q.AllLooks()...); cost.Owned != owned || cost.Unbounded {
			t.Errorf("%s: %+v", sql, cost)
		}
	}
}

// A text of 4,096 bytes takes DuckDB 4 to 25 ms where more than ten _ stand behind %, since which of them have matched is another set at each place.
func TestUnitCostOfWildcards(t *testing.T) {
	p := costPolicy(t, strings.Replace(households, "tables:", "limits: {unit_cost: 1000000000000000}\ntables:", 1))
	for _, c := range []struct {
		pattern     string
		least, most int64 // nanoseconds of a text, as measured, and what it may count as
	}{
		{"%a" + strings.Repeat("_", 8) + "c%", 83_000, 400_000},
		{strings.Repeat("_", 12) + "c%", 20_000, 400_000}, // begins at one place
		{`%a\_\_\_\_\_\_\_\_\_\_\_\_c%`, 20_000, 400_000},
		{"%a" + strings.Repeat("_", 14) + "c%", 7_700_000, 20_000_000},
		{"%a%" + strings.Repeat("_", 7) + "%a" + strings.Repeat("_", 7) + "c", 1_000_000, 20_000_000},
		{"%a" + strings.Repeat("_", 30) + "c%", 8_400_000, 30_000_000},
		{"%a" + strings.Repeat("_", 100) + "c%", 25_000_000, 60_000_000},
		{"%a" + strings.Repeat("_", 200) + "c%", 35_000_000, 90_000_000},
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM visits WHERE note LIKE '" + c.pattern + "'"})
		if err != nil {
			t.Fatal(err)
		}
		if steps := cost.Of(p, q.AllLooks()...).Steps / 1000; steps < c.least || steps > c.most {
			t.Errorf("%s: %d steps for a text, and not %d to %d", c.pattern, steps, c.least, c.most)
		}
	}
}

// A condition on what a person's rows are grouped by is applied by DuckDB to the rows, before they are grouped, and computes the key each time that it names it.
// So does the condition that a key of the answer is not NULL, of what a subquery below has computed.
func TestUnitCostOfConditionsOnKeys(t *testing.T) {
	p := costPolicy(t, strings.Replace(households, "tables:", "limits: {unit_cost: 1000000000000000}\ntables:", 1))
	steps := func(sql string) int64 {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(sql, err)
		}
		return cost.Of(p, q.AllLooks()...).Steps
	}
	const key = "EXP(v1.age / 9 + v2.age / 9) > 100" // 4,000 rows, as it reads both
	from := " FROM visits AS v1 JOIN visits AS v2 ON v1.pid = v2.pid"
	for name, sql := range map[string]func(n int) string{
		"a person's groups": func(n int) string {
			return "SELECT COUNT(*) FROM (SELECT v1.pid, " + key + " AS k, COUNT(*) AS n" + from + " GROUP BY v1.pid, " + key + ") AS p WHERE " +
				repeated(n, "CASE WHEN k THEN 1 ELSE 2 END = %d + 2", " OR ")
		},
		"groups of the answer": func(n int) string {
			g := "CASE " + repeated(n, "WHEN CASE WHEN k THEN 1 ELSE 2 END = %d + 2 THEN 1", " ") + " ELSE 2 END"
			return "SELECT " + g + ", COUNT(*) FROM (SELECT v1.pid, " + key + " AS k" + from + " UNION ALL SELECT pid, married FROM visits) AS p GROUP BY " + g
		},
	} {
		if one := (steps(sql(31)) - steps(sql(1))) / 30 / 4000; one < 40 {
			t.Errorf("%s: a condition that names a key costs %d steps for each row that it may be applied to", name, one)
		}
	}
}

// Beside groups that are not known, a row of all others is measured by a second statement.
func TestUnitCostOfOther(t *testing.T) {
	p := costPolicy(t, strings.Replace(households, "budget: {epsilon: 10}", "budget: {epsilon: 10, delta: 1e-6, selection_delta: 1e-7}", 1))
	steps := func(other bool) int64 {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT note, COUNT(*) FROM visits GROUP BY note", Unknown: plan.Unknown{Other: other}})
		if err != nil {
			t.Fatal(err)
		}
		return cost.Of(p, q.AllLooks()...).Steps
	}
	if one, two := steps(false), steps(true); two < 2*one {
		t.Errorf("%d steps, and %d with the others", one, two)
	}
}

// A unit's name may be a text of 4,096 bytes: then each row that is joined or put in order takes 57 µs on DuckDB and 150 on PostgreSQL, with 16,000 rows of a unit,
// where a number takes a few.
func TestUnitCostOfTextUnits(t *testing.T) {
	unlimited := strings.Replace(households, "tables:", "limits: {unit_cost: 1000000000000000}\ntables:", 1)
	number, text := costPolicy(t, unlimited), costPolicy(t, strings.Replace(unlimited, "pid: {type: integer}", "pid: {type: text}", 1))
	for sql, rows := range map[string]int64{
		"SELECT COUNT(*) FROM visits AS v1 JOIN visits AS v2 ON v1.pid = v2.pid JOIN visits AS v3 ON v1.pid = v3.pid": 16_000,
		"SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) AS p WHERE n > 3":                  100,
		"SELECT COUNT(*) FROM visits": 100,
	} {
		cost := func(p *policy.Policy) int64 {
			q, err := plan.Build(p, plan.Request{SQL: sql})
			if err != nil {
				t.Fatal(err)
			}
			return cost.Of(p, q.AllLooks()...).Steps
		}
		if a, b := cost(number), cost(text); b < a+30_000*rows {
			t.Errorf("%s: %d steps, and %d where units have texts for names", sql, a, b)
		}
	}
}

// PostgreSQL stores long texts compressed, and opens them again for each comparison: of 4,096 bytes that takes 1.8 µs, and to look one up in a list of more
// than eight 3.7 µs, of its process's own time. Texts of different lengths are not equal, and are not opened.
func TestUnitCostOfLongTexts(t *testing.T) {
	p := costPolicy(t, strings.Replace(households, "tables:", "limits: {unit_cost: 1000000000000000}\ntables:", 1))
	for _, c := range []struct {
		condition   string
		least, most int64 // nanoseconds of one comparison, as measured, and what it may count as
	}{
		{"note < ' a%d'", 1_830, 10_000},
		{"LEAST(note, ' a%d') = 'x'", 1_830, 20_000},
		{"note = 'a%d'", 50, 2_500},
		{"note IN ('a%d', 'b', 'c')", 50, 5_000},
		{"note IN ('a%d', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k')", 3_700, 20_000},
	} {
		steps := func(n int) int64 {
			q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM visits WHERE " + repeated(n, c.condition, " OR ")})
			if err != nil {
				t.Fatal(err)
			}
			return cost.Of(p, q.AllLooks()...).Steps
		}
		if one := (steps(41) - steps(1)) / 40 / 1000; one < c.least || one > c.most {
			t.Errorf("%s: %d steps, and not %d to %d", c.condition, one, c.least, c.most)
		}
	}
	sql := func(n int) string {
		return "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS n, " + repeated(n, "MIN(note) FILTER (WHERE age > %d) AS m%[1]d", ", ") + " FROM visits GROUP BY pid) AS p WHERE n > 3"
	}
	var steps [2]int64
	for i, n := range []int{1, 41} {
		q, err := plan.Build(p, plan.Request{SQL: sql(n)})
		if err != nil {
			t.Fatal(err)
		}
		steps[i] = cost.Of(p, q.AllLooks()...).Steps
	}
	if one := (steps[1] - steps[0]) / 40 / 1000; one < 3_660 || one > 20_000 {
		t.Errorf("MIN: %d steps for a text", one)
	}
}

// Large numbers saturate: they never turn into small ones.
func TestUnitCostSaturates(t *testing.T) {
	p := costPolicy(t, strings.Replace(households, "rows_per_unit: 4", "rows_per_unit: 4\n    stored_rows_per_unit: 1000000000", 1))
	_, err := plan.Build(p, plan.Request{SQL: selfJoined(9, repeated(60, "s1.note LIKE '%%"+strings.Repeat("a", 200)+"%d%%'", " OR "))})
	if err == nil || !strings.Contains(err.Error(), "could take more than 9,000,000,000,000,000,000 steps") {
		t.Error(err)
	}
	if got := plan.Thousands(math.MaxInt64 - 1); got != "9,223,372,036,854,775,806" {
		t.Error(got)
	}
}

// A further condition, a further expression, another table, a wider text and more stored rows never lower the cost, of
// generated relations.
func TestUnitCostIsMonotone(t *testing.T) {
	stattest.Cases(t, 1500)
	text := strings.Replace(string(enginetest.RelationPolicy("add-remove", false)), "tables:", "limits: {unit_cost: 1000000000000000}\ntables:", 1)
	p := costPolicy(t, text)
	wider := costPolicy(t, strings.ReplaceAll(text, "type: text, values: [", "type: text, values: ["+strings.Repeat("x", 500)+", "))
	stored := costPolicy(t, regexp.MustCompile(`\brows_per_unit: (\d+)`).ReplaceAllString(text, "rows_per_unit: $1, stored_rows_per_unit: 1001"))
	planned, grew := 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		sql, _ := enginetest.Relation(t)
		steps := func(p *policy.Policy, sql string) (int64, bool) {
			q, err := plan.Build(p, plan.Request{SQL: sql})
			if err != nil {
				return 0, false
			}
			return cost.Of(p, q.AllLooks()...).Steps, true
		}
		base, ok := steps(p, sql)
		if !ok {
			return
		}
		planned++
		for name, other := range map[string]struct {
			p   *policy.Policy
			sql string
		}{
			"a wider text":           {wider, sql},
			"more stored rows":       {stored, sql},
			"a further condition":    {p, conditioned(sql, "EXP(1.0 / 3) > 2")},
			"an expensive condition": {p, conditioned(sql, "1 IN (1, 2, 3, 4)")},
			"a further aggregate":    {p, strings.Replace(sql, "SELECT ", "SELECT COUNT(*) AS further, ", 1)},
		} {
			got, ok := steps(other.p, other.sql)
			if !ok {
				continue
			}
			if got < base {
				t.Fatalf("%s lowers the cost from %d to %d: %s", name, base, got, other.sql)
			}
			if got > base {
				grew[name]++
			}
		}
	})
	t.Logf("%d planned, of which cost more: %v", planned, grew)
	if planned < 200 || len(grew) < 5 {
		t.Errorf("%d planned, of which cost more: %v", planned, grew)
	}
	before := int64(0)
	for tables := 1; tables <= 6; tables++ {
		q, err := plan.Build(costPolicy(t, strings.Replace(households, "tables:", "limits: {unit_cost: 1000000000000000}\ntables:", 1)), plan.Request{SQL: selfJoined(tables, "TRUE")})
		if err != nil {
			t.Fatal(err)
		}
		cost := cost.Of(costPolicy(t, households), q.AllLooks()...).Steps
		if cost <= before {
			t.Errorf("%d tables: %d steps, and %d without the last", tables, cost, before)
		}
		before = cost
	}
}

// conditioned adds a condition to the outermost WHERE, if there is one.
func conditioned(sql, condition string) string {
	at := strings.LastIndex(sql, " GROUP BY ")
	rest := ""
	if at > 0 && !strings.Contains(sql[at:], ")") {
		sql, rest = sql[:at], sql[at:]
	}
	if at := strings.LastIndex(sql, " WHERE "); at > 0 && strings.Count(sql[at:], "(") >= strings.Count(sql[at:], ")") {
		return sql[:at] + " WHERE " + condition + " AND (" + sql[at+len(" WHERE "):] + ")" + rest
	}
	return sql + " WHERE " + condition + rest
}

// TPC-H's questions and those of the other examples are within the default limit, with room for five times as much.
func TestUnitCostOfExamples(t *testing.T) {
	text, err := os.ReadFile("../../examples/tpch/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../examples/tpch/questions.go")
	if err != nil {
		t.Fatal(err)
	}
	p, asked := costPolicy(t, string(text)), 0
	for _, m := range regexp.MustCompile("(?s)sql: +`([^`]*)`").FindAllStringSubmatch(string(source), -1) {
		q, err := plan.Build(p, plan.Request{SQL: m[1]})
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		asked++
		cost := cost.Of(p, q.AllLooks()...)
		t.Logf("%s steps: %.80s", plan.Thousands(cost.Steps), m[1])
		if cost.Steps > p.MostUnitCost()/5 {
			t.Errorf("%s steps: %s", plan.Thousands(cost.Steps), m[1])
		}
	}
	if asked < 8 {
		t.Errorf("%d questions", asked)
	}
}

// A subquery that is linked through a reference, and not by the unit's column, has a row for each value of the key. So
// has the outer row's side, where two comparisons link the subquery.
func TestUnitCostOfLinkedSubqueries(t *testing.T) {
	p := costPolicy(t, strings.Replace(shop, "population:", "limits: {unit_cost: 1000000000000000}\npopulation:", 1))
	for sql, loose := range map[string]int{
		"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)":                                              0,
		"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM lines l WHERE l.number = o.number)":                                                1,
		"SELECT COUNT(*) FROM lines o WHERE EXISTS (SELECT 1 FROM lines l WHERE l.number = o.number AND l.price > o.price AND l.price < o.price + 3)": 2,
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		q.Source.Walk(func(s *bounded.Source) {
			if s.Op != bounded.PerUnit {
				return
			}
			tight := *s
			tight.Loose = false
			a, b := cost.Of(p, &bounded.Statement{Source: s}), cost.Of(p, &bounded.Statement{Source: &tight})
			if s.Loose {
				count++
				if len(s.Exprs) == 1 && a.Steps <= b.Steps {
					t.Errorf("%s: %d steps of as many rows as keys, %d of one row", sql, a.Steps, b.Steps)
				}
			}
		})
		if count != loose {
			t.Errorf("%s: %d groupings without the unit's column, not %d", sql, count, loose)
		}
	}
}
