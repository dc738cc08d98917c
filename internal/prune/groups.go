package prune

import (
	"slices"

	"dither/internal/bounded"
)

// Groups says which combinations of the values of keys can have rows.
type Groups struct {
	Values [][]int // for each key, the indices of the values that can occur, in increasing order
	joint  []joint
}

// joint says which combinations of the values of some keys can occur, if not all can.
type joint struct {
	keys []int // at least two, in increasing order
	// by combination of the keys' indices in Values, the last key running fastest
	possible []bool
	sizes    []int
}

// All reports whether every combination of these numbers of values can occur.
func (g *Groups) All(keys []bounded.Key) bool {
	for i := range keys {
		if len(g.Values[i]) < len(keys[i].Values) {
			return false
		}
	}
	return len(g.joint) == 0
}

// Has reports whether a combination can occur. The index of each key is one in its list in Values.
func (g *Groups) Has(cell []int) bool {
	return !slices.ContainsFunc(g.joint, func(j joint) bool {
		at := 0
		for i, k := range j.keys {
			at = at*j.sizes[i] + cell[k]
		}
		return !j.possible[at]
	})
}

// Groups returns which groups the rows can be in. All values of the keys must be known.
func (r *Rows) Groups(keys []bounded.Key) *Groups {
	out := &Groups{Values: make([][]int, len(keys))}
	for i := range keys {
		out.Values[i] = []int{}
		if !r.none {
			out.Values[i] = r.values(&keys[i])
		}
	}
	if !r.none && !r.search.spent() {
		for _, connected := range r.connected(keys) {
			if j, ok := r.jointly(keys, connected, out.Values); ok {
				out.joint = append(out.joint, j)
			}
		}
	}
	return out
}

// values returns the indices of the values that a key can have.
func (r *Rows) values(k *bounded.Key) []int {
	is := r.search.eval(k.Expr, r.facts)
	var likely, out []int
	for i, v := range k.Values {
		if is.has(v) {
			likely = append(likely, i)
		}
	}
	if !slices.ContainsFunc(r.facts.goals, func(g goal) bool { return r.share(g.e, k.Expr) }) {
		return likely // nothing that is left of the condition concerns the key
	}
	for _, i := range likely {
		f := r.facts.clone()
		if r.search.assume(goal{k.Expr, single(k.Values[i])}, f) && r.possible(f, depth) {
			out = append(out, i)
		}
		if r.search.spent() {
			return likely
		}
	}
	return out
}

// share reports whether two expressions read the same column.
func (r *Rows) share(x, y *bounded.Expr) bool {
	return slices.ContainsFunc(r.columns(x), func(c *bounded.Expr) bool {
		return slices.ContainsFunc(r.columns(y), c.Same)
	})
}

// connected returns the lists of at least two keys that read the same columns, or columns that one condition reads.
func (r *Rows) connected(keys []bounded.Key) (out [][]int) {
	var all []*bounded.Expr
	for i := range keys {
		all = append(all, keys[i].Expr)
	}
	for _, g := range r.facts.goals {
		all = append(all, g.e)
	}
	of := make([]int, len(all)) // the first expression of each one's part
	for i := range all {
		of[i] = i
		for j := range i {
			if of[i] != of[j] && r.share(all[i], all[j]) {
				for k, was := 0, of[i]; k <= i; k++ {
					if of[k] == was {
						of[k] = of[j]
					}
				}
			}
		}
	}
	for first := range keys {
		var part []int
		for k := range keys {
			if of[k] == of[first] {
				part = append(part, k)
			}
		}
		if len(part) > 1 && part[0] == first {
			out = append(out, part)
		}
	}
	return out
}

// maxJoint bounds the combinations of keys that are tried together.
const maxJoint = 1 << 20

// jointly tries the combinations of the values of some keys. The boolean is false if all can occur, or if they are too
// many to try.
func (r *Rows) jointly(keys []bounded.Key, connected []int, values [][]int) (joint, bool) {
	out, n := joint{keys: connected}, 1
	for _, k := range connected {
		size := len(values[k])
		if out.sizes = append(out.sizes, size); size == 0 || n > maxJoint/size {
			return joint{}, false
		}
		n *= size
	}
	out.possible = make([]bool, n)
	found := 0
	var try func(i, at int, f *facts)
	try = func(i, at int, f *facts) {
		switch {
		case r.search.spent():
			return
		case i == len(connected):
			if r.possible(f, depth) {
				out.possible[at] = true
				found++
			}
			return
		}
		k := connected[i]
		is := r.search.eval(keys[k].Expr, f)
		for j, v := range values[k] {
			if v := keys[k].Values[v]; is.has(v) {
				if each := f.clone(); r.search.assume(goal{keys[k].Expr, single(v)}, each) {
					try(i+1, at*out.sizes[i]+j, each)
				}
			}
		}
	}
	try(0, 0, r.facts)
	return out, found < n && !r.search.spent()
}
