package free

import (
	"strings"
	"testing"

	"dither/internal/policy"
)

const freePolicy = `
version: 1
population: {name: town}
budget: {epsilon: 10}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      ward: {type: text, values: [north, east, south]}
      deck: {type: text, values: [a, b], nullable: true}
      age: {type: integer, bounds: [1, 115]}
      note: {type: text}
`

// answered returns the columns and rows of an answer as a text, "rows" if the question needs rows, or "refused".
func answered(t *testing.T, p *policy.Policy, sql string) string {
	t.Helper()
	a, err := Of(p, sql)
	switch {
	case err != nil:
		return "refused"
	case a == nil:
		return "rows"
	}
	out := []string{strings.Join(a.Columns, ",")}
	for _, row := range a.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		if len(row) != len(a.Columns) {
			t.Errorf("%s: %d values in %d columns", sql, len(row), len(a.Columns))
		}
		out = append(out, strings.Join(cells, ","))
	}
	return strings.Join(out, ";")
}

// Constants and declared values are answered from the question and the policy. Every other question needs rows, and gets
// no free answer: it is nil, or a refusal.
func TestOf(t *testing.T) {
	p, err := policy.Decode([]byte(freePolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT DISTINCT ward FROM (SELECT * FROM people) q ORDER BY 1":                                "ward;east;north;south",
		"SELECT DISTINCT q.ward AS w FROM (SELECT p.* FROM people p) q ORDER BY w DESC LIMIT 1":        "w;south",
		"SELECT w FROM (SELECT ward AS w, note FROM people) q GROUP BY w ORDER BY w":                   "w;east;north;south",
		"SELECT DISTINCT old FROM (SELECT *, age > 60 AS old FROM people) q WHERE old":                 "old;true",
		"SELECT DISTINCT ward FROM (SELECT * FROM (SELECT ward FROM people) a) b WHERE ward <> 'east'": "ward;north;south",
		"SELECT DISTINCT ward FROM (SELECT * FROM people WHERE ward <> 'east') q ORDER BY ward":        "ward;north;south",
		"SELECT * FROM (SELECT ward, age AS years FROM people) q LIMIT 0":                              "ward,years",
		"SELECT DISTINCT ward FROM (SELECT * FROM people WHERE age > 60) q":                            "refused",
		"SELECT DISTINCT ward FROM (SELECT ward FROM people LIMIT 1) q":                                "rows",
		"SELECT DISTINCT ward FROM (SELECT ward FROM people GROUP BY ward HAVING COUNT(*) > 5) q":      "rows",
		"SELECT DISTINCT deck FROM (SELECT ward FROM people) q":                                        "rows",
		"SELECT DISTINCT ward FROM (SELECT *, deck AS ward FROM people) q":                             "rows",
		"SELECT DISTINCT note FROM (SELECT * FROM people) q":                                           "rows",
		"SELECT DISTINCT people.ward FROM (SELECT * FROM people) q":                                    "rows",
		"SELECT 1":                         "expr;1",
		"SELECT 7 / 2 AS a, 'x' AS b":      "a,b;3,x",
		"SELECT 1 AS a WHERE 1 > 2":        "a",
		"SELECT 1 AS a LIMIT 0":            "a",
		"SELECT ward":                      "refused",
		"SELECT COUNT(*)":                  "refused",
		"SELECT DISTINCT ward FROM people": "ward;east;north;south",
		"SELECT DISTINCT ward AS w FROM people ORDER BY w DESC LIMIT 2":    "w;south;north",
		"SELECT ward FROM people GROUP BY ward ORDER BY 1":                 "ward;east;north;south",
		"SELECT DISTINCT ward FROM people WHERE ward <> 'east' ORDER BY 1": "ward;north;south",
		"SELECT DISTINCT deck FROM people ORDER BY deck":                   "deck;a;b;NULL",
		"SELECT DISTINCT deck FROM people WHERE deck IS NOT NULL":          "deck;a;b",
		// no row is in the answer
		"SELECT * FROM people LIMIT 0":                      "ward,deck,age,note",
		"SELECT TRUE AS x FROM people WHERE 1 <> 1 LIMIT 0": "x",
		"SELECT p.age, 1 FROM people p WHERE FALSE":         "age,expr",
		"SELECT * FROM people WHERE age <> age":             "rows",
		"SELECT COUNT(*) FROM people LIMIT 0":               "rows",
		"SELECT nothing FROM people LIMIT 0":                "rows",
		"SELECT * FROM people LIMIT 1":                      "rows",
		// which values the rows have is a fact about them
		"SELECT COUNT(*) FROM people":                               "rows",
		"SELECT ward FROM people":                                   "rows",
		"SELECT DISTINCT note FROM people":                          "rows",
		"SELECT ward, COUNT(*) FROM people GROUP BY ward":           "rows",
		"SELECT DISTINCT ward FROM people WHERE age > 50":           "refused",
		"SELECT DISTINCT ward FROM people WHERE note = 'x'":         "refused",
		"SELECT ward FROM people GROUP BY ward HAVING COUNT(*) > 5": "rows",
	} {
		if got := answered(t, p, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// COUNT(*) of all rows is the declared number of units, also in expressions. With any condition it needs rows.
func TestUnits(t *testing.T) {
	text := strings.NewReplacer("{name: town}", "{name: town, neighbours: change-one}", "unit: row", "unit: row\n    units: 1000").Replace(freePolicy)
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM people":                                                  "count;1000",
		"SELECT COUNT(*) AS n, COUNT(*) FROM people AS p":                              "n,count;1000,1000",
		"SELECT COUNT(*) / 3 FROM people":                                              "expr;333.3333333333333",
		"SELECT COUNT(*) + 1, 2 FROM people ORDER BY 1":                                "expr,expr_2;1001,2",
		"SELECT COUNT(*) FROM people HAVING COUNT(*) > 999 LIMIT 1":                    "count;1000",
		"SELECT COUNT(*) FROM people HAVING COUNT(*) > 1000":                           "count",
		"SELECT COUNT(*) FROM people LIMIT 0":                                          "count",
		"SELECT COUNT(*) FROM (SELECT * FROM people) q":                                "count;1000",
		"SELECT COUNT(*) FROM people WHERE age > 10":                                   "rows",
		"SELECT COUNT(*) FROM people WHERE TRUE":                                       "rows",
		"SELECT COUNT(*) FROM (SELECT * FROM people WHERE age > 10) q":                 "rows",
		"SELECT COUNT(*) FILTER (WHERE age > 10) FROM people":                          "rows",
		"SELECT COUNT(*), COUNT(*) FILTER (WHERE age > 10) FROM people":                "rows",
		"SELECT COUNT(*, epsilon => 0.1) FROM people":                                  "rows",
		"SELECT COUNT(*), AVG(age) FROM people":                                        "rows",
		"SELECT COUNT(*), age FROM people":                                             "rows",
		"SELECT COUNT(*) FROM people HAVING AVG(age) > 3":                              "rows",
		"SELECT COUNT(age) FROM people":                                                "count;1000",
		"SELECT COUNT(age + 1) * 2, COUNT(*) FROM people":                              "expr,count;2000,1000",
		"SELECT REGR_COUNT(age, age * 2) FROM people":                                  "regr_count;1000",
		"SELECT REGR_COUNT(age, age) / 3 FROM people":                                  "expr;333.3333333333333",
		"SELECT REGR_COUNT(age, SQRT(age - 50)) FROM people":                           "rows",
		"SELECT REGR_COUNT(age, ward) FROM people":                                     "rows",
		"SELECT REGR_COUNT(age) FROM people":                                           "rows",
		"SELECT REGR_COUNT(age, age, weight => 2) FROM people":                         "rows",
		"SELECT REGR_COUNT(DISTINCT age, age) FROM people":                             "rows",
		"SELECT REGR_COUNT(age, age) FROM people WHERE age > 10":                       "rows",
		"SELECT COUNT(DISTINCT age) FROM people":                                       "rows",
		"SELECT COUNT(SQRT(age - 50)) FROM people":                                     "rows",
		"SELECT COUNT(age, weight => 2) FROM people":                                   "rows",
		"SELECT COUNT(age) FROM people WHERE age > 10":                                 "rows",
		"SELECT COUNT(age) FILTER (WHERE age > 10) FROM people":                        "rows",
		"SELECT COUNT(nothing) FROM people":                                            "rows",
		"SELECT COUNT(NULL) FROM people":                                               "rows",
		"SELECT COUNT(ward) FROM (SELECT * FROM people) q":                             "count;1000",
		"SELECT ward, COUNT(*) FROM people GROUP BY ward":                              "rows",
		"SELECT COUNT(*) FROM people, people AS q":                                     "rows",
		"SELECT COUNT(*) OVER () FROM people":                                          "rows",
		"SELECT (SELECT COUNT(*) FROM people WHERE age > 1) FROM people":               "rows",
		"SELECT COUNT(*) FROM (SELECT * FROM people UNION ALL SELECT * FROM people) q": "rows",
	} {
		if got := answered(t, p, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}
