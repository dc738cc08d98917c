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

import (
	"math/big"
	"math/bits"
)

// Exact is an exact integer that an engine passes to a mechanism. The zero value is 0.
type Exact struct {
	redacted
	v *big.Int
}

// NewExact returns an Exact that hides a copy of v, or 0 if v is nil.
func NewExact(v *big.Int) Exact {
	if v == nil {
		v = new(big.Int)
	}
	return Exact{v: new(big.Int).Set(v)}
}

// NewExacts returns values that hide these integers, in their order. Together they have few blocks of memory.
func NewExacts(words []int64) []Exact {
	out, room, digits := make([]Exact, len(words)), make([]big.Int, len(words)), make([]big.Word, len(words)*wordsOf64)
	for i, w := range words {
		room[i].SetBits(digits[i*wordsOf64 : i*wordsOf64 : (i+1)*wordsOf64])
		out[i].v = room[i].SetInt64(w)
	}
	return out
}

// wordsOf64 is the number of words of a big integer that hold 64 bits.
const wordsOf64 = 64 / bits.UintSize

// Plus returns the sum of two exact values, which is as opaque as they are.
func (e Exact) Plus(o Exact) Exact {
	return Exact{v: new(big.Int).Add(Open(e), Open(o))}
}

// Open returns the integer itself, not a copy. The caller must not change it, and must not release it without
// noise.
func Open(e Exact) *big.Int {
	if e.v == nil {
		return new(big.Int)
	}
	return e.v
}
