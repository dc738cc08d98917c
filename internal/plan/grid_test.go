package plan_test

import (
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

const gridPolicy = `
version: 1
population: {name: grids}
budget: {epsilon: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      x: {type: real, bounds: [-2.5, 17], nullable: true}
      age: {type: integer, bounds: [0, 115], nullable: true}
      i: {type: integer, bounds: [-7, 9]}
      name: {type: text, values: ["1.5", "20", "-3"]}
`

// A group of reals has the rows whose expression has the value that the answer shows, and each value is one group.
func TestGridsShowTheValue(t *testing.T) {
	p, err := policy.Decode([]byte(gridPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	var rows []enginetest.Row
	for n := range int64(200) {
		x := value.OfReal(float64(n*n%411)/16 - 3)
		if n%20 == 0 {
			x = value.NullOf(value.Real)
		}
		rows = append(rows, enginetest.Row{
			"x": x, "age": value.OfInt(n * 7 % 116), "i": value.OfInt(n%17 - 7),
			"name": value.OfText([]string{"1.5", "20", "-3"}[n%3]),
		})
	}
	count := func(sql string) (out map[value.Value]int64, q *plan.Plan) {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		out = map[value.Value]int64{}
		enginetest.Sum(&q.Statement, rows, func(keys []value.Value, sums []*big.Int) {
			key := value.Value{}
			if len(keys) > 0 {
				key = keys[0]
			}
			out[key] += sums[0].Int64()
		})
		return out, q
	}
	for _, x := range []string{
		"FLOOR(age / 10.0) * 10.0", "(FLOOR((x - 0.0) / 12.5) * 12.5) + 0.0", "ROUND(x, 1)", "ROUND(x, -1)", "TRUNC(x, 1)",
		"CAST(x AS numeric(10, 1))", "-(ROUND(x) * 0.5)", "ABS(FLOOR(x)) * 2.5", "ROUND(i * 0.1, 0) / 2.0",
		"CASE WHEN x > 1 THEN 1.5 WHEN x > 5 THEN 2.5 ELSE -0.5 END", "CAST(name AS numeric)", "POWER(i, 2)",
		"FLOOR(x) * FLOOR(x) * 0.5", "CAST(i AS real)", "0 * CAST(i AS real)",
	} {
		groups, q := count(fmt.Sprintf("SELECT %s AS g, COUNT(*) FROM t GROUP BY %s", x, x))
		o, seen, total := q.Outputs[0], map[float64]bool{}, int64(0)
		if o.Grid == nil || o.Post != nil {
			t.Fatalf("%s: %+v is no key that shows a real", x, o)
		}
		for _, k := range q.Keys[0].Values {
			v := o.Grid.Shown(k)
			if v.Type != value.Real {
				t.Fatalf("%s: %v shows %v, of type %s", x, k, v, v.Type)
			}
			where := x + " IS NULL"
			if !v.Null {
				if seen[v.Real] {
					t.Errorf("%s: two groups show %v", x, v)
				}
				seen[v.Real] = true
				where = x + " = " + strconv.FormatFloat(v.Real, 'g', -1, 64)
			}
			of, _ := count("SELECT COUNT(*) FROM t WHERE " + where)
			if got, want := groups[k], of[value.Value{}]; got != want {
				t.Errorf("%s: the group that shows %v has %d rows, and %d have this value", x, v, got, want)
			}
			total += groups[k]
		}
		if total != int64(len(rows)) {
			t.Errorf("%s: %d rows are in a group", x, total)
		}
	}
	for _, x := range []string{"x", "x * 2", "SQRT(FLOOR(x))", "FLOOR(x) + x", "FLOOR(x) * 0.5 + i"} {
		if _, err := plan.Build(p, plan.Request{SQL: fmt.Sprintf("SELECT COUNT(*) FROM t GROUP BY %s", x)}); err == nil {
			t.Errorf("%s is a key", x)
		}
	}
}

// Forms that mean the same have the same plan.
func TestFormsShareAKey(t *testing.T) {
	p, err := policy.Decode([]byte(gridPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	key := func(where string) string {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t WHERE " + where})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		return q.Key(1)
	}
	for _, forms := range [][]string{
		{"age = 30", "age = '30'"},
		{"age IN (1, 2)", "age = ANY (ARRAY[1, 2])", "age = ANY ('{1,2}')", "age IN ('1', '2')"},
		{"x >= 1.5", "x >= '1.5'"},
		{"(age = 3) IS NOT TRUE", "age IS DISTINCT FROM 3", "3 IS DISTINCT FROM age"},
		{"age IS NOT NULL", "age IS DISTINCT FROM NULL"},
		{"name LIKE '1%'", `name LIKE '1%' ESCAPE '\'`, "name LIKE ANY ('{1%}')"},
		{"name IN ('20')", "name = ANY ('{\"20\"}'::text[])"},
		{"name = '20'", "name = '20'::varchar(5)", "name = CONCAT('2', 0)"},
		{"STARTS_WITH(name, '2')", "name ^@ '2'"},
		{"POSITION('5' IN name) > 0", "STRPOS(name, '5') > 0"},
	} {
		for _, other := range forms[1:] {
			if key(other) != key(forms[0]) {
				t.Errorf("%s and %s are two questions", forms[0], other)
			}
		}
	}
}

// As in PostgreSQL, `/` drops the fraction for integers alone. Whole numbers of functions such as FLOOR are none.
func TestQuotientsOfWholeNumbersKeepTheirFraction(t *testing.T) {
	p, err := policy.Decode([]byte(gridPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	key := func(sql string) string {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM " + sql})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return q.Key(1)
	}
	for _, forms := range [][2]string{
		{"t WHERE FLOOR(x) / 7 > 1", "t WHERE CAST(FLOOR(x) AS real) / 7 > 1"},
		{"t WHERE 7 / (1 + ROUND(x)) > 1", "t WHERE 7 / CAST(1 + ROUND(x) AS real) > 1"},
		{"t WHERE SIGN(i) / 2 > 0", "t WHERE CAST(SIGN(i) AS real) / 2 > 0"},
		{"t WHERE -ABS(DIV(i, 2)) / 2 > 0", "t WHERE CAST(-ABS(DIV(i, 2)) AS real) / 2 > 0"},
		{"t WHERE COALESCE(i, CEIL(x)) / 2 > 1", "t WHERE CAST(COALESCE(i, CEIL(x)) AS real) / 2 > 1"},
		{
			"t WHERE CASE WHEN i > 1 THEN i ELSE TRUNC(x) END / 2 > 1",
			"t WHERE CAST(CASE WHEN i > 1 THEN i ELSE TRUNC(x) END AS real) / 2 > 1",
		},
		{"(SELECT FLOOR(x) AS f FROM t) q WHERE f / 7 > 1", "(SELECT FLOOR(x) AS f FROM t) q WHERE CAST(f AS real) / 7 > 1"},
		{
			"t WHERE EXTRACT(month FROM DATE '2025-01-01' + i) / 2 > 1",
			"t WHERE CAST(EXTRACT(month FROM DATE '2025-01-01' + i) AS real) / 2 > 1",
		},
		// integers
		{"t WHERE age / 7 > 1", "t WHERE FLOOR(age / 7.0) > 1"},
		{"t WHERE CAST(FLOOR(x + 3) AS integer) / 7 > 1", "t WHERE FLOOR(FLOOR(x + 3) / 7) > 1"},
		{"t WHERE ABS(i) / 2 > 1", "t WHERE FLOOR(CAST(ABS(i) AS real) / 2) > 1"},
	} {
		if key(forms[0]) != key(forms[1]) {
			t.Errorf("%s and %s are two questions", forms[0], forms[1])
		}
	}
}
