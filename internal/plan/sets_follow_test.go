package plan_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/reuse"
	"dither/internal/stattest"
	"dither/internal/value"
)

// What follows from an earlier release does so exactly, of the bounded quantities: over hostile rows, whenever Follow says that a
// question's cells are sums of another's, the exact ones are. Half of the questions are made from the other by taking away a key or
// a measure, or by picking values of a key, so that many follow.
func TestFollowsExactly(t *testing.T) {
	stattest.Cases(t, 2000)
	for _, bounded := range []string{"by rows", "by groups"} {
		text := enginetest.PolicyText
		if bounded == "by groups" {
			text = enginetest.ByGroups
		}
		p := policyOf(t, text("add-remove"))
		followed := map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
			first, second := related(t, table)
			earlier, err1 := plan.Build(p, plan.Request{SQL: first, MaxGroups: maxGroups(t, table)})
			asked, err2 := plan.Build(p, plan.Request{SQL: second, MaxGroups: maxGroups(t, table)})
			if err1 != nil || err2 != nil {
				return
			}
			part := func(k string) {
				if asked.Part != nil && earlier.Part != nil {
					followed[k+" of the same parts"]++
				} else if asked.Part != nil {
					followed[k+" of parts, from all"]++
				}
			}
			var rows []enginetest.Row
			reader := reuse.NewReader(asked)
			for _, g := range asked.Groupings() {
				for j, m := range asked.Measures {
					f, ok := reader.Follow(m, g, earlier)
					if !ok {
						continue
					}
					if rows == nil {
						rows = rowsOf(t, p, table)
					}
					if about, of := subject(earlier), subject(asked); !about.MayTell(of) {
						t.Fatalf("%s\nfrom %s: not found by the marks %v of %v", second, first, about, of)
					}
					followed[kindOf(first, second, g, asked, earlier)]++
					for _, kind := range coarser(g, asked, earlier, f) {
						followed[kind]++
						followed[kind+" of "+table]++
					}
					part(table)
					source := exactOver(&earlier.Statement, plan.Grouping{Keys: f.Keys}, f.Measure, rows)
					want := exactOver(&asked.Statement, g, j, rows)
					for i, cells := range f.Cells {
						sum := new(big.Int)
						for _, c := range cells {
							sum.Add(sum, source[c])
						}
						if sum.Cmp(want[i]) != 0 {
							t.Fatalf("%s\nfrom %s\n%s over %v: cell %d is %s, and from the earlier release %s\n%v", second, first, m, g.Keys, i, want[i], sum, rows)
						}
					}
				}
			}
		})
		t.Logf("%s: %v", bounded, followed)
		for _, kind := range []string{"the same cells", "fewer keys", "picked"} {
			if followed[kind] < 20 && (bounded == "by rows" || kind == "the same cells") {
				t.Errorf("%s: %d with %s: the test shows nothing", bounded, followed[kind], kind)
			}
		}
		for _, kind := range []string{
			"coarser", "coarser of t", "coarser of p", "coarser, NULL dropped", "coarser, of unequal parts", "coarser, with empty cells", "coarser, two of one", "coarser, over sets", "coarser, from sets",
			"coarser, picked",
		} {
			if followed[kind] < 20 && bounded == "by rows" {
				t.Errorf("%s: %d %s: the test shows nothing", bounded, followed[kind], kind)
			}
		}
		for _, kind := range []string{"t of the same parts", "t of parts, from all", "p of the same parts"} {
			if followed[kind] < 20 {
				t.Errorf("%s: %d with %s: the test shows nothing", bounded, followed[kind], kind)
			}
		}
		if n := followed["p of parts, from all"]; n > 0 {
			t.Errorf("%s: %d parts of units from all", bounded, n)
		}
	}
}

func subject(p *plan.Plan) *ledger.Subject {
	measures, conditions := reuse.Marks(p)
	return &ledger.Subject{Measures: measures, Conditions: conditions}
}

func maxGroups(t *rapid.T, table string) int64 {
	if table == "p" {
		return int64(rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "max groups"))
	}
	return 0
}

func rowsOf(t *rapid.T, p *policy.Policy, table string) []enginetest.Row {
	rows := enginetest.Rows(t, p.Table(table), 14)
	if unit := p.Table(table).Unit.Column; unit != "" {
		return enginetest.Ranked(clones(rows), unit)
	}
	if rows == nil {
		rows = []enginetest.Row{}
	}
	return rows
}

func kindOf(first, second string, g plan.Grouping, asked, earlier *plan.Plan) string {
	switch {
	case strings.Count(second, "picked") > 0, fmt.Sprint(asked.Where) != fmt.Sprint(earlier.Where):
		return "picked"
	case len(g.Keys) < len(earlier.Keys):
		return "fewer keys"
	}
	return "the same cells"
}

// coarser are the kinds of what follows by a key that is a function of an earlier one.
func coarser(g plan.Grouping, asked, earlier *plan.Plan, f reuse.Following) []string {
	known := func(k int) bool {
		return slices.ContainsFunc(earlier.Keys, func(o bounded.Key) bool { return o.Expr.String() == asked.Keys[k].Expr.String() })
	}
	of := slices.DeleteFunc(slices.Clone(g.Keys), known)
	if len(of) == 0 {
		return nil
	}
	sizes := map[int]bool{}
	for _, cells := range f.Cells {
		sizes[len(cells)] = true
	}
	kinds := []string{"coarser"}
	for kind, is := range map[string]bool{
		"NULL dropped":     slices.ContainsFunc(of, func(k int) bool { return asked.Keys[k].Expr.Nullable && !asked.Keys[k].NullGroup() }),
		"of unequal parts": len(sizes) > 1,
		"with empty cells": sizes[0],
		"two of one":       len(g.Keys) > 1 && len(f.Keys) == 1,
		"over sets":        asked.Sets != nil,
		"from sets":        earlier.Sets != nil,
		"picked":           fmt.Sprint(asked.Where) != fmt.Sprint(earlier.Where),
	} {
		if is {
			kinds = append(kinds, "coarser, "+kind)
		}
	}
	return kinds
}

// functions are of keys, by the key.
var functions = map[string][]string{
	"k":              {"k >= 0", "COALESCE(k, 0)", "ABS(k)", "CASE WHEN k IN (0, 5) THEN 'u' ELSE 'v' END", "FLOOR(k / 4)", "k % 2", "LEAST(k, 0)", "NULLIF(k, 5)", "10 / k > 3", "k BETWEEN 0 AND 3"},
	"s":              {"s = 'a'", "s LIKE 'it%'", "s NOT LIKE '_'", "CASE s WHEN 'a' THEN 1 WHEN 'B' THEN 2 END", "COALESCE(s, 'a')", "s IS NULL", "s < 'a'"},
	"b":              {"NOT b", "b IS TRUE", "COALESCE(b, TRUE)", "CAST(b AS integer)", "b IS UNKNOWN"},
	"i":              {"FLOOR(i / 10) * 10", "i % 3", "SIGN(i)", "i >= 2 OR i < 0", "i * i", "GREATEST(i, 3)", "ROUND(i / 4.0)", "CAST(i / 3.0 AS integer)", "-i"},
	"d":              {"date_trunc('month', d)", "date_trunc('year', d)", "EXTRACT(year FROM d)", "EXTRACT(dow FROM d)", "d < DATE '2000-01-01'", "EXTRACT(day FROM d) > 3"},
	"SIGN(y)":        {"SIGN(y) = 1", "SIGN(y) + 1", "COALESCE(SIGN(y), 0)", "CASE WHEN SIGN(y) = 1 THEN 'u' END", "SIGN(y) IS NULL"},
	"FLOOR(y / 500)": {"FLOOR(y / 500) = 1", "FLOOR(FLOOR(y / 500) / 2)", "NOT FLOOR(y / 500) > 0", "FLOOR(y / 500) IS NOT NULL"},
}

// related draws two questions about a table.
func related(t *rapid.T, table string) (first, second string) {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	aggregates := []string{"COUNT(*)", "SUM(i)", "COUNT(x)", "AVG(x)", "SUM(LEAST(x, 3))", "SUM(i, weight => 3)", "SUM(x, bounds => (0, 3))"}
	rows := ""
	if table == "p" {
		aggregates = append(aggregates, "COUNT(DISTINCT person)", "COUNT(*, contribution_bounds_per_group => (1, 2))", "SUM(i, contribution_bounds_per_group => (2, 5))")
		rows = pick("rows", "", "", "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=2) ")
	}
	// Keys with NULL among their values, without, and such as are never NULL. By k, of which parts are made, more often.
	keys := []string{"k", "k", "k", "s", "b", "i % 3", "COALESCE(s, 'none')", "n % 3", "CASE WHEN x > 1 THEN 'u' ELSE 'v' END", "COALESCE(b, FALSE)", "SIGN(y)", "FLOOR(y / 500)", "i", "d", "SIGN(y)", "FLOOR(y / 500)"}
	wheres := []string{"", "", "x > 1", "b", "i IN (1, 2) AND b", "k = 5", "k <> 0 AND b"}
	of := func(where string, aggregate, groupBy string) string {
		sql := "SELECT " + rows + aggregate + " FROM " + table
		if where != "" {
			sql += " WHERE " + where
		}
		if groupBy != "" {
			sql += " GROUP BY " + groupBy
		}
		return sql
	}
	a, b := pick("key", keys...), pick("other key", keys...)
	aggregate, where := pick("aggregate", aggregates...), pick("where", wheres...)
	form := func(name string) string {
		return pick(name, a, a+", "+b, "ROLLUP ("+a+", "+b+")", "CUBE ("+a+", "+b+")", "GROUPING SETS ("+a+", "+b+")", "")
	}
	coarse := func(name, key string) string { // the key, or a function of it
		if of := functions[key]; of != nil && rapid.Bool().Draw(t, name+" coarser") {
			return pick(name, of...)
		}
		return key
	}
	both := aggregate + ", " + pick("second aggregate", aggregates...)
	first = of(where, both, pick("first form", a+", "+b, "ROLLUP ("+a+", "+b+")", form("any")))
	more := pick("condition", "", "", conditionOn(pick, a), conditionOn(pick, b), conditionOn(pick, a)+" AND "+conditionOn(pick, b))
	if more != "" && where != "" {
		more = where + " AND " + more
	} else if more == "" {
		more = where
	}
	if rows != "" {
		rows = pick("other rows", rows, rows, "", "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=1) ")
	}
	a, b = coarse("first function", a), coarse("second function", pick("function of", a, b, b))
	return first, of(more, pick("which", aggregate, both), form("second form"))
}

func conditionOn(pick func(name string, of ...string) string, key string) string {
	constants := map[string][]string{
		"i": {"0", "5"}, "d": {"DATE '2000-01-01'", "DATE '1999-12-31'"},
		"k": {"0", "5"}, "s": {"'a'", "'B'", "''"}, "i % 3": {"0", "1", "-1"}, "COALESCE(s, 'none')": {"'none'", "'a'"}, "n % 3": {"1", "2"},
		"CASE WHEN x > 1 THEN 'u' ELSE 'v' END": {"'u'"}, "SIGN(y)": {"1"}, "FLOOR(y / 500)": {"0", "1"},
	}[key]
	if constants == nil { // booleans
		return pick("boolean", key, "NOT "+key, key+" IS NULL", key+" IS NOT TRUE", key+" IS UNKNOWN")
	}
	c, d := pick("constant", constants...), pick("constant", constants...)
	compare := pick("comparison", " = ", " <> ", " >= ", " < ")
	return pick("form", key+compare+c, key+" IN ("+c+", "+d+")", key+" NOT IN ("+c+")", key+" IS NULL", "("+key+compare+c+" OR "+key+" IS NULL)", "NOT "+key+" = "+c, key+" IS NOT NULL")
}

// exactOver are a measure's exact cells over some keys.
func exactOver(b *bounded.Statement, g plan.Grouping, j int, rows []enginetest.Row) []*big.Int {
	return cellsOf(b, g, j, func(add func([]value.Value, []*big.Int)) { enginetest.Sum(b, rows, add) })
}

// cellsOf adds up the j-th sums of finer cells, which each calls add for, over the keys of g.
func cellsOf(b *bounded.Statement, g plan.Grouping, j int, each func(add func([]value.Value, []*big.Int))) []*big.Int {
	out := make([]*big.Int, g.Cells(b))
	for i := range out {
		out[i] = new(big.Int)
	}
	each(func(keys []value.Value, sums []*big.Int) {
		cell := 0
		for _, k := range g.Keys {
			cell = cell*len(b.Keys[k].Values) + b.Keys[k].Index(keys[k])
		}
		out[cell].Add(out[cell], sums[j])
	})
	return out
}

// What does not follow: each pair differs in one thing that an identity of bounded quantities needs.
func TestDoesNotFollow(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	for _, c := range [][2]string{
		{"SELECT b, SIGN(y), COUNT(*) FROM t GROUP BY b, SIGN(y)", "SELECT b, COUNT(*) FROM t GROUP BY b"},     // y can be NaN: those rows are dropped
		{"SELECT s, COUNT(*) FROM t GROUP BY s", "SELECT COUNT(*) FROM t WHERE x > 1"},                         // not a key
		{"SELECT s, COUNT(*) FROM t GROUP BY s", "SELECT COUNT(i) FROM t"},                                     // another measure
		{"SELECT s, COUNT(*) FROM t WHERE b GROUP BY s", "SELECT COUNT(*) FROM t"},                             // fewer rows
		{"SELECT s, COUNT(*) FROM t GROUP BY s", "SELECT COUNT(*) FROM p"},                                     // another table
		{"SELECT s, COUNT(*) FROM p GROUP BY s", "SELECT COUNT(*) FROM p WHERE s = 'a'"},                       // the cap would keep other rows
		{"SELECT s, COUNT(DISTINCT person) FROM p GROUP BY s", "SELECT COUNT(DISTINCT person) FROM p"},         // units do not add up
		{"SELECT COUNT(*) FROM t GROUP BY GROUPING SETS (s, k)", "SELECT s, k, COUNT(*) FROM t GROUP BY s, k"}, // finer than any
		{"SELECT s, COUNT(*) FROM t GROUP BY s", "SELECT SUM(i) FROM t GROUP BY s"},
		{"SELECT SIGN(y), COUNT(*) FROM t GROUP BY SIGN(y)", "SELECT COUNT(*) FROM t WHERE SIGN(y) = 1 OR SIGN(y) IS NULL"},             // rows that were dropped
		{"SELECT SIGN(y), COUNT(*) FROM t GROUP BY SIGN(y)", "SELECT COUNT(*) FROM t GROUP BY COALESCE(SIGN(y), 0)"},                    // likewise
		{"SELECT SIGN(y), COUNT(*) FROM t GROUP BY SIGN(y)", "SELECT COUNT(*) FROM t GROUP BY CASE WHEN SIGN(y) > 0 THEN 1 ELSE 2 END"}, // likewise
		{"SELECT i, k, COUNT(*) FROM t GROUP BY i, k", "SELECT COUNT(*) FROM t GROUP BY i > k"},                                         // of two keys
		{"SELECT i, COUNT(*) FROM t GROUP BY i", "SELECT COUNT(*) FROM t GROUP BY CASE WHEN i > 0 THEN s END"},                          // not of the key alone
		{"SELECT i, COUNT(*) FROM t GROUP BY i", "SELECT COUNT(*) FROM t GROUP BY EXP(i) > 2"},                                          // rounded in many ways
		{"SELECT date_trunc('month', d), COUNT(*) FROM t GROUP BY 1", "SELECT date_trunc('week', d), COUNT(*) FROM t GROUP BY 1"},       // another part
		{"SELECT i, COUNT(DISTINCT person) FROM p GROUP BY i", "SELECT i > 2, COUNT(DISTINCT person) FROM p GROUP BY i > 2"},            // units do not add up
		{"SELECT i, COUNT(*) FROM p GROUP BY i", "SELECT i > 2, COUNT(*) FROM p WHERE i IS NOT NULL GROUP BY i > 2"},                    // the cap would keep other rows
	} {
		earlier, asked := builtOn(t, p, c[0]), builtOn(t, p, c[1])
		if f, ok := reuse.NewReader(asked).Follow(asked.Measures[0], asked.Groupings()[0], earlier); ok {
			t.Errorf("%s follows from %s: %+v", c[1], c[0], f)
		}
	}
	// Sealing refuses rows without a value of j, so these groups drop none.
	for _, c := range [][2]string{
		{"SELECT b, j % 2, COUNT(*) FROM t GROUP BY b, j % 2", "SELECT b, COUNT(*) FROM t GROUP BY b"},
		{"SELECT j % 2, COUNT(*) FROM p GROUP BY j % 2", "SELECT COUNT(*) FROM p"},
		{"SELECT b, COUNT(*) FROM t GROUP BY b", "SELECT b, j % 2, COUNT(*) FROM t WHERE j > 3 GROUP BY b, j % 2"},
	} {
		earlier, asked := builtOn(t, p, c[0]), builtOn(t, p, c[1])
		_, ok := reuse.NewReader(asked).Follow(asked.Measures[0], asked.Groupings()[0], earlier)
		if want := !strings.Contains(c[1], "WHERE"); ok != want {
			t.Errorf("%s follows from %s: %v", c[1], c[0], ok)
		}
	}
	// Nothing refuses such rows in a table on a server.
	live := policyOf(t, []byte(strings.Replace(string(enginetest.PolicyText("add-remove")), "{csv: t.csv}", "{postgres: {service: s}, table: public.t}", 1)))
	dropping := builtOn(t, live, "SELECT b, j % 2, COUNT(*) FROM t GROUP BY b, j % 2")
	all := builtOn(t, live, "SELECT b, COUNT(*) FROM t GROUP BY b")
	if _, ok := reuse.NewReader(all).Follow(all.Measures[0], all.Groupings()[0], dropping); ok {
		t.Error("a count of a table on a server follows from groups that drop rows")
	}
	byGroups := policyOf(t, enginetest.ByGroups("add-remove"))
	earlier, asked := builtOn(t, byGroups, "SELECT s, COUNT(*) FROM p GROUP BY s"), builtOn(t, byGroups, "SELECT COUNT(*) FROM p")
	if _, ok := reuse.NewReader(asked).Follow(asked.Measures[0], asked.Groupings()[0], earlier); ok {
		t.Error("a total follows from groups that a unit is bounded by")
	}
	asked = builtOn(t, byGroups, "SELECT s > 'a', COUNT(*) FROM p GROUP BY s > 'a'")
	if _, ok := reuse.NewReader(asked).Follow(asked.Measures[0], asked.Groupings()[0], earlier); ok {
		t.Error("coarser groups follow from groups that a unit is bounded by")
	}
}

// Whatever an expression does to a key, each of its values leads where every row that has it goes; and only what engines round differently is not
// followed.
func TestFollowsThroughAnyExpression(t *testing.T) {
	stattest.Cases(t, 500)
	p, err := policy.Decode([]byte(imagePolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	earlier := builtOn(t, p, "SELECT i, COUNT(*), SUM(k) FROM t GROUP BY i")
	var rows []enginetest.Row
	for n, i := range worlds(p, "i") {
		for range n + 1 { // so that no two groups are alike
			rows = append(rows, enginetest.Row{"i": i, "k": value.OfInt(5), "b": value.OfBool(true)})
		}
	}
	source := exactOver(&earlier.Statement, plan.Grouping{Keys: []int{0}}, 0, rows)
	of := regexp.MustCompile(`\b[kb]\b`)
	followed, picked := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		expr, where := arithmetic(t, 3), ""
		if rapid.Bool().Draw(t, "branching") {
			expr = branching(t)
		}
		if rapid.Bool().Draw(t, "picked") {
			where = " WHERE " + strings.ReplaceAll(condition(t, 2), "$x", "i")
		}
		sql := of.ReplaceAllStringFunc("SELECT COUNT(*) FROM t"+where+" GROUP BY "+expr, func(name string) string { return map[string]string{"k": "(i + 1)", "b": "(i > 2)"}[name] })
		asked, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		f, ok := reuse.NewReader(asked).Follow(asked.Measures[0], asked.Groupings()[0], earlier)
		if !ok {
			if where == "" && !strings.Contains(sql, "SQRT") && fmt.Sprint(asked.Keys[0].Expr) != fmt.Sprint(earlier.Keys[0].Expr) {
				t.Fatalf("%s does not follow", sql)
			}
			return
		}
		followed++
		if where != "" {
			picked++
		}
		for i, want := range exactOver(&asked.Statement, asked.Groupings()[0], 0, rows) {
			sum := new(big.Int)
			for _, c := range f.Cells[i] {
				sum.Add(sum, source[c])
			}
			if sum.Cmp(want) != 0 {
				t.Fatalf("%s: group %s has %s rows, and from the earlier release %s", sql, asked.Keys[0].Values[i], want, sum)
			}
		}
	})
	if followed < 30 || picked < 10 {
		t.Errorf("%d followed, %d of picked values: the test shows nothing", followed, picked)
	}
	t.Logf("%d followed, %d of picked values", followed, picked)
}
