package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Grid is a real expression that is a function of an integer, such as FLOOR(x / 12.5) * 12.5. Groups have the integer as
// their key, because engines write reals differently. Answers show the real.
type Grid struct {
	Of    *bounded.Expr // the expression that the question writes
	Whole *bounded.Expr // the integer
	shown map[int64]value.Value
}

// Shown returns the value of the expression where the integer has the value v.
func (g *Grid) Shown(v value.Value) value.Value {
	if g == nil {
		return v
	}
	if v.Null {
		return value.NullOf(g.Of.Type)
	}
	return g.shown[v.Int]
}

// Type returns the type of the values that are shown, for a key of type t.
func (g *Grid) Type(t value.Type) value.Type {
	if g == nil {
		return t
	}
	return g.Of.Type
}

// GridOf returns the grid of a real expression. It returns nil if there is none, or if its integer has no known values.
// The parameter values lists them where WHERE leaves few; it returns false if it cannot.
//
// Claim: rows have the same integer if and only if they have the same value of e. Proof. All operations of e above the
// integer are Agreed, and their other arguments are constants, so e is the function that evaluate computes. If two
// integers have one value, they are replaced by one. ∎
func (l *Scope) GridOf(e *bounded.Expr, at query.Pos, values func(*bounded.Expr) ([]value.Value, bool)) *Grid {
	if e.Type != value.Real {
		return nil
	}
	whole, ok := wholeOf(e)
	if !ok {
		return l.gridOfCase(e, at)
	}
	known, ok := l.Known(whole)
	if !ok {
		if known, ok = values(whole); !ok {
			return nil
		}
	}
	out := &Grid{Of: e, Whole: whole, shown: map[int64]value.Value{}}
	distinct := map[float64]int64{} // the first integer with a value
	for _, v := range known {
		x := evaluate(e, whole, v)
		if v.Null {
			continue
		}
		if x.Null {
			return nil
		}
		x.Real += 0 // −0 is 0
		if _, again := distinct[x.Real]; !again {
			distinct[x.Real] = v.Int
		}
		out.shown[v.Int] = x
	}
	if len(distinct) < len(out.shown) {
		return l.merged(out, distinct, at)
	}
	return out
}

// wholeOf returns the outermost integer expression of which e is a function: the only one below e beside constants. All
// operations between the two are Agreed.
func wholeOf(e *bounded.Expr) (whole *bounded.Expr, ok bool) {
	if e.Type == value.Integer && e.Op != bounded.OpConst {
		return e, true
	}
	if !e.Op.Arithmetic() {
		return nil, false
	}
	for _, a := range e.Args {
		if a.Op == bounded.OpConst {
			continue
		}
		below, ok := wholeOf(a)
		if !ok || whole != nil && !whole.Same(below) {
			return nil, false
		}
		whole = below
	}
	return whole, whole != nil
}

// evaluate returns the value of e where whole, a part of it, has the value v.
func evaluate(e, whole *bounded.Expr, v value.Value) value.Value {
	switch {
	case e.Op == bounded.OpConst:
		return e.Const
	case e.Same(whole):
		return v
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		args[i] = evaluate(a, whole, v)
	}
	return e.Apply(args...)
}

// merged returns the grid in which integers with the same value are one: the first of them.
func (l *Scope) merged(g *Grid, first map[float64]int64, at query.Pos) *Grid {
	p := &pointwise{Scope: l, result: value.Integer, at: at}
	p.of = func(v []value.Value) (value.Value, bool) {
		if v[0].Null {
			return value.NullOf(value.Integer), true
		}
		return value.OfInt(first[g.shown[v[0].Int].Real]), true
	}
	refuse := func() error { return Refuse(at, "", "the values are not known") }
	p.none = func([]value.Value) error { return refuse() }
	p.unknown = func(*bounded.Expr) error { return refuse() }
	whole, err := p.build([]*bounded.Expr{g.Whole})
	if err != nil {
		return nil
	}
	return &Grid{Of: g.Of, Whole: whole, shown: g.shown}
}

// gridOfCase returns the grid of a CASE, or of any other expression, whose known values are constants of the question:
// the integer is the place of the value among them.
func (l *Scope) gridOfCase(e *bounded.Expr, at query.Pos) *Grid {
	known, ok := l.Known(e)
	if e.Op != bounded.OpCase || !ok || len(known) > policy.MaxKeys {
		return nil
	}
	slices.SortFunc(known, value.Compare)
	known = slices.CompactFunc(known, func(a, b value.Value) bool { return value.Compare(a, b) == 0 })
	out := &Grid{Of: e, shown: map[int64]value.Value{}}
	for i, v := range known {
		v.Real += 0
		out.shown[int64(i)] = v
	}
	p := &pointwise{Scope: l, result: value.Integer, at: at}
	p.of = func(v []value.Value) (value.Value, bool) {
		if v[0].Null {
			return value.NullOf(value.Integer), true
		}
		i, found := slices.BinarySearchFunc(known, v[0], value.Compare)
		return value.OfInt(int64(i)), found
	}
	refuse := func() error { return Refuse(at, "", "the values are not known") }
	p.none = func([]value.Value) error { return refuse() }
	p.unknown = func(*bounded.Expr) error { return refuse() }
	var err error
	if out.Whole, err = p.build([]*bounded.Expr{e}); err != nil {
		return nil
	}
	return out
}
