package prune

import (
	"slices"
	"sort"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// set contains every value that an expression can have in some rows. It may contain more.
type set struct {
	null   bool          // NULL is in the set
	listed bool          // whether values lists the other values; otherwise low and high bound them
	values []value.Value // sorted and distinct; without NULL
	// The least and the greatest value, or nil for no bound. If low is above high, only NULL can be in the set.
	low, high *value.Value
}

// The sets of a Boolean expression.
var (
	onlyTrue   = set{listed: true, values: []value.Value{value.OfBool(true)}}
	onlyFalse  = set{listed: true, values: []value.Value{value.OfBool(false)}}
	onlyNull   = set{listed: true, null: true}
	notTrue    = set{listed: true, null: true, values: onlyFalse.values}
	notFalse   = set{listed: true, null: true, values: onlyTrue.values}
	notNull    = set{}
	trueFalse  = set{listed: true, values: []value.Value{value.OfBool(false), value.OfBool(true)}}
	everyTruth = set{listed: true, null: true, values: trueFalse.values}
)

// truths returns the set of some of TRUE, FALSE and NULL.
func truths(isTrue, isFalse, isNull bool) set {
	out := set{listed: true, null: isNull}
	switch {
	case isTrue && isFalse:
		out.values = trueFalse.values
	case isTrue:
		out.values = onlyTrue.values
	case isFalse:
		out.values = onlyFalse.values
	}
	return out
}

// may reports whether a set of truth values has TRUE, FALSE and NULL.
func (s set) may() (isTrue, isFalse, isNull bool) {
	if !s.listed {
		return true, true, s.null
	}
	for _, v := range s.values {
		isTrue, isFalse = isTrue || v.Bool, isFalse || !v.Bool
	}
	return isTrue, isFalse, s.null
}

func single(v value.Value) set {
	if v.Null {
		return onlyNull
	}
	return set{listed: true, values: []value.Value{v}}
}

// listOf returns the set of values in any order, which it may sort in place.
func listOf(values []value.Value, null bool) set {
	slices.SortFunc(values, value.Compare)
	values = slices.CompactFunc(values, func(a, b value.Value) bool { return value.Compare(a, b) == 0 })
	if n := len(values); n > 0 && values[n-1].Null { // NULL is last
		values, null = values[:n-1], true
	}
	return set{listed: true, values: values, null: null}
}

// anyOf returns the set of all values of e's type within e's range, and NULL.
func anyOf(e *bounded.Expr) set {
	out := set{null: true}
	switch {
	case e.Type == value.Boolean:
		return everyTruth
	case e.Type.Whole():
		out.low = &value.Value{Type: e.Type, Int: e.Range.IntLo}
		out.high = &value.Value{Type: e.Type, Int: e.Range.IntHi}
	case e.Type == value.Real:
		out.low, out.high = &value.Value{Type: e.Type, Real: e.Range.Lo}, &value.Value{Type: e.Type, Real: e.Range.Hi}
	}
	return out
}

// ends returns the least and the greatest value other than NULL, or nil where there is no bound. The boolean is
// false if NULL is the only value.
func (s set) ends() (low, high *value.Value, some bool) {
	if !s.listed {
		return s.low, s.high, s.low == nil || s.high == nil || value.Compare(*s.low, *s.high) <= 0
	}
	if len(s.values) == 0 {
		return nil, nil, false
	}
	return &s.values[0], &s.values[len(s.values)-1], true
}

func (s set) empty() bool {
	_, _, some := s.ends()
	return !some && !s.null
}

// has reports whether v is in the set.
func (s set) has(v value.Value) bool {
	if v.Null {
		return s.null
	}
	if s.listed {
		_, ok := slices.BinarySearchFunc(s.values, v, value.Compare)
		return ok
	}
	return (s.low == nil || value.Compare(*s.low, v) <= 0) && (s.high == nil || value.Compare(v, *s.high) <= 0)
}

// meet returns the values that are in both sets.
func meet(a, b set) set {
	null := a.null && b.null
	if b.listed && (!a.listed || len(b.values) < len(a.values)) {
		a, b = b, a
	}
	if a.listed {
		return a.keep(b.has, null)
	}
	out := set{null: null, low: a.low, high: a.high}
	if out.low == nil || b.low != nil && value.Compare(*b.low, *out.low) > 0 {
		out.low = b.low
	}
	if out.high == nil || b.high != nil && value.Compare(*b.high, *out.high) < 0 {
		out.high = b.high
	}
	return out
}

// keep returns a listed set with the values for which the function returns true.
func (s set) keep(kept func(value.Value) bool, null bool) set {
	from := slices.IndexFunc(s.values, func(v value.Value) bool { return !kept(v) })
	if from < 0 {
		return set{listed: true, null: null, values: s.values}
	}
	out := slices.Clip(s.values[:from])
	for _, v := range s.values[from+1:] {
		if kept(v) {
			out = append(out, v)
		}
	}
	return set{listed: true, null: null, values: out}
}

// join returns the values that are in one of the sets, and possibly more.
func join(a, b set) set {
	null := a.null || b.null
	_, _, some := a.ends()
	if _, _, other := b.ends(); !some || !other {
		out := a
		if !some {
			out = b
		}
		out.null = null
		return out
	}
	if a.listed && b.listed && len(a.values)+len(b.values) <= policy.MaxKeys {
		return listOf(slices.Concat(a.values, b.values), null)
	}
	low, high, _ := a.ends()
	l, h, _ := b.ends()
	out := set{null: null}
	if low != nil && l != nil {
		if out.low = low; value.Compare(*l, *low) < 0 {
			out.low = l
		}
	}
	if high != nil && h != nil {
		if out.high = high; value.Compare(*h, *high) > 0 {
			out.high = h
		}
	}
	return out
}

// within reports whether every value of s is in t.
func (s set) within(t set) bool {
	if s.null && !t.null {
		return false
	}
	if s.listed {
		return !slices.ContainsFunc(s.values, func(v value.Value) bool { return !t.has(v) })
	}
	if t.listed {
		return false
	}
	return (t.low == nil || s.low != nil && value.Compare(*t.low, *s.low) <= 0) &&
		(t.high == nil || s.high != nil && value.Compare(*s.high, *t.high) <= 0)
}

// list returns the set with its values listed. The boolean is false if they are more than most or unknown.
func (s set) list(most int) (set, bool) {
	if s.listed {
		return s, len(s.values) <= most
	}
	if s.low == nil || s.high == nil || !s.low.Type.Whole() {
		return s, false
	}
	lo, hi := s.low.Int, s.high.Int
	if lo > hi {
		return set{listed: true, null: s.null}, true
	}
	if uint64(hi)-uint64(lo) >= uint64(most) { // the difference modulo 2^64 is the difference, because lo ≤ hi
		return s, false
	}
	out := set{listed: true, null: s.null, values: make([]value.Value, hi-lo+1)}
	for i := range out.values {
		out.values[i] = value.Value{Type: s.low.Type, Int: lo + int64(i)}
	}
	return out, true
}

// compared returns the values other than NULL for which the comparison with v is true, and possibly more. A
// comparison with NULL is never true.
func (s set) compared(op bounded.Op, v value.Value) set {
	if v.Null {
		return set{listed: true}
	}
	if s.listed {
		if op == bounded.OpEq { // by binary search
			if s.has(v) {
				return single(v)
			}
			return set{listed: true}
		}
		if op == bounded.OpNe {
			return s.keep(func(x value.Value) bool { return value.Compare(x, v) != 0 }, false)
		}
		i := sort.Search(len(s.values), func(i int) bool {
			return value.Compare(s.values[i], v) >= map[bool]int{true: 1, false: 0}[op == bounded.OpLe || op == bounded.OpGt]
		})
		if op == bounded.OpLt || op == bounded.OpLe {
			return set{listed: true, values: slices.Clip(s.values[:i])}
		}
		return set{listed: true, values: s.values[i:]}
	}
	of := set{}
	switch op {
	case bounded.OpEq:
		of.low, of.high = &v, &v
		return meet(single(v), set{low: s.low, high: s.high})
	case bounded.OpLt, bounded.OpLe:
		of.high = &v
		if op == bounded.OpLt {
			of.high = step(v, -1)
		}
	case bounded.OpGt, bounded.OpGe:
		of.low = &v
		if op == bounded.OpGt {
			of.low = step(v, 1)
		}
	}
	return meet(set{low: s.low, high: s.high}, of)
}

// step returns the next integer, day or microsecond in a direction, −1 or 1. It returns v itself for other types, whose
// bounds then include v.
func step(v value.Value, by int64) *value.Value {
	if next := v.Int + by; v.Type.Whole() && (next > v.Int) == (by > 0) {
		v.Int = next
	}
	return &v
}
