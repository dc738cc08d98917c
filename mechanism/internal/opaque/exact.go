// Package opaque hides exact values of an engine until a mechanism has added noise to them: numbers, ordered values,
// rows, and partitions with their keys.
//
// Anybody can make such a value, and hand it on. Only packages below dither/mechanism can open one, because
//   - the fields are unexported, and no exported method returns what they hold: package mechanism gives these types
//     public names by alias, and an alias passes on every exported method;
//   - the functions here that open a value are in an internal package, which the Go command lets nobody else import.
//
// TestOutsidersCannotOpen in package mechanism compiles programs that try. Code that bypasses the type system (reflect,
// unsafe, a debugger) is not kept out.
package opaque

import "math/big"

// Exact is an exact integer on its way from an engine to a mechanism. The zero value is 0.
type Exact struct {
	redacted
	v *big.Int
}

// NewExact hides a copy of an integer. A nil one is 0.
func NewExact(v *big.Int) Exact {
	if v == nil {
		v = new(big.Int)
	}
	return Exact{v: new(big.Int).Set(v)}
}

// Plus is the sum of two exact values, as opaque as they are.
func (e Exact) Plus(o Exact) Exact {
	return Exact{v: new(big.Int).Add(Open(e), Open(o))}
}

// Open returns the integer itself: the caller must not change it, and must not release it without noise.
func Open(e Exact) *big.Int {
	if e.v == nil {
		return new(big.Int)
	}
	return e.v
}
