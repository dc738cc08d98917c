package enginetest

import (
	"strings"

	"pgregory.net/rapid"
)

// PerGroup draws a question whose aggregates have bounds per group, under max_groups_contributed = NULL: a unit counts
// in as many groups as it may have rows. Most of its keys have a group of NULL. The planner accepts most of these
// questions.
func PerGroup(t *rapid.T, table string) string {
	g := generator{t}
	var items []string
	for range rapid.IntRange(1, 2).Draw(t, "aggregates") {
		of := g.pick("COUNT(*", "COUNT("+g.number(1), "SUM("+g.number(2), "SUM(i", "SUM(-k")
		bounds := g.pick("(0, 1)", "(0, 3)", "(-2, 5)", "(1, 2)", "(-4, -1)", "(-1e3, 7)")
		if strings.HasPrefix(of, "SUM") {
			bounds = g.pick(bounds, "(-0.5, 2.25)", "(-1e6, 1e6)")
		}
		items = append(items, of+", contribution_bounds_per_group => "+bounds+")")
	}
	sql := g.from("WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=NULL) "+strings.Join(items, ", "), table)
	keys := []string{g.pick("i", "k", "s", "b", "d", g.group())}
	if g.chance(2) {
		keys = append(keys, g.pick("k", "b", "s"))
	}
	by := " GROUP BY " + strings.Join(keys, ", ")
	return sql + g.pick(by, by, " GROUP BY "+g.sets(keys), "")
}

// named draws an aggregate with named arguments. They change its bounds or its share of the price.
func (g generator) named() string {
	bounds := func() string {
		return "(" + g.pick("-3", "0", "1", "-1e6", "-0.5", "2") + ", " +
			g.pick("2", "3", "5", "0.25", "1000000", "1.5e300") + ")"
	}
	weight := g.pick("", "", ", weight => 2", ", weight => 0.125")
	switch g.pick("row", "row", "row", "group", "group", "count", "clipped", "auto", "weight") {
	case "group":
		return "SUM(" + g.number(2) + ", contribution_bounds_per_group => " + bounds() + weight + ")"
	case "count":
		return g.pick("COUNT(*", "COUNT("+g.number(1), "ANON_COUNT(s") + ", contribution_bounds_per_group => " +
			g.pick("(0, 1)", "(0, 2)", "(1, 2)", "(-1, 7)", "(2, 2)") + weight + ")"
	case "clipped":
		return "CLIPPED(" + g.number(2) + g.pick("", ", bounds => "+bounds()) + weight + ")"
	case "auto":
		return g.pick("SUM", "AVG") + "(" + g.pick(g.number(2)+", ", "n, contribution_bounds_per_row => "+bounds()+", ",
			"z, contribution_bounds_per_row => (-1e6, 7), ") + "bounds => auto" + weight + ")"
	case "weight":
		return g.pick("SUM", "AVG", "STDDEV", "COUNT") + "(" + g.number(1) + ", " +
			g.pick("weight => 3", "epsilon => 0.125") + ")"
	}
	return g.pick("SUM", "AVG", "VAR_POP", "STDDEV") + "(" + g.number(2) + ", " +
		g.pick("bounds", "contribution_bounds_per_row") + " => " + bounds() + weight + ")"
}
