package tabulate

import (
	"math"
	"slices"

	"dither/strategy/table"
)

// All is the label of a sum over a column whose hierarchy has no level of all places.
const All = "(all)"

// keysOf returns the classifications of a table's cells. The first are those of the whole table. If it has subtotals, those
// without some of the columns follow.
func (g *group) keysOf(s *Spec, t *Table) []table.Keys {
	out := []table.Keys{0}
	for _, column := range t.Columns {
		if s.isTotal(column) {
			continue
		}
		k := g.class(s, column)
		with := g.space.Key(k, g.classes[k].level(column))
		var next []table.Keys
		for _, keys := range out {
			next = append(next, keys|with)
		}
		if t.Subtotals {
			next = append(next, out...)
		}
		out = next
	}
	return out
}

// all returns the label of the sum over a classification.
func (c *class) all() string {
	if c.levels != nil && c.levels.Total != "" {
		return c.levels.Total
	}
	return All
}

// has reports whether some cells have the classification.
func (g *group) has(keys table.Keys, k int) bool {
	return g.space.LevelOf(keys, k) < len(g.classes[k].depth)
}

// distinct refuses a value that has the label of a table's subtotals.
func (g *group) distinct(t *Table, keys table.Keys) error {
	for k, c := range g.classes {
		if !t.Subtotals || !g.has(keys, k) {
			continue
		}
		if slices.Contains(g.space.Classes[k].Levels[g.space.LevelOf(keys, k)].Labels, c.all()) {
			return misuse("leave out subtotals", "table %s has a value %q of %s, which is the label of its subtotals",
				t.Name, c.all(), c.text)
		}
	}
	return nil
}

// slot is a cell of a table within a place.
type slot struct {
	of     int      // the index of its classifications among those of the table
	at     int      // its index within the place, among the cells of these classifications
	labels []string // for each of the table's columns
	order  []int    // sorts the cells of a place: sums follow the values that they add up
}

// slots returns the cells of a table within a place, in the order in which the table shows them.
func (g *group) slots(s *Spec, t *Table, of []table.Keys) (all []slot) {
	for j, keys := range of {
		out := []slot{{of: j, labels: slices.Clone(t.Columns)}} // a total has its own name as its label
		for k, c := range g.classes {
			if !g.has(of[0], k) {
				continue
			}
			column := slices.IndexFunc(t.Columns, func(column string) bool {
				return !s.isTotal(column) && g.class(s, column) == k
			})
			labels, first := []string{c.all()}, math.MaxInt
			if g.has(keys, k) {
				labels, first = g.space.Classes[k].Levels[g.space.LevelOf(keys, k)].Labels, 0
			}
			var next []slot
			for _, earlier := range out {
				for i, text := range labels {
					own := slot{of: j, labels: slices.Clone(earlier.labels), order: append(slices.Clone(earlier.order), first+i)}
					own.labels[column] = text
					next = append(next, own)
				}
			}
			out = next
		}
		for at := range out {
			out[at].at = at
		}
		all = append(all, out...)
	}
	slices.SortStableFunc(all, func(a, b slot) int { return slices.Compare(a.order, b.order) })
	return all
}
