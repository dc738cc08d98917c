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
		found, ok := readsThrough(e, c.q.Keys[k].Expr)
		if !ok {
			if x, _ := c.beneath(&c.q.Keys[k]); x != nil {
				found, ok = readsThrough(e, x)
			}
		}
		if ok {
			key, f = k, found
		}
	}
	if key < 0 {
		return key, nil
	}
	var instead *value.Value
	if _, ok := readsThrough(e, c.q.Keys[key].Expr); !ok {
		_, instead = c.beneath(&c.q.Keys[key])
	}
	return key, c.reader.image(e, &c.q.Keys[key], f, instead)
}

// beneath returns x and s of a key COALESCE(x, s) whose constant s is no value of x: a column with other values, or with a
// range that s is not in. Then the key's value determines x: it is NULL where the key is s. Otherwise it returns nil.
func (c *comparison) beneath(key *bounded.Key) (x *bounded.Expr, s *value.Value) {
	e := key.Expr
	if e.Op != bounded.OpCoalesce || len(e.Args) != 2 || e.Args[0].Op != bounded.OpColumn || e.Args[1].Op != bounded.OpConst {
		return nil, nil
	}
	x, s = e.Args[0], &e.Args[1].Const
	known := c.q.Columns[x.Column].Values
	switch {
	case s.Null || s.Type != x.Type:
		return nil, nil
	case known != nil && !slices.Contains(known, *s):
		return x, s
	case x.Type.Whole() && (s.Int < x.Range.IntLo || s.Int > x.Range.IntHi):
		return x, s
	}
	return nil, nil
}

// image computes e as a function of a key, or of the expression beneath it, which is NULL where the key is instead. The
// result is shared by all releases with the same key.
func (r *Reader) image(e *bounded.Expr, key *bounded.Key, f through, instead *value.Value) *image {
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
			if instead != nil && x == *instead {
				x = value.NullOf(x.Type)
			}
			out.to[i] = f.at(x)
		}
	})
	return out
}
