package reuse

import (
	"slices"
	"sync"

	"dither/internal/bounded"
	"dither/internal/value"
)

// through is an expression as a function of one other expression's value: for example the month of a day, or
// whether an age is at least 18. The expression reads nothing else of a row.
type through struct {
	e    *bounded.Expr
	is   bool // e is the other expression itself
	args []through
}

// readsThrough returns e as a function of the value of other. It returns false if e reads anything else of a row,
// or uses an operation that engines round differently.
func readsThrough(e, other *bounded.Expr) (through, bool) {
	if e.Same(other) {
		return through{e: e, is: true}, true
	}
	out := through{e: e}
	if e.Op == bounded.OpConst {
		return out, true
	}
	if !e.Op.Agreed() || len(e.Args) == 0 {
		return out, false
	}
	for _, a := range e.Args {
		f, ok := readsThrough(a, other)
		if !ok {
			return out, false
		}
		out.args = append(out.args, f)
	}
	return out, true
}

// at returns the value of f in a row in which the expression that f reads has the value x. Every engine computes this
// value: see [bounded.Expr.Apply].
func (f through) at(x value.Value) value.Value {
	if f.is {
		return x
	}
	args := make([]value.Value, len(f.args))
	for i, a := range f.args {
		args[i] = a.at(x)
	}
	return f.e.Apply(args...)
}

// image holds the value of an expression for each value of a key.
type image struct {
	key  *bounded.Key
	f    through
	once sync.Once
	to   []value.Value // by value of the key
	null value.Value   // the expression's value if the key is NULL
}

// maxApplied limits how many nodes of an expression are evaluated on values of a key. Above it, the question is not
// answered from an earlier release.
const maxApplied = 100_000

// image finds a key of the earlier plan c.q such that e, an expression of the new plan c.p, is a function of that key.
// If there are several, it chooses the key with the fewest values. It returns the key's index with the values of e, or
// −1 if there is none.
func (c *comparison) image(e *bounded.Expr) (int, *image) {
	key, f := -1, through{}
	for k := range c.q.Keys {
		values := len(c.q.Keys[k].Values)
		if key >= 0 && values >= len(c.q.Keys[key].Values) || e.Weight()*values > maxApplied {
			continue
		}
		if found, ok := readsThrough(e, c.q.Keys[k].Expr); ok {
			key, f = k, found
		}
	}
	if key < 0 {
		return key, nil
	}
	return key, c.reader.image(e, &c.q.Keys[key], f)
}

// image computes e as a function of a key. The result is shared by all releases with the same key.
func (r *Reader) image(e *bounded.Expr, key *bounded.Key, f through) *image {
	r.mu.Lock()
	all := r.images[e]
	i := slices.IndexFunc(all, func(known *image) bool { return known.key.Same(key) })
	if i < 0 {
		i, all = len(all), append(all, &image{key: key, f: f})
		r.images[e] = all
	}
	r.mu.Unlock()
	out := all[i]
	out.once.Do(func() {
		out.null, out.to = f.at(value.NullOf(key.Expr.Type)), make([]value.Value, len(key.Values))
		for i, x := range key.Values {
			out.to[i] = f.at(x)
		}
	})
	return out
}
