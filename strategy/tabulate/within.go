package tabulate

import (
	"context"
	"maps"
	"math"
	"slices"

	"dither/curator"
)

// within refuses declared totals of tables with a condition that exceed declared totals of the same rows without it.
func (g *group) within(ctx context.Context, c *curator.Session, s *Spec, groups []*group) error {
	if g.first.Where == "" || len(g.fixed) == 0 {
		return nil
	}
	all := &group{first: &Table{Name: g.first.Name, From: g.first.From}, places: g.places, fixed: map[[2]int]int64{}}
	if _, err := all.domain(ctx, c, s, g.request); err != nil {
		return err
	}
	all.ofPolicy(all.known)
	free := &group{space: all.space, fixed: maps.Clone(all.fixed)} // totals of all rows, whatever their classifications
	for _, o := range groups {
		if o.first.From == g.first.From && o.first.Where == "" && o.first.Sum == "" && g.knows(o) {
			all.include(o)
			if len(o.classes) == 0 {
				free.include(o)
			}
		}
	}
	most, own := all.most(), &group{space: all.space, fixed: map[[2]int]int64{}}
	own.include(g)
	for l, of := range free.rest() {
		for i, n := range of {
			most[l][i] = min(most[l][i], n)
		}
	}
	h := all.space.Hierarchy
	least := make([]int64, h.Nodes(0))
	for l, level := range h.Levels {
		var above []int64
		if level.Parent != nil {
			above = make([]int64, h.Nodes(l+1))
		}
		for i, n := range least {
			n = max(n, own.fixed[[2]int{l, i}])
			if n > most[l][i] {
				return misuse("correct the declared totals", "the declared totals with the condition %s have %d rows of %s %q, and "+
					"those without it at most %d", g.first.Where, n, level.Name, level.Labels[i], most[l][i])
			}
			if above != nil {
				above[level.Parent[i]] += n
			}
		}
		least = above
	}
	return nil
}

// knows reports whether every row that the tables of g know is known to those of o too, but for the conditions. A
// classification of o alone could be unknown for some of g's rows, which o's totals then leave out.
func (g *group) knows(o *group) bool {
	return (o.places == nil || o.places == g.places) && !slices.ContainsFunc(o.classes, func(c *class) bool {
		return !slices.ContainsFunc(g.classes, func(own *class) bool { return own.text == c.text })
	})
}

// include adds the declared totals of another group, by the names of levels and places. A group without places has that of
// all places.
func (g *group) include(o *group) {
	h, of := g.space.Hierarchy, o.space.Hierarchy
	for at, n := range o.fixed {
		l, node := len(h.Levels)-1, 0
		if o.places != nil {
			if l = h.Level(of.Levels[at[0]].Name); l < 0 {
				continue
			}
			node = slices.Index(h.Levels[l].Labels, of.Levels[at[0]].Labels[at[1]])
		}
		if node >= 0 && (o.places != nil || h.Nodes(l) == 1) {
			g.fixed[[2]int{l, node}] = n
		}
	}
}

// most returns the largest number of rows of each place that the declared totals allow, by level.
func (g *group) most() [][]int64 {
	h := g.space.Hierarchy
	out := make([][]int64, len(h.Levels))
	for l := range h.Levels {
		out[l] = slices.Repeat([]int64{math.MaxInt64}, h.Nodes(l))
		if l > 0 {
			sums := make([]int64, h.Nodes(l))
			for i, p := range h.Levels[l-1].Parent {
				if n := out[l-1][i]; n == math.MaxInt64 || sums[p] == math.MaxInt64 {
					sums[p] = math.MaxInt64
				} else {
					sums[p] += n
				}
			}
			copy(out[l], sums)
		}
		for i := range out[l] {
			if n, ok := g.fixed[[2]int{l, i}]; ok {
				out[l][i] = n
			}
		}
	}
	for l := len(h.Levels) - 2; l >= 0; l-- {
		for i, p := range h.Levels[l].Parent {
			out[l][i] = min(out[l][i], out[l+1][p])
		}
	}
	return out
}

// rest is most, less what the declared totals of a place's neighbours leave of the place above them. The totals must count
// the same rows.
func (g *group) rest() [][]int64 {
	h, out := g.space.Hierarchy, g.most()
	least := make([][]int64, len(h.Levels))
	for l := range h.Levels {
		least[l] = make([]int64, h.Nodes(l))
		if l > 0 {
			for i, p := range h.Levels[l-1].Parent {
				least[l][p] += least[l-1][i]
			}
		}
		for i := range least[l] {
			if n, ok := g.fixed[[2]int{l, i}]; ok {
				least[l][i] = n
			}
		}
	}
	for l := len(h.Levels) - 2; l >= 0; l-- {
		sums := make([]int64, h.Nodes(l+1))
		for i, p := range h.Levels[l].Parent {
			sums[p] += least[l][i]
		}
		for i, p := range h.Levels[l].Parent {
			if out[l+1][p] < math.MaxInt64 {
				out[l][i] = min(out[l][i], max(0, out[l+1][p]-(sums[p]-least[l][i])))
			}
		}
	}
	return out
}
