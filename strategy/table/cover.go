package table

import (
	"cmp"
	"math/bits"
	"slices"
)

// clique is a set of classifications whose integers are rounded together.
type clique struct {
	keys   Keys
	shared Keys // with earlier cliques of the level; one of them contains it
	// sets from shared to keys, where each contains the one before. The sets between are those of margins where
	// possible
	chain []Keys
}

// covers returns cliques for each level. Each margin of the level, or of a finer one, is in a clique, and each clique is
// in one of the next coarser level. In the order of a level's cliques, each shares with all earlier ones what it shares
// with one of them. So when the cliques are rounded in this order, the integers of one clique alone decide the sums that
// the next must have.
//
// Classifications are the nodes of a graph that joins those of one margin. The cliques are those of the graph after
// eliminating its nodes, each time the node that adds the fewest lines [Lauritzen 1996, §2.1]. The order of elimination
// of the next coarser level adds only lines that this level has too, so it is tried if some clique is in none above.
func covers(levels int, margins []Margin) [][]clique {
	out := make([][]clique, levels)
	var order []int // of elimination, in the next coarser level
	for l := levels - 1; l >= 0; l-- {
		var sets []Keys
		for _, m := range margins {
			if m.Level <= l {
				sets = append(sets, m.Keys)
			}
		}
		if len(sets) == 0 {
			continue
		}
		own, cliques := eliminate(sets, nil)
		out[l] = joined(cliques, sets)
		if l+1 < levels && !within(out[l], out[l+1]) {
			own, cliques = eliminate(sets, order)
			if out[l] = joined(cliques, sets); !within(out[l], out[l+1]) {
				own, out[l] = order, slices.Clone(out[l+1])
			}
		}
		order = own
		for i := range out[l] {
			out[l][i].chain = chain(out[l][i], sets)
		}
	}
	return out
}

// eliminate returns the largest cliques of the graph of some sets after eliminating its nodes. If order is nil, it
// chooses the order, and returns it.
func eliminate(sets []Keys, order []int) (used []int, cliques []Keys) {
	var left Keys // the nodes that are not eliminated
	near := map[int]Keys{}
	for _, s := range sets {
		left |= s
		for _, k := range s.list() {
			near[k] |= s
		}
	}
	if left == 0 {
		return nil, []Keys{0}
	}
	added := func(k int) (n int) {
		for _, j := range (near[k] & left).list() {
			n += bits.OnesCount64(uint64(near[k] & left &^ near[j]))
		}
		return n
	}
	for left != 0 {
		next := slices.MinFunc(left.list(), func(a, b int) int {
			if order != nil {
				return slices.Index(order, a) - slices.Index(order, b)
			}
			return added(a) - added(b)
		})
		c := near[next] & left
		for _, j := range c.list() {
			near[j] |= c
		}
		left &^= 1 << next
		used = append(used, next)
		if !slices.ContainsFunc(cliques, func(of Keys) bool { return c&^of == 0 }) {
			cliques = append(cliques, c)
		}
	}
	return used, cliques
}

// joined orders cliques so that each shares with all earlier ones what it shares with one of them: it adds the clique
// that shares most with an earlier one (a junction tree, by Prim's algorithm). If no set contains what two cliques
// share, it makes them one, because nothing decides these sums.
func joined(cliques, sets []Keys) (out []clique) {
	left := slices.Clone(cliques)
	for len(left) > 0 {
		best, most, with := 0, Keys(0), -1
		for i, c := range left {
			for j, of := range out {
				if s := c & of.keys; bits.OnesCount64(uint64(s)) > bits.OnesCount64(uint64(most)) {
					best, most, with = i, s, j
				}
			}
		}
		if most != 0 && !slices.ContainsFunc(sets, func(s Keys) bool { return most&^s == 0 }) {
			cliques = slices.DeleteFunc(slices.Clone(cliques), func(c Keys) bool { return c == left[best] || c == out[with].keys })
			return joined(append(cliques, left[best]|out[with].keys), sets)
		}
		out = append(out, clique{keys: left[best], shared: most})
		left = slices.Delete(left, best, best+1)
	}
	return out
}

// within reports whether each clique is in one of the cliques above.
func within(cliques, above []clique) bool {
	return !slices.ContainsFunc(cliques, func(c clique) bool {
		return !slices.ContainsFunc(above, func(up clique) bool { return c.keys&^up.keys == 0 })
	})
}

// chain returns the sets through which a clique is rounded.
func chain(c clique, sets []Keys) []Keys {
	sets = slices.Clone(sets)
	slices.SortFunc(sets, func(a, b Keys) int {
		return cmp.Or(bits.OnesCount64(uint64(a))-bits.OnesCount64(uint64(b)), cmp.Compare(a, b))
	})
	out := []Keys{c.shared}
	for _, s := range append(sets, c.keys) {
		if last := out[len(out)-1]; s != last && last&^s == 0 && s&^c.keys == 0 {
			out = append(out, s)
		}
	}
	return out
}
