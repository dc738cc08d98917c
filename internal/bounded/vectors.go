package bounded

import (
	"fmt"
	"math/big"
)

// Vectors asks for sums of vectors in place of sums of measures. The coordinates of a row come from the question: each
// item of its SELECT list is a measure, and each measure is one coordinate. The summed vector of a row is the number 1,
// its coordinates in one block, or products of two coordinates ([SumKind]).
//
// Its meaning: rows with a NULL coordinate are dropped, and Caps.Rows bounds each unit's rows. The value of each
// measure in a row, clamped to the measure's bounds, is a coordinate: an integer in grid units of its block. If a block
// has a Scale and the norm of its coordinates exceeds it, the coordinates are multiplied by Scale over that norm, and
// rounded. A row that is then longer than Most would be dropped, but none is: see [Block]. If there are Centres, the
// row's cell is the centre that is nearest to the point of the first block's coordinates. The numbers of a cell are the
// sums of the Terms.
type Vectors struct {
	Blocks []Block
	Sums   []*VectorSum
	// Centres are the points to which rows are assigned: a row counts in the cell of the centre nearest to it. Each
	// centre has as many numbers as the first block has coordinates, in that block's grid units. The caller of the
	// planner gives the centres as public numbers, perhaps from earlier releases (plan.VectorRequest). Centres is nil
	// if rows are not assigned to centres.
	Centres [][]int64
}

// Norm measures the length of a block's coordinates.
type Norm string

// The norms.
const (
	NormL1 Norm = "l1"
	NormL2 Norm = "l2"
)

// Block is a range of consecutive coordinates with one grid, whose norm is bounded.
//
// Claim: no row is longer than Most after scaling, so the check against Most drops none. Proof. Let v be the
// coordinates, n their true norm, and s the norm computed in doubles. At most MaxCoordinates integers of at most 62
// bits are converted, squared and added, with a total relative error below 2^-40. If s ≤ Scale, then n ≤ Scale(1 +
// 2^-40), and Scale ≤ 2^26. Otherwise each coordinate becomes rint(v·f) with f = Scale/s, and v·f differs from
// v·Scale/n by less than 2^-38·Scale ≤ 2^-12. So in each of the d coordinates, the result is within 1/2 + 2^-12 of
// a vector of norm Scale. Its L1 norm is at most Scale + d/2 + 1, and its L2 norm is at most Scale + √d/2 + 1. The
// planned Most is at least that. ∎
//
// Sensitivities do not rely on this claim, because Most is enforced on the integers. MaxCoordinates is a constant
// of package plan.
type Block struct {
	First, Size int // the index of the first coordinate, and the number of coordinates
	Norm        Norm
	Grid        int // coordinates are in grid units of 2^Grid
	// longer vectors are scaled down to this norm, in grid units; 0 if no coordinates within their ranges are
	// longer
	Scale int64
	Most  int64 // if Scale is set: the largest norm of a row that counts, in grid units
}

// SumKind is the kind of a VectorSum.
type SumKind string

// The kinds of vector sums.
const (
	SumOne   SumKind = "count" // the number of rows
	SumFirst SumKind = "first" // Σ x, where x is a row's coordinates in one block
	// Σ x yᵀ, where x and y are a row's coordinates in two blocks; if the blocks are the same, the upper triangle
	// only
	SumProduct SumKind = "product"
)

// VectorSum is one vector of each cell (group). Its entries are in the order of [Vectors.Terms].
type VectorSum struct {
	Kind SumKind
	I, J int // indices of blocks
}

// Symmetric reports whether s is the upper triangle of Σ x xᵀ.
func (s *VectorSum) Symmetric() bool { return s.Kind == SumProduct && s.I == s.J }

// Term is one number of a cell (group): a sum over rows of 1, of a coordinate, or of a product of two coordinates.
type Term struct{ A, B int } // indices of coordinates; −1 for none

// Terms returns the entries of s. A product's entries are listed row by row, and those of a symmetric product start
// at the diagonal in each row.
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

// AllTerms returns the terms of all sums, in order.
func (v *Vectors) AllTerms() (out []Term) {
	for _, s := range v.Sums {
		out = append(out, v.Terms(s)...)
	}
	return out
}

// Grid returns the exponent g of the sum's unit: an entry counts multiples of 2^g.
func (v *Vectors) Grid(s *VectorSum) int {
	switch s.Kind {
	case SumOne:
		return 0
	case SumFirst:
		return v.Blocks[s.I].Grid
	}
	return v.Blocks[s.I].Grid + v.Blocks[s.J].Grid
}

// Unit returns the unit of the sum's entries, 2^Grid(s).
func (v *Vectors) Unit(s *VectorSum) *big.Rat { return GridUnit(v.Grid(s)) }

// String returns the block's canonical text.
func (k Block) String() string {
	return fmt.Sprintf("%d from %d norm %s grid=%d scale=%d most=%d", k.Size, k.First, k.Norm, k.Grid, k.Scale, k.Most)
}

// Name describes a sum in words, for people.
func (s *VectorSum) Name() string {
	switch s.Kind {
	case SumOne:
		return "count"
	case SumFirst:
		return fmt.Sprintf("sum of block %d", s.I+1)
	}
	return fmt.Sprintf("products of blocks %d and %d", s.I+1, s.J+1)
}
