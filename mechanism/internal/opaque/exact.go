// Package opaque hides an engine's exact values until a mechanism has added noise to them: integers, ordered
// values, rows, and partitions with their keys.
//
// Any package can create such a value and pass it on. Only packages under dither/mechanism can open one. First, the
// fields are unexported, and no exported method returns their contents. (Package mechanism gives these types public
// names by alias, and an alias keeps every exported method.) Second, the functions here that open a value are in an
// internal package, which the Go command lets no other package import.
//
// TestOutsidersCannotOpen in package mechanism compiles programs that try. Code that bypasses the type system
// (reflect, unsafe, a debugger) can still open a value.
package opaque

import "math/big"

// Exact is an exact integer that an engine passes to a mechanism. The zero value is 0.
//
// The integer is behind a pointer, because fmt prints the contents of a value without its methods for the verbs %p and
// %w.
type Exact struct {
	redacted
	v *big.Int
	w *int64 // the integer, if v is nil
}

// NewExact returns an Exact that hides a copy of v, or 0 if v is nil.
func NewExact(v *big.Int) Exact {
	if v == nil {
		v = new(big.Int)
	}
	return Exact{v: new(big.Int).Set(v)}
}

// NewExacts returns values that hide copies of these integers, in their order. Together they have two blocks of memory.
func NewExacts(words []int64) []Exact {
	out, room := make([]Exact, len(words)), append([]int64(nil), words...)
	for i := range room {
		out[i].w = &room[i]
	}
	return out
}

// Plus returns the sum of two exact values, which is as opaque as they are.
func (e Exact) Plus(o Exact) Exact {
	return Exact{v: new(big.Int).Add(Open(e), Open(o))}
}

// Open returns the integer, perhaps itself and not a copy. The caller must not change it, and must not release it
// without noise.
func Open(e Exact) *big.Int {
	switch {
	case e.v != nil:
		return e.v
	case e.w != nil:
		return big.NewInt(*e.w)
	}
	return new(big.Int)
}

// OpenWord returns the integer if it fits into 64 bits. The caller must not release it without noise.
func OpenWord(e Exact) (word int64, ok bool) {
	switch {
	case e.v != nil:
		return e.v.Int64(), e.v.IsInt64()
	case e.w != nil:
		return *e.w, true
	}
	return 0, true
}
