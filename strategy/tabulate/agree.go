package tabulate

import (
	"maps"
	"math"
	"slices"
)

// agree refuses declared totals of tables over different hierarchies of one column that contradict each other. Such tables
// are fitted apart, and each would show its totals as exact. Only tables that count the same rows are compared: those from
// the same source, with the same condition and the same classifications.
func agree(groups []*group) error {
	for i, g := range groups {
		for _, o := range groups[:i] {
			if g.overSameKey(o) {
				if err := g.agrees(o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// overSameKey reports whether two groups count the same rows by the values of the same column, in different hierarchies.
func (g *group) overSameKey(o *group) bool {
	return g.places != nil && o.places != nil && g.places != o.places && g.places.Key == o.places.Key &&
		g.first.From == o.first.From && g.first.Where == o.first.Where && g.first.Sum == "" && o.first.Sum == "" &&
		slices.EqualFunc(g.classes, o.classes, func(a, b *class) bool { return a.text == b.text })
}

// agrees compares the totals of values of the column, and of all values together.
func (g *group) agrees(o *group) error {
	values, all := g.ends()
	others, ofAll := o.ends()
	for i, n := range others {
		if known, ok := values[i]; ok && known != n {
			return misuse("correct the declared totals", "the declared totals have %d rows of %s %q over %s, and %d over %s", known,
				g.places.Key, g.space.Hierarchy.Levels[0].Labels[i], g.places.Name, n, o.places.Name)
		}
	}
	if all != nil && ofAll != nil && *all != *ofAll {
		return misuse("correct the declared totals", "the declared totals have %d rows in all over %s, and %d over %s", *all,
			g.places.Name, *ofAll, o.places.Name)
	}
	if all == nil {
		all = ofAll
	}
	sum := int64(0)
	maps.Copy(values, others)
	for _, n := range values {
		sum += min(n, math.MaxInt64-sum)
	}
	if all != nil && sum > *all {
		return misuse("correct the declared totals", "the declared totals of values of %s over %s and %s add up to %d rows, and "+
			"those of all rows to %d", g.places.Key, g.places.Name, o.places.Name, sum, *all)
	}
	return nil
}

// ends returns the declared totals of the column's values, and that of all values together, or nil.
func (g *group) ends() (values map[int]int64, all *int64) {
	values = map[int]int64{}
	h := g.space.Hierarchy
	top := len(h.Levels) - 1
	for at, n := range g.fixed {
		if at[0] == 0 {
			values[at[1]] = n
		}
		if at[0] == top && h.Nodes(top) == 1 {
			all = &n
		}
	}
	return values, all
}
