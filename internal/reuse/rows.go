package reuse

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/value"
)

// compareRows finds which values of q's keys p picks, and where they lead to; false where p's rows are not those of
// picked cells.
func (c *comparison) compareRows() bool {
	p, q := c.p, c.q
	if !sameOrigins(p, q) || p.Unit != nil && (p.Part == nil) != (q.Part == nil) {
		return false
	}
	extra, ok := c.reader.further(q.Where)
	if !ok || len(extra) > 0 && p.Unit != nil || !c.picks(extra) {
		return false
	}
	dropped := make([]bool, len(q.Keys)) // in p too: the rows that q drops for the key's sake
	for k := range q.Keys {
		dropped[k] = complete(&q.Keys[k]) || c.picked[k] != nil
	}
	return c.lead(dropped) && !slices.Contains(dropped, false)
}

// sameOrigins reports that columns of both plans have the values of one version of a public table.
func sameOrigins(p, q *plan.Plan) bool {
	same := func(c, o bounded.Column) bool {
		if c.ValuesFrom == nil || o.ValuesFrom == nil {
			return c.ValuesFrom == o.ValuesFrom
		}
		return *c.ValuesFrom == *o.ValuesFrom
	}
	return !slices.ContainsFunc(p.Columns, func(c bounded.Column) bool {
		return slices.ContainsFunc(q.Columns, func(o bounded.Column) bool { return c.Name == o.Name && !same(c, o) })
	})
}

// complete reports that no row is dropped for the key's sake.
func complete(k *bounded.Key) bool {
	return !k.Expr.Nullable || k.Index(value.NullOf(k.Expr.Type)) >= 0
}

// picks finds the values of q's keys that further conditions leave, by key: each condition is about one key alone.
// It is not one for picking where it would be true of a row that q dropped, or where no value is left.
func (c *comparison) picks(extra []*bounded.Expr) bool {
	c.picked = map[int][]bool{}
	for _, e := range extra {
		k, f := c.image(e)
		if k < 0 || !complete(&c.q.Keys[k]) && f.null.IsTrue() {
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

// led is a key as a function of an earlier release's.
type led struct {
	key int   // that one; −1 where it is none's
	to  []int // for each of its values, the place of the one that it leads to; −1 where that is none of the key's
}

// lead finds of which of q's keys each of p's is a function: of the very same, or else of one that it reads rows
// through. It is false where p drops rows that q does not, and tells in dropped of which of q's keys p drops the
// rows that q does.
//
//   - q drops the rows where its key is NULL, if that is none of its values. p drops them where the key is one of
//     p's, or some key of p that is a function of it has, at NULL, none of its values.
//   - p drops the rows where its key is NULL, if that is none of its values. Where it is a function of q's key,
//     none of this key's values may lead there. (None does: what can make NULL of rows stands in q's key too, or
//     NULL is among the values of p's.)
//   - A value of q's that leads to one that p's key is known not to have is no row's: its cells are 0 for all
//     rows, in a part of p's or not.
func (c *comparison) lead(dropped []bool) bool {
	c.leads = make([]led, len(c.p.Keys))
	for i := range c.p.Keys {
		key := &c.p.Keys[i]
		if k := keyLike(c.q, key); k >= 0 {
			c.leads[i], dropped[k] = led{k, places(len(key.Values))}, true
			continue
		}
		k, f := c.image(key.Expr)
		if k < 0 || c.q.Keys[k].Expr.Same(key.Expr) { // the same with other values is not compared
			c.leads[i].key = -1
			if !complete(key) {
				return false
			}
			continue
		}
		c.leads[i].key = k
		for _, v := range f.to {
			at := key.Index(v)
			c.leads[i].to = append(c.leads[i].to, at)
			if at < 0 && v.Null {
				return false
			}
		}
		dropped[k] = dropped[k] || key.Index(f.null) < 0
	}
	return true
}

// places are 0, 1, … below n.
func places(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// findCells finds the cells of q's table that make up each cell of g; nil where q has no such table.
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
	if !slices.ContainsFunc(q.Groupings(), func(s plan.Grouping) bool { // some grouping of q has all of these
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
