package opaque

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// GridOf returns the exponent g of a grid 2^g for numbers up to r, and the largest integer n of at most the given
// number of bits with n·2^g ≤ r.
func GridOf(r *big.Rat, bits int) (g int, n int64) {
	g = r.Num().BitLen() - r.Denom().BitLen() - bits // r/2^g is between 2^(bits-1) and 2^(bits+1)
	for {
		f := exact.FloorRat(shiftedRat(r, -g))
		if f.BitLen() <= bits {
			return g, f.Int64()
		}
		g++
	}
}

// shiftedRat returns r·2^n.
func shiftedRat(r *big.Rat, n int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n)))
	if n < 0 {
		return new(big.Rat).Mul(r, new(big.Rat).SetFrac(big.NewInt(1), p))
	}
	return new(big.Rat).Mul(r, new(big.Rat).SetInt(p))
}

// Farthest is the bound to which each predictor is clamped before its row is scaled down, in grid units. The sum of
// the squares of maxPredictors such numbers is at most 2^62.
const Farthest = 1 << (ReachBits + 3)

// Shorten scales an integer vector down to an L2 norm of at most reach, which is at least 0. It rounds towards 0.
//
// Claim: the norm of the result is at most reach, despite rounding. Proof: let s be the norm, and let S be the
// integer by which the code divides. S ≥ s: the code computes the square root as a float64 from a float64 sum of
// squares, which is below 2^63. It then raises the root by one part in 2^40, rounds it up, and adds 1, which is
// more than the two rounding errors. If s ≤ reach, the vector is unchanged. Otherwise each x_i becomes an integer
// of magnitude at most |x_i|·reach/S, so the norm is at most s·reach/S ≤ reach. ∎
func Shorten(x []int64, reach int64) {
	sum := uint64(0)
	for _, v := range x {
		sum += uint64(v * v)
	}
	if sum <= uint64(reach)*uint64(reach) {
		return
	}
	s := int64(math.Ceil(math.Sqrt(float64(sum))*(1+0x1p-40))) + 1
	for i, v := range x {
		x[i] = v * reach / s // integer division rounds towards 0; the product is below 2^59
	}
}
