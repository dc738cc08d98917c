package plan

import (
	"cmp"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
)

// spread expands ROLLUP, CUBE and GROUPING SETS. GROUP BY becomes the list of its expressions (b.tree), and
// b.written lists which of them each set has, in the question's order.
func (b *keying) spread() error {
	i := slices.IndexFunc(b.tree.GroupBy, func(x query.Expr) bool { _, ok := x.(*query.Grouping); return ok })
	if i < 0 {
		return nil
	}
	b.setsAt = b.tree.GroupBy[i].Pos()
	tree := *b.tree
	tree.GroupBy = nil
	sets := [][]int{nil}
	for _, x := range b.tree.GroupBy {
		of, err := expand(x, &tree)
		if err != nil {
			return err
		}
		if sets, err = product(sets, of, x.Pos()); err != nil {
			return err
		}
	}
	b.tree, b.written = &tree, sets
	return nil
}

// expand returns the sets that one item of GROUP BY stands for, and adds its expressions to the tree's GROUP BY.
func expand(x query.Expr, tree *query.Select) ([][]int, error) {
	g, ok := x.(*query.Grouping)
	if !ok {
		text := query.Print(x)
		if i := slices.IndexFunc(tree.GroupBy, func(y query.Expr) bool { return query.Print(y) == text }); i >= 0 {
			return [][]int{{i}}, nil
		}
		tree.GroupBy = append(tree.GroupBy, x)
		return [][]int{{len(tree.GroupBy) - 1}}, nil
	}
	var each [][][]int
	for _, arg := range g.Args {
		of, err := expand(arg, tree)
		if err != nil {
			return nil, err
		}
		each = append(each, of)
	}
	var out [][]int
	switch g.Kind {
	case query.Together:
		out = [][]int{nil}
		for _, of := range each {
			out[0] = append(out[0], of[0]...)
		}
	case query.Rollup: // each argument of ROLLUP is one set
		for n := range len(each) + 1 {
			out = append(out, joined(each[:len(each)-n], func(int) bool { return true }))
		}
	case query.Cube:
		if len(each) > 6 {
			return nil, tooManySets(g.At)
		}
		for mask := range 1 << len(each) { // the set of all arguments first, then the one without the last argument
			out = append(out, joined(each, func(i int) bool { return mask>>(len(each)-1-i)&1 == 0 }))
		}
	default:
		for _, of := range each {
			out = append(out, of...)
		}
	}
	if len(out) > MaxSets {
		return nil, tooManySets(g.At)
	}
	return out, nil
}

// joined returns the union of the arguments for whose indices the function taken returns true. Each argument is one
// set.
func joined(each [][][]int, taken func(int) bool) []int {
	var out []int
	for i, of := range each {
		if taken(i) {
			out = append(out, of[0]...)
		}
	}
	return out
}

// product returns the union of each set in a with each set in b.
func product(a, b [][]int, at query.Pos) ([][]int, error) {
	if len(a)*len(b) > MaxSets {
		return nil, tooManySets(at)
	}
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out, nil
}

func tooManySets(at query.Pos) error {
	return bind.Refuse(
		at,
		"list only the sets that you need, with GROUPING SETS",
		"these are more than %d grouping sets",
		MaxSets,
	)
}

// groupSets sets the grouping sets as lists of keys: each once, finer sets first, in an order that depends on the
// keys alone. A single set with all keys is a plain GROUP BY, and has no sets.
func (b *keying) groupSets() error {
	if b.written == nil {
		return nil
	}
	of := make([][]int, len(b.written))
	for i, set := range b.written {
		for _, x := range set {
			of[i] = append(of[i], b.place[x])
		}
		slices.Sort(of[i])
		of[i] = slices.Compact(of[i])
	}
	if len(of) == 1 {
		return nil
	}
	if b.cells().Cells() == 0 && !b.open() { // the phase measure refuses unknown groups
		return bind.Refuse(b.setsAt, "group by something that has a value", "a GROUP BY expression has no possible value")
	}
	for _, keys := range of {
		if b.setOf(keys) < 0 {
			b.sets = append(b.sets, keys)
		}
	}
	slices.SortFunc(b.sets, func(x, y []int) int {
		return cmp.Or(-cmp.Compare(len(x), len(y)), slices.Compare(x, y))
	})
	if !fittable(b.keys, b.sets) {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or group by fewer expressions",
			"these grouping sets are too large to be fitted together",
		)
	}
	for _, keys := range of {
		b.shown = append(b.shown, b.setOf(keys))
	}
	return nil
}

// setOf returns the index in sets of the set with these keys, or −1 if there is none.
func (k *keyed) setOf(keys []int) int {
	return slices.IndexFunc(k.sets, func(set []int) bool { return slices.Equal(set, keys) })
}

// Limits on fitting the sets together: on the number of keys, on the number of sums that the fit computes, and on
// its work for pairs of sets. The sums are of each set's table over each subset of its keys. The work for a pair
// grows with the number of subsets of their common keys.
const (
	maxSetKeys = 16
	maxSums    = 1_000_000
	maxPairs   = 50_000
)

// fittable reports whether the noisy tables of all grouping sets can be fitted to each other within the limits on time
// and memory.
func fittable(keys []bounded.Key, sets [][]int) bool {
	if len(keys) > maxSetKeys {
		return false
	}
	sums, pairs := 0, 0
	for _, g := range sets {
		n := 1
		for _, k := range g { // at most MaxCells·2^maxSetKeys
			n *= len(keys[k].Values) + 1
		}
		sums += n
		for _, o := range sets {
			common := 0
			for _, k := range g {
				if slices.Contains(o, k) {
					common++
				}
			}
			pairs += 1 << common
		}
	}
	return sums <= maxSums && pairs <= maxPairs
}
