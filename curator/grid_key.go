package curator

import (
	"slices"

	"dither/internal/query"
	"dither/internal/value"
)

// gridKey is a key of the histogram.
type gridKey struct {
	expr   query.Expr
	place  int // among the keys; −1 before it is used
	values int
	usable bool
	masks  map[string][]int // by condition: the values for which it is TRUE; nil if that is not known
	column string           // the column that the key is; "" for other expressions
	drops  bool             // the key drops the rows without a known value
	shown  []any            // the known values, if usable
	of     value.Type
	whole  query.Expr // the key with a further value for these rows; nil if no question counts them
	order  []int      // with whole: the place of each known value in its list of values, and of the further value
}

// condition restricts an answer to the rows for which a condition is TRUE: by the values of the one column that the
// condition reads, or by the condition itself as a key.
func (g *gridding) condition(a *GridAnswer, x query.Expr) {
	if column := onlyColumn(x); column != nil {
		k := g.key(column)
		if values := g.mask(k, x); values != nil {
			a.column(g.use(k)).only(values)
			return
		}
	}
	k := g.key(&query.Is{X: x, What: query.IsTrue})
	a.column(g.use(k)).only([]int{1}) // FALSE, TRUE
}

// onlyColumn returns the only column that an expression reads; nil if it reads none, several, or a subquery.
func onlyColumn(x query.Expr) (only query.Expr) {
	several := false
	query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		switch e.(type) {
		case *query.Column:
			several = several || only != nil && query.Print(only) != query.Print(e)
			only = e
		case *query.Nested, *query.Star:
			several = true
		}
		return nil, false
	})
	if several {
		return nil
	}
	return only
}

// key returns the key of an expression.
func (g *gridding) key(x query.Expr) *gridKey {
	text := query.Print(x)
	if k, ok := g.known[text]; ok {
		return k
	}
	k := &gridKey{expr: x, place: -1, masks: map[string][]int{}}
	if p, err := g.planned(nil, x); err == nil {
		k.shown = domainValues(p)[0]
		k.values, k.usable = len(k.shown), true
		k.of, k.column = p.Base.Keys[0].Expr.Type, keyColumn(&p.Base, 0)
		k.drops = !slices.Contains(k.shown, nil) && !g.c.certain(&p.Base, p.Base.Keys[0].Expr)
	}
	g.known[text] = k
	return k
}

// use returns the place of a key, which it adds to the histogram.
func (g *gridding) use(k *gridKey) int {
	if k.place < 0 {
		k.place = len(g.keys)
		g.keys = append(g.keys, k)
	}
	return k.place
}

// mask returns the values of a key for which a condition is TRUE in every row, if it is not TRUE in any row with
// another value. If the key drops rows without a known value, their place is that after all values. Otherwise, and if
// that is unknown, it returns nil. The condition reads the key's column alone, so each value decides it: a value is
// possible where the condition is TRUE, or where it is not, never in both.
func (g *gridding) mask(k *gridKey, x query.Expr) []int {
	if !k.usable {
		return nil
	}
	text := query.Print(x)
	if out, ok := k.masks[text]; ok {
		return out
	}
	var sides [2][]bool
	for i := range sides {
		p, err := g.planned(&query.Is{X: x, What: query.IsTrue, Not: i == 1}, k.expr)
		if err != nil || len(p.KeyValues()[0]) != k.values {
			return nil
		}
		if sides[i] = p.Possible(); len(sides[i]) != k.values {
			return nil
		}
	}
	out := []int{}
	for v := range k.values {
		switch {
		case sides[0][v] && sides[1][v]:
			k.masks[text] = nil
			return nil
		case sides[0][v]:
			out = append(out, v)
		}
	}
	if k.drops {
		without, known := g.withoutValue(k, x)
		if !known {
			k.masks[text] = nil
			return nil
		}
		if without {
			out = append(out, k.values)
		}
	}
	k.masks[text] = out
	return out
}

// column returns the set of the answer for the key at a place.
func (a *GridAnswer) column(place int) *GridColumn {
	for len(a.Columns) <= place {
		a.Columns = append(a.Columns, GridColumn{All: true})
	}
	return &a.Columns[place]
}

// only keeps the values of a set that are in another one.
func (c *GridColumn) only(values []int) {
	if c.All {
		c.All, c.Values = false, slices.Clone(values)
		return
	}
	c.Values = slices.DeleteFunc(c.Values, func(v int) bool {
		_, in := slices.BinarySearch(values, v)
		return !in
	})
}

// merge makes one key of keys that the plan found to be equal, and reports whether there are any.
func (g *gridding) merge(grouped []int) bool {
	now, kept := make([]int, len(grouped)), []*gridKey{}
	for i, k := range grouped {
		if first := slices.Index(grouped, k); first < i {
			now[i] = now[first]
			continue
		}
		now[i], kept = len(kept), append(kept, g.keys[i])
	}
	if len(kept) == len(g.keys) {
		return false
	}
	for i := range g.answers {
		a := &g.answers[i]
		old := a.Columns
		a.Columns = nil
		for k, c := range old {
			to := a.column(now[k])
			to.Grouped = to.Grouped || c.Grouped
			if !c.All {
				to.only(c.Values)
			}
		}
		for j, k := range a.GroupBy {
			a.GroupBy[j] = now[k]
		}
	}
	g.keys = kept
	return true
}
