package curator_test

import (
	"reflect"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

// Totals hold for a histogram only if it has all of their rows: those that a further key drops are missing in its cells.
func TestKnownTotals(t *testing.T) {
	const policy = `
version: 1
population: {name: town, neighbours: NEIGHBOURS}
budget: {epsilon: 10}
tables:
  people:
    source: {csv: people.csv}
    unit: row
UNITS
    totals: TOTALS
    columns:
      age: {type: integer, bounds: [0, 2]}
      city: {type: text, values: [a, b]}
      size: {type: integer, values: [1, 2], nullable: true}
      "of ill": {type: boolean}
`
	all := func(n int64) curator.KnownTotal { return curator.KnownTotal{Key: -1, Count: n} }
	of := func(key, value int, n int64) curator.KnownTotal {
		return curator.KnownTotal{Key: key, Value: value, Count: n}
	}
	const some = `{"*": 9, age: {2: 3}, city: {b: 4}, size: {1: 5}, "of ill": {true: 6}}`
	homes := map[string]*curator.Session{} // by policy
	for _, test := range []struct {
		totals, units, sql string
		want               []curator.KnownTotal
	}{
		{some, "", "SELECT COUNT(*) FROM people GROUP BY age", []curator.KnownTotal{all(9), of(0, 2, 3)}},
		{some, "", "SELECT COUNT(*) FROM people GROUP BY age + 0", []curator.KnownTotal{all(9)}},
		{some, "", "SELECT COUNT(*) FROM people GROUP BY 10 / age", []curator.KnownTotal{all(9)}},
		{some, "", "SELECT COUNT(*) FROM people GROUP BY size", []curator.KnownTotal{all(9), of(0, 0, 5)}},
		{some, "", `SELECT COUNT(*) FROM people GROUP BY "of ill", size`, []curator.KnownTotal{all(9), of(0, 1, 6), of(1, 0, 5)}},
		{some, "", "SELECT COUNT(*) FROM people GROUP BY city", []curator.KnownTotal{of(0, 1, 4)}},
		{some, "", "SELECT COUNT(*) FROM people GROUP BY age, city", []curator.KnownTotal{of(1, 1, 4)}},
		{some, "", "SELECT COUNT(*) FROM people GROUP BY city, CASE WHEN city = 'a' THEN 1 END", []curator.KnownTotal{of(0, 1, 4)}},
		{some, "", "SELECT COUNT(*) FROM people WHERE age < 2 GROUP BY age", nil},
		{some, "", "SELECT COUNT(age) FROM people GROUP BY size", nil},
		{some, "", "SELECT SUM(age) FROM people GROUP BY age", nil},
		{some, "", "SELECT COUNT(*) FROM (SELECT age FROM people WHERE age > 0) AS p GROUP BY age", nil},
		{
			`{"*": 9, city: {a: 5, b: 4}}`, "", "SELECT COUNT(*) FROM people GROUP BY age, city",
			[]curator.KnownTotal{all(9), of(1, 0, 5), of(1, 1, 4)},
		},
		{`{"*": 9, city: {a: 4, b: 4}}`, "", "SELECT COUNT(*) FROM people GROUP BY age, city", []curator.KnownTotal{of(1, 0, 4), of(1, 1, 4)}},
		{`{city: {a: 4, b: 4}}`, "", "SELECT COUNT(*) FROM people GROUP BY age, city", []curator.KnownTotal{of(1, 0, 4), of(1, 1, 4)}},
		// sealing refuses other cities, if the number of units is declared
		{some, "    units: 9", "SELECT COUNT(*) FROM people GROUP BY age, city", []curator.KnownTotal{all(9), of(0, 2, 3), of(1, 1, 4)}},
	} {
		neighbours := "add-remove"
		if test.units != "" {
			neighbours = "change-one"
		}
		text := strings.NewReplacer("TOTALS", test.totals, "UNITS", test.units, "NEIGHBOURS", neighbours).Replace(policy)
		c := homes[text]
		if c == nil {
			c, _ = testhome.Sealed(t, text, "people", map[string]string{
				"people.csv": "age,city,size,of ill\n" + strings.Repeat("1,a,1,true\n", 9),
			})
			homes[text] = c
		}
		d, err := c.Domain(t.Context(), curator.Request{SQL: test.sql, Epsilon: "1"})
		if err != nil {
			t.Errorf("%s: %v", test.sql, err)
			continue
		}
		if !reflect.DeepEqual(d.Totals, test.want) {
			t.Errorf("%s, with %s %s: %v, not %v", test.sql, test.totals, test.units, d.Totals, test.want)
		}
	}
}
