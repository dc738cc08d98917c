package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// RealCube draws a real vector b of len(z) ≥ 1 coordinates with density proportional to exp(−‖b‖∞/scale), and sets each
// z_i to an integer with |z_i − b_i| < 1. It panics unless scale is above 0. None of the integers may be nil.
//
// Let k = len(z). Claim: (i) b = scale·r·u has the stated density, if r is the sum of k + 1 independent exponential
// variables of mean 1, and u is uniform on [−1, 1]ᵏ. Proof: given r, b is uniform on a cube of half-width scale·r, so
// its density at a b of norm t is proportional to ∫_{r > t/scale} (scale·r)⁻ᵏ·rᵏ·exp(−r) dr ∝ exp(−t/scale). (ii) There
// are such r and u to which the draw is close. Proof: the integer part of 2ᵖ·E is geometric, P(m) ∝ exp(−m/2ᵖ), for an
// exponential E. The draw has k + 1 of these integer parts, exactly, and the first q bits of each coordinate of u. The
// rest of r and u follows its law given these, and is not drawn: 0 ≤ r − r̂ < (k + 1)/2ᵖ, and |u_i − û_i| ≤ 2^−q for
// û_i in the middle of what is left. So |scale·r·u_i − scale·r̂·û_i| ≤ scale·(k + 1)/2ᵖ + scale·r̂/2^q ≤ ¼ + ¼ by the
// choice of p and q. Rounding to an integer adds at most ½, and one of the two bounds is strict. ∎
//
// The running time depends on the draw.
func RealCube(src *entropy.Source, scale *big.Rat, z []*big.Int) {
	if scale.Sign() <= 0 {
		panic("sample: a cube needs a scale above 0")
	}
	k := int64(len(z))
	whole := new(big.Int).Quo(scale.Num(), scale.Denom())
	whole.Add(whole, bigOne) // above scale
	p := uint(new(big.Int).Mul(whole, big.NewInt(4*(k+1))).BitLen())
	l := NewLaplace(new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, p)))
	r, g := new(big.Int), new(big.Int)
	for range k + 1 {
		for l.Draw(src, g); g.Sign() < 0; { // a discrete Laplace variable that is at least 0 is geometric
			l.Draw(src, g)
		}
		r.Add(r, g)
	}
	// 4·scale·r̂ < 2^q, where r̂ = r/2ᵖ < 2^(bits of r − p)
	q := uint(whole.BitLen() + max(r.BitLen()-int(p), 0) + 2)
	side := new(big.Int).Lsh(bigOne, q)
	// z = scale·r·(2v + 1 − 2^q)/2^(p+q), rounded to the nearest
	num := new(big.Int).Mul(scale.Num(), r)
	den := new(big.Int).Lsh(scale.Denom(), p+q)
	for _, x := range z {
		v := src.Below(side)
		x.Lsh(v, 1)
		x.Add(x, bigOne)
		x.Sub(x, side)
		x.Mul(x, num)
		x.Lsh(x, 1)
		x.Add(x, den)
		x.Div(x, new(big.Int).Lsh(den, 1)) // Euclidean division by a positive number rounds down
	}
}
