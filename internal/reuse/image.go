package reuse

import (
	"slices"
	"sync"

	"dither/internal/bounded"
	"dither/internal/value"
)

// through is an expression that reads rows through one other expression alone, as a function of that one's value:
// the month of a day, or whether an age is 18 at least.
type through struct {
	e    *bounded.Expr
	is   bool // e is the other expression itself
	args []through
}

// readsThrough gives e as a function of another expression; false where e reads anything else of a row, or does
// what engines round differently.
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

// at is what every engine gives for a row of which the other expression is x (see bounded.Expr.Apply).
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

// image is what an expression gives, by a key's values.
type image struct {
	key  *bounded.Key
	f    through
	once sync.Once
	to   []value.Value // what each value of the key gives
	null value.Value   // what NULL does
}

// maxApplied bounds how often nodes of an expression are applied to values of a key: what takes more is asked of
// the rows.
const maxApplied = 100_000

// image finds the key of q through which an expression of p reads rows, that with the fewest values, and what they
// give; −1 without.
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

// image computes what e gives as a function of a key, once for all releases by one key.
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
