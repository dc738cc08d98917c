package opaque

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// GridOf is a grid 2^g, and the largest integer n of at most bits bits with n·2^g ≤ r.
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

// shiftedRat is r·2^n.
func shiftedRat(r *big.Rat, n int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n)))
	if n < 0 {
		return new(big.Rat).Mul(r, new(big.Rat).SetFrac(big.NewInt(1), p))
	}
	return new(big.Rat).Mul(r, new(big.Rat).SetInt(p))
}

// Farthest is the most by which a predictor may differ from 0 before its row is scaled down, in grid units. Sums of
// squares of maxPredictors such numbers are below 2^62.
const Farthest = 1 << (ReachBits + 3)

// Shorten scales an integer vector down to an L2 norm of at most reach, which is at least 0. It rounds towards 0, so
// that the vector never becomes longer, whatever was rounded before.
//
// Proof. Let s be the norm, S ≥ s. Where S ≤ reach, s ≤ reach. Else each x_i becomes an integer of a size of at
// most |x_i|·reach/S: the norm is then at most s·reach/S ≤ reach. S is an integer: the double square root of the
// double of a sum of squares below 2^63, raised by a part in 2^40 and 1, which is more than those two roundings took.
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
		x[i] = v * reach / s // of Go's integers, towards 0; below 2^59
	}
}
