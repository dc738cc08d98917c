package bounded

import (
	"fmt"
	"math/big"
)

// Vectors replaces the sums of measures by sums of vectors, which consist of each row's measures and products of its
// coordinates.
//
// Its meaning, of rows that count (none of whose measures is NULL; Caps keep a unit's rows by rows alone): each measure, clamped, is a
// coordinate, an integer on the grid of its block. Where a block has a Scale and the coordinates' norm exceeds it, they are multiplied by
// Scale over that norm, and rounded; a row that is then longer than Most, which none is (see Block), is left out. Where there are Centres,
// the row's cell is the nearest of them to the first block. A cell's numbers are the sums of Terms.
type Vectors struct {
	Blocks  []Block
	Sums    []*VectorSum
	Centres [][]int64 // of the first block's size, on its grid; nil for none
}

// Norm measures the length of a row's coordinates.
type Norm string

// The norms.
const (
	NormL1 Norm = "l1"
	NormL2 Norm = "l2"
)

// Block is consecutive coordinates on one grid, of which a norm is bounded together.
//
// Claim: no row is longer than Most, so dropping longer rows drops none. Proof. Let v be the coordinates, n their true
// norm, and s the norm in doubles: integers of at most 62 bits are converted, squared and added, at most MaxCoordinates
// of them, with a relative error below 2^-40 in all. If s ≤ Scale, then n ≤ Scale(1 + 2^-40), and Scale ≤ 2^26.
// Else each coordinate becomes rint(v·f), f = Scale/s: what is rounded differs from v·Scale/n by less than
// 2^-38·Scale ≤ 2^-12. So the result is within 1/2 + 2^-12 in each of d coordinates of a vector of norm Scale: its
// L1 norm is at most Scale + d/2 + 1, its L2 norm at most Scale + √d/2 + 1. Sensitivities do not rest on this: Most
// is enforced on the integers.
type Block struct {
	First, Size int // coordinates
	Norm        Norm
	Grid        int // the unit of its coordinates is 2^Grid
	// longer row vectors are scaled down to it, in grid units; 0 if the coordinates' ranges allow none longer
	Scale int64
	Most  int64 // with Scale: no row vector that counts is longer
}

// SumKind is the content of a VectorSum.
type SumKind string

// The kinds of sums.
const (
	SumOne     SumKind = "count"   // rows
	SumFirst   SumKind = "first"   // Σ x of a block
	SumProduct SumKind = "product" // Σ x yᵀ of two blocks; of one with itself the upper triangle
)

// VectorSum is one vector of each cell: its entries, in the order of Terms.
type VectorSum struct {
	Kind SumKind
	I, J int // blocks
}

// Symmetric reports whether a sum is the upper triangle of Σ x xᵀ.
func (s *VectorSum) Symmetric() bool { return s.Kind == SumProduct && s.I == s.J }

// Term is one number of a cell: a sum over rows of 1, of a coordinate, or of a product of two.
type Term struct{ A, B int } // coordinates; −1 for none

// Terms are a sum's entries: those of a product row by row, and of a symmetric product from the diagonal on.
func (v *Vectors) Terms(s *VectorSum) (out []Term) {
	if s.Kind == SumOne {
		return []Term{{-1, -1}}
	}
	x := v.Blocks[s.I]
	for a := range x.Size {
		if s.Kind == SumFirst {
			out = append(out, Term{x.First + a, -1})
			continue
		}
		y := v.Blocks[s.J]
		from := 0
		if s.Symmetric() {
			from = a
		}
		for b := from; b < y.Size; b++ {
			out = append(out, Term{x.First + a, y.First + b})
		}
	}
	return out
}

// AllTerms are the terms of all sums.
func (v *Vectors) AllTerms() (out []Term) {
	for _, s := range v.Sums {
		out = append(out, v.Terms(s)...)
	}
	return out
}

// Grid is the exponent of a sum's unit: an entry is in units of 2^Grid.
func (v *Vectors) Grid(s *VectorSum) int {
	switch s.Kind {
	case SumOne:
		return 0
	case SumFirst:
		return v.Blocks[s.I].Grid
	}
	return v.Blocks[s.I].Grid + v.Blocks[s.J].Grid
}

// Unit is 2^Grid.
func (v *Vectors) Unit(s *VectorSum) *big.Rat { return GridUnit(v.Grid(s)) }

// String is a block's canonical text.
func (k Block) String() string {
	return fmt.Sprintf("%d from %d norm %s grid=%d scale=%d most=%d", k.Size, k.First, k.Norm, k.Grid, k.Scale, k.Most)
}

// Name describes a sum in words.
func (s *VectorSum) Name() string {
	switch s.Kind {
	case SumOne:
		return "count"
	case SumFirst:
		return fmt.Sprintf("sum of block %d", s.I+1)
	}
	return fmt.Sprintf("products of blocks %d and %d", s.I+1, s.J+1)
}
