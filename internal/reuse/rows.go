package reuse

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// compareRows compares the new plan p with the earlier plan q. It finds which values of q's keys the conditions of p
// admit, and which keys of q determine those of p. It returns false if the rows of p are not exactly the rows in the
// admitted cells of q.
func (c *comparison) compareRows() bool {
	p, q := c.p, c.q
	if !sameSource(p, q) || !sameOrigins(p, q) || p.Unit != nil && (p.Part == nil) != (q.Part == nil) {
		return false
	}
	extra, ok := c.reader.further(q.Where)
	if !ok || len(extra) > 0 && !everyRow(p) || !c.picks(extra) {
		return false
	}
	dropped := make([]bool, len(q.Keys)) // by key of q: p also drops every row that this key drops
	for k := range q.Keys {
		dropped[k] = q.Whole(k) || c.picked[k] != nil
	}
	return c.lead(dropped) && !slices.Contains(dropped, false)
}

// sameSource reports whether both plans read the same table alone, or the same relation.
func sameSource(p, q *plan.Plan) bool {
	if p.Source == nil || q.Source == nil {
		return p.Source == q.Source
	}
	return p.Source.String() == q.Source.String()
}

// sameOrigins reports whether the columns that both plans have take their values from the same version of a public
// table. The columns of plans over the same relation are those of its tables.
func sameOrigins(p, q *plan.Plan) bool {
	same := func(c, o bounded.Column) bool {
		if c.ValuesFrom == nil || o.ValuesFrom == nil {
			return c.ValuesFrom == o.ValuesFrom
		}
		return *c.ValuesFrom == *o.ValuesFrom
	}
	if p.Source != nil {
		return slices.EqualFunc(scanned(p.Source), scanned(q.Source), same)
	}
	return !slices.ContainsFunc(p.Columns, func(c bounded.Column) bool {
		return slices.ContainsFunc(q.Columns, func(o bounded.Column) bool { return c.Name == o.Name && !same(c, o) })
	})
}

// scanned lists the columns of the tables that a relation reads, in the order of its text.
func scanned(s *bounded.Source) (out []bounded.Column) {
	s.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan {
			out = append(out, s.Columns...)
		}
	})
	return out
}

// picks finds, for each key of the earlier plan q, the values that the conditions extra of the new plan p admit. Each
// condition must be a function of one key. picks returns false if a condition is true for a row that q drops, or if no
// value of a key is left.
func (c *comparison) picks(extra []*bounded.Expr) bool {
	c.picked = map[int][]bool{}
	for _, e := range extra {
		k, f := c.image(e)
		if k < 0 || !c.q.Whole(k) && f.null.IsTrue() {
			return false
		}
		if c.picked[k] == nil {
			c.picked[k] = slices.Repeat([]bool{true}, len(f.to))
		}
		for i, v := range f.to {
			c.picked[k][i] = c.picked[k][i] && v.IsTrue()
		}
	}
	for _, kept := range c.picked {
		if !slices.Contains(kept, true) {
			return false
		}
	}
	return true
}

// led is a key of the new plan p as a function of a key of the earlier plan q.
type led struct {
	key int // the index of q's key; −1 if no key of q determines this one
	// for each value of q's key: the index of the value of p's key that it determines; −1 if p's key does not have
	// that value
	to []int
}

// lead finds, for each key of the new plan p, the key of the earlier plan q that determines it. This is the same key,
// or a key of which it is a function. lead returns false if p's keys could drop a row that q does not drop. It sets
// dropped[k] if p's keys drop every row that q's key k drops.
//
//   - A key of q drops the rows in which it is NULL, unless NULL is one of its values. p drops them too if p has
//     the same key. It also does if a key of p is a function of q's key, and the function's value at NULL is not
//     among the values of p's key.
//   - A key of p drops the rows in which it is NULL, unless NULL is one of its values. Such a NULL may be the image of a
//     value of q's key. Then these rows are in cells of q that lead to no cell of p, so nothing adds them up, if p has
//     one grouping, by all of its keys. lead returns false if p has several, and if the rows of a unit compete for
//     its caps, which dropped rows do only in q.
//   - If the function maps a value of q's key to a value other than NULL that p's key does not have, then no row
//     of p has that value of q's key, because p's key has all values that can occur in a row that satisfies p's
//     WHERE. The cells of q with that value are 0 for all rows, or further conditions of p exclude them.
func (c *comparison) lead(dropped []bool) bool {
	c.leads = make([]led, len(c.p.Keys))
	for i := range c.p.Keys {
		key := &c.p.Keys[i]
		if k := keyLike(c.q, key); k >= 0 {
			c.leads[i], dropped[k] = led{k, places(len(key.Values))}, true
			continue
		}
		k, f := c.image(key.Expr)
		// a key with the same expression and other known values is not compared further
		if k < 0 || c.q.Keys[k].Expr.Same(key.Expr) {
			c.leads[i].key = -1
			if !c.p.Whole(i) {
				return false
			}
			continue
		}
		c.leads[i].key = k
		for _, v := range f.to {
			at := key.Index(v)
			c.leads[i].to = append(c.leads[i].to, at)
			if at < 0 && v.Null && (c.p.Sets != nil || !everyRow(c.p)) {
				return false
			}
		}
		dropped[k] = dropped[k] || key.Index(f.null) < 0
	}
	return true
}

// places returns 0, 1, …, n−1.
func places(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// findCells finds the cells of the earlier plan q's table that add up to each cell of g. It returns nil if q has no
// table over the needed keys.
func (c *comparison) findCells(g plan.Grouping) *Following {
	p, q := c.p, c.q
	needed := make([]bool, len(q.Keys))
	for k := range c.picked {
		needed[k] = true
	}
	for _, k := range g.Keys {
		if c.leads[k].key < 0 {
			return nil
		}
		needed[c.leads[k].key] = true
	}
	table := plan.Grouping{}
	for k, is := range needed {
		if is {
			table.Keys = append(table.Keys, k)
		}
	}
	if !slices.ContainsFunc(q.Groupings(), func(s plan.Grouping) bool { // some grouping of q has all keys of the table
		return !slices.ContainsFunc(table.Keys, func(k int) bool { return !s.Has(k) })
	}) {
		return nil
	}
	out := &Following{Keys: table.Keys, Cells: make([][]int, g.Cells(&p.Statement))}
	at := make([]int, len(q.Keys))
	for i := range table.Cells(&q.Statement) {
		left, rest := true, i
		for _, k := range slices.Backward(table.Keys) {
			n := len(q.Keys[k].Values)
			at[k] = rest % n
			rest /= n
			left = left && (c.picked[k] == nil || c.picked[k][at[k]])
		}
		cell := 0
		for _, k := range g.Keys {
			to := c.leads[k].to[at[c.leads[k].key]]
			left = left && to >= 0
			cell = cell*len(p.Keys[k].Values) + to
		}
		if left {
			out.Cells[cell] = append(out.Cells[cell], i)
		}
	}
	return out
}
