package enginetest

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
