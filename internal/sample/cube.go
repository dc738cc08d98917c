package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// Cube sets z to a vector with probability exactly
//
//	P(z) ∝ p^‖z‖∞,  p = exp(−1/scale),
//
// over all integer vectors of len(z) ≥ 1 coordinates, for a rational scale above 0. None of the integers may be nil. It
// panics for other scales.
//
// Let k = len(z). Claim: (i) if M ≥ 0 has P(M = m) ∝ (2m + 1)^k·p^m, and z is uniform on the (2M + 1)^k vectors with ‖z‖∞
// ≤ M, then z has the stated distribution. Proof: P(z) ∝ Σ_{m ≥ ‖z‖∞} p^m = p^‖z‖∞/(1 − p). (ii) The loop draws such an
// M. Proof: the sum of k + 1 independent geometric variables is m with probability ∝ C(m + k, k)·p^m ∝ Π_{i≤k} (m +
// i)·p^m, where i runs from 1. It is kept with probability Π_{i≤k} (2m + 1)/(2m + 2i) ∝ (2m + 1)^k/Π_{i≤k} (m + i). ∎
//
// A discrete Laplace variable that is conditioned to be at least 0 is geometric: P(x) ∝ p^x for x ≥ 0. The sum is
// usually kept if the scale is far above k. The running time depends on the draw.
func Cube(src *entropy.Source, scale *big.Rat, z []*big.Int) {
	l := NewLaplace(scale)
	m, g := new(big.Int), new(big.Int)
	for {
		m.SetInt64(0)
		for range len(z) + 1 {
			for l.Draw(src, g); g.Sign() < 0; {
				l.Draw(src, g)
			}
			m.Add(m, g)
		}
		if keepCube(src, m, len(z)) {
			break
		}
	}
	sides := new(big.Int).Lsh(m, 1)
	sides.Add(sides, bigOne)
	for _, x := range z {
		x.Sub(src.Below(sides), m)
	}
}

// keepCube returns true with probability Π_{i≤k} (2m + 1)/(2m + 2i).
func keepCube(src *entropy.Source, m *big.Int, k int) bool {
	odd, of := new(big.Int).Lsh(m, 1), new(big.Int)
	of.Set(odd)
	odd.Add(odd, bigOne)
	two := big.NewInt(2)
	for range k {
		if src.Below(of.Add(of, two)).Cmp(odd) >= 0 {
			return false
		}
	}
	return true
}
