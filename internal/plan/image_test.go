package plan_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

const imagePolicy = `
version: 1
population: {name: images}
budget: {epsilon: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 115], nullable: true}
      i: {type: integer, bounds: [-7, 9], nullable: true}
      k: {type: integer, values: [-300, 0, 5, 7000], nullable: true}
      b: {type: boolean, nullable: true}
`

// worlds are the values of the columns, NULL among them.
func worlds(p *policy.Policy, column string) (out []value.Value) {
	c := p.Table("t").Column(column)
	out = append(out, value.NullOf(c.Type))
	switch {
	case c.Type == value.Boolean:
		return append(out, value.OfBool(false), value.OfBool(true))
	case c.Values != nil:
		return append(out, c.Values...)
	}
	for n := c.Lower.Num().Int64(); n <= c.Upper.Num().Int64(); n++ {
		out = append(out, value.OfInt(n))
	}
	return out
}

// groups asks for the groups of an expression, and counts which of them the rows fall into.
func groups(t interface{ Fatalf(string, ...any) }, p *policy.Policy, expr string, rows []enginetest.Row) (known []value.Value, met map[value.Value]int, ok bool) {
	q, err := plan.Build(p, plan.Request{SQL: fmt.Sprintf("SELECT %s AS g, COUNT(*) FROM t GROUP BY %s", expr, expr)})
	if err != nil {
		return nil, nil, false
	}
	met = map[value.Value]int{}
	counted := 0
	enginetest.Sum(&q.Statement, rows, func(keys []value.Value, _ []*big.Int) {
		met[keys[0]]++
		counted++
	})
	if counted != len(rows) {
		t.Fatalf("%s: %d of %d rows have a value that is not known: %v", expr, len(rows)-counted, len(rows), q.Keys[0].Values)
	}
	return q.Keys[0].Values, met, true
}

// Arithmetic on one column with constants knows exactly the values that it takes.
func TestImageIsExact(t *testing.T) {
	p, err := policy.Decode([]byte(imagePolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string]int{ // values other than NULL
		"FLOOR(age / 10) * 10":              12,
		"FLOOR(age / 10)":                   12,
		"FLOOR(age / 0.1)":                  116,
		"CEIL(age / 25.0) * 25 + 1":         6,
		"age - age % 10":                    0, // two occurrences: see below
		"ROUND(age / 7) * -3":               17,
		"CAST(age / 2 AS integer)":          0,
		"-age * 1000000":                    116,
		"age % 10":                          10,
		"i % 3":                             5,
		"100 - i":                           17,
		"1000 * k":                          4,
		"k + k":                             0,
		"FLOOR(60 / i)":                     0,
		"i % 0":                             0,
		"ABS(i) * 2":                        10,
		"SIGN(k) * 50":                      3,
		"b::integer * 1000":                 2,
		"CASE WHEN b THEN k * 2 ELSE 1 END": 0,
		"FLOOR(SQRT(age) * 2)":              0,
	} {
		for _, column := range []string{"age", "i", "k", "b"} {
			var rows []enginetest.Row
			for _, v := range worlds(p, column) {
				rows = append(rows, enginetest.Row{column: v})
			}
			known, met, ok := groups(t, p, expr, rows)
			if !ok {
				t.Fatalf("%s is refused", expr)
			}
			if want == 0 || len(met) == 1 { // not exact, or of another column: then all is NULL
				continue
			}
			if len(known) != want+1 || len(met) != want+1 {
				t.Errorf("%s: %d values are known and %d met, want %d and NULL: %v", expr, len(known), len(met), want, known)
			}
		}
	}
}

// What LEAST and GREATEST rule out is no group, of reals as of integers: each group that is known is met, and NULL is none of them.
func TestExtremesAreExact(t *testing.T) {
	p, err := policy.Decode([]byte(imagePolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	var rows []enginetest.Row
	for _, v := range worlds(p, "age") {
		rows = append(rows, enginetest.Row{"age": v})
	}
	for expr, want := range map[string]int{
		"LEAST(age, 9)":                                10,
		"LEAST(age / 10, 9)::integer":                  10,
		"GREATEST(-age / 10, -9)::integer":             10,
		"FLOOR(LEAST(age / 2, 2.5)) * 100":             3,
		"ROUND(GREATEST(LEAST(age * 0.5, 20.5), 3.5))": 18,
		"CEIL(GREATEST(age, 100.5))":                   15,
	} {
		known, met, ok := groups(t, p, expr, rows)
		if !ok || len(known) != want || len(met) != want {
			t.Errorf("%s: %d values are known and %d met, want %d: %v", expr, len(known), len(met), want, known)
		}
	}
}

// Whatever the expression, every value that a row gives is known: over all rows of three columns.
func TestImageIsSound(t *testing.T) {
	p, err := policy.Decode([]byte(imagePolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	var rows []enginetest.Row
	for _, i := range worlds(p, "i") {
		for _, k := range worlds(p, "k") {
			for _, b := range worlds(p, "b") {
				rows = append(rows, enginetest.Row{"i": i, "k": k, "b": b})
			}
		}
	}
	admitted := 0
	rapid.Check(t, func(t *rapid.T) {
		if _, _, ok := groups(t, p, arithmetic(t, 3), rows); ok {
			admitted++
		}
	})
	if admitted < 30 {
		t.Errorf("%d questions were admitted: the test shows nothing", admitted)
	}
}

// arithmetic draws an expression of integers.
func arithmetic(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"i", "k", "b::integer", "2", "-3", "0", "7", "10"}).Draw(t, "leaf")
	}
	form := rapid.SampledFrom([]string{
		"($x + $y)", "($x - $y)", "($x * $y)", "($x % $y)", "FLOOR($x / $y)", "CEIL($x / 3)", "ROUND($x / 2)",
		"CAST($x * 0.5 AS integer)", "-($x)", "ABS($x)", "SIGN($x)", "FLOOR($x / 10) * 10", "FLOOR(($x - 0.1) * 3.3 + $y)",
		"LEAST($x, $y)", "FLOOR(LEAST($x * 0.3, $y))", "CAST(GREATEST($x / 4, $y) AS integer)", "COALESCE($x, $y)", "CASE WHEN b THEN $x ELSE $y END", "ROUND(-($x / 0.7))", "(10 - $x)", "($x % 4)",
		"FLOOR(SQRT(ABS($x)))",
	}).Draw(t, "form")
	return strings.NewReplacer("$x", arithmetic(t, depth-1), "$y", arithmetic(t, depth-1)).Replace(form)
}

// What the conditions of a CASE rule out is no group, and every value that a row gives is known all the same.
func TestBranchesAreSound(t *testing.T) {
	p, err := policy.Decode([]byte(imagePolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	var rows []enginetest.Row
	for _, i := range worlds(p, "i") {
		for _, k := range worlds(p, "k") {
			rows = append(rows, enginetest.Row{"i": i, "k": k, "b": value.OfBool(k.Int == 5)})
		}
	}
	narrowed := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			expr := branching(t)
			known, met, ok := groups(t, p, expr, rows)
			if !ok { // k is compared with what it is not
				continue
			}
			if len(known) < 18 && len(met) > 2 { // i alone has 17 and NULL
				narrowed++
			}
		}
	})
	if narrowed < 100 {
		t.Errorf("%d ranges were narrowed: the test shows nothing", narrowed)
	}
}

// branching draws a CASE whose conditions compare its results with constants.
func branching(t *rapid.T) string {
	x := rapid.SampledFrom([]string{"i", "i", "k", "i * 0.5", "i::real"}).Draw(t, "x")
	form := rapid.SampledFrom([]string{
		"CASE WHEN $c THEN $x END", "CASE WHEN $c THEN 1 ELSE $x END", "CASE WHEN $c THEN NULL WHEN $c THEN $x ELSE 2.5 END", "CASE WHEN $c THEN 0 WHEN $c THEN $x ELSE $x END",
	}).Draw(t, "form")
	for strings.Contains(form, "$c") {
		form = strings.Replace(form, "$c", condition(t, 2), 1)
	}
	return "FLOOR(" + strings.ReplaceAll(form, "$x", x) + ")"
}

// condition draws one about x.
func condition(t *rapid.T, depth int) string {
	forms := []string{
		"$x < $n", "$x <= $n", "$n > $x", "$x >= $n", "$x = $n", "$x <> $n", "$n <> $x", "$x = k", "$x < k", "$x IS NULL", "b", "$x BETWEEN $n AND 5", "$x IN (3, $n, -2)", "$x NOT IN (1, $n)",
		"$x < 2.5", "-0.5 <= $x", "$x > 1.5", "$x <= -0.6", "$x > $n.0", "$x < $n.0",
	}
	if depth > 0 {
		forms = append(forms, "($c AND $c)", "($c OR $c)", "NOT ($c)", "($c) IS TRUE", "($c) IS NOT FALSE", "($c OR $c OR $c)")
	}
	form := rapid.SampledFrom(forms).Draw(t, "condition")
	for strings.Contains(form, "$c") {
		form = strings.Replace(form, "$c", condition(t, depth-1), 1)
	}
	return strings.ReplaceAll(form, "$n", rapid.SampledFrom([]string{"-3", "0", "4", "7"}).Draw(t, "constant"))
}
