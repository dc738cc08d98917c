package enginetest

import (
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/value"
)

// OpenedRelations is RelationPolicy with a budget in ρ, under which unknown groups can be selected.
func OpenedRelations(neighbours string, byGroups bool) []byte {
	return opened(RelationPolicy(neighbours, byGroups))
}

// Meeting draws a question over a relation that asks for more than sums over known groups: distinct values, named
// or automatic bounds, quantiles, modes, grouping sets, or unknown groups. ofRows reports whether each row is a
// unit.
func Meeting(t *rapid.T) (request plan.Request, ofRows bool) {
	g := generator{t}
	r := g.relation(2)
	var items, groups []string
	kind := g.pick("named", "found", "ordered", "sets", "open", "open")
	for range rapid.SampledFrom([]int{1, 2, 2}).Draw(t, "aggregates") {
		item := g.over(r)
		switch {
		case kind == "open" && len(items) == 0 && g.chance(2), kind == "sets" && len(items) == 0 && g.chance(3),
			kind == "ordered" && len(items) > 0 && g.chance(2):
			item = g.pick("SUM", "AVG") + "(" + g.pick(r.numbers...) + ", bounds => auto)"
		case kind == "ordered" && g.chance(2), kind == "ordered" && len(items) == 0, kind == "sets" && g.chance(4):
			item = g.orderedOver(r)
		case kind == "found" && len(items) == 0:
			item = g.pick("SUM", "AVG") + "(" + g.pick(r.numbers...) + ", bounds => auto)"
		case g.chance(2):
			item = g.namedOver(r)
		}
		items = append(items, item)
	}
	if len(r.keys) > 0 && (kind == "sets" || g.chance(2)) {
		groups = append(groups, g.pick(r.keys...))
	}
	if kind == "open" {
		groups = append(groups, g.pick(r.open()...))
		request.Unknown.Other = g.chance(2)
	}
	sql := "SELECT " + strings.Join(items, ", ") + " FROM " + r.from
	var conditions []string
	if r.where != "" {
		conditions = append(conditions, r.where)
	}
	if g.chance(4) {
		conditions = append(conditions, g.where(r))
	}
	if len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	switch {
	case kind == "sets" && len(groups) > 0:
		sql += " GROUP BY " + g.sets(append(groups, g.pick(r.keys...)))
	case len(groups) > 0:
		sql += " GROUP BY " + strings.Join(groups, ", ")
	}
	request.SQL = sql
	request.AutoRows = r.relation != "t" && g.chance(4)
	return request, r.relation == "t"
}

// open returns expressions whose values are unknown in most cases.
func (r columnsOf) open() []string {
	out := []string{r.numbers[0] + " * 100003"}
	for table, columns := range map[string][]string{
		"p a": {"a.id", "a.id"}, "v b": {"b.j", "b.ref"},
		"l b": {"b.line", "b.parent"},
	} {
		if strings.Contains(r.from, table) && !strings.Contains(r.from, "(") {
			out = append(out, columns...)
		}
	}
	slices.Sort(out)
	return out
}

// namedOver draws an aggregate of distinct values or with named arguments.
func (g generator) namedOver(r columnsOf) string {
	n := g.pick(r.numbers...)
	bounds := g.pick("(0, 3)", "(-2, 5)", "(1, 2.5)", "(2, 4)")
	switch g.pick("distinct", "distinct", "group", "count", "row", "auto", "clipped", "weight") {
	case "distinct":
		if len(r.keys) > 0 && g.chance(2) {
			n = g.pick(r.keys...)
		}
		return "COUNT(DISTINCT " + n + ")"
	case "group":
		return "SUM(" + n + ", contribution_bounds_per_group => " + bounds + ")"
	case "count":
		return "COUNT(*, contribution_bounds_per_group => " + g.pick("(0, 1)", "(0, 2)", "(1, 2)") + ")"
	case "auto":
		return "SUM(" + n + ", bounds => auto)"
	case "clipped":
		return "CLIPPED(" + n + ")"
	case "weight":
		return "SUM(" + n + ", weight => 3)"
	}
	return "SUM(" + n + ", contribution_bounds_per_row => " + bounds + ")"
}

// orderedOver draws a quantile or a mode.
func (g generator) orderedOver(r columnsOf) string {
	n := g.pick(r.numbers...)
	if len(r.keys) > 0 && g.chance(3) {
		return "MODE() WITHIN GROUP (ORDER BY " + g.pick(r.keys...) + ")"
	}
	return g.pick("MEDIAN("+n+")", "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY "+n+")", "APPROX_QUANTILES("+n+", 2)")
}

// GroupsOf is [Groups] for the rows of a bounded.Source.
func GroupsOf(b *bounded.Statement, tables Tables) map[string][]*big.Int {
	return groupsOf(func(add func([]value.Value, []*big.Int)) { SumOf(b.Counting(), tables, add) })
}

// OrderCellsOf is [OrderCells] for the rows of a table or of a bounded.Source.
func OrderCellsOf(b *bounded.Statement, tables Tables, add func(keys []value.Value, v int64)) {
	for _, p := range piecesOf(b, tables) {
		if p.values[0] != nil {
			add(p.keys, p.sums[0].Int64())
		}
	}
}
