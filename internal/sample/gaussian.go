package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// Gaussian is a discrete Gaussian distribution that is prepared for many draws. It is immutable. It is safe for
// concurrent use if each goroutine has its own source. The zero value is invalid.
//
// Its parameter is σ² = n/d in lowest terms. With t = ⌊σ⌋ + 1, the constants of γ in Draw are step = dt and den =
// 2ndt².
type Gaussian struct {
	path            path
	n, t, step, den uint64
	n2, step2, den2 pair
	nBig, tBig      *big.Int
	stepBig, denBig *big.Int
	fixed           fixed
}

// NewGaussian prepares the discrete Gaussian with the rational parameter σ² > 0. It panics for other parameters.
func NewGaussian(sigma2 *big.Rat) *Gaussian {
	if sigma2.Sign() <= 0 {
		panic("sample: a discrete Gaussian needs a positive σ²")
	}
	n, d := sigma2.Num(), sigma2.Denom()
	t := new(big.Int).Quo(n, d)
	t.Sqrt(t).Add(t, bigOne) // ⌊√x⌋ = ⌊√⌊x⌋⌋ for every x ≥ 0
	step := new(big.Int).Mul(d, t)
	area := new(big.Int).Mul(step, t) // dt², which is above n because t > σ
	den := new(big.Int).Mul(n, area)
	g := &Gaussian{path: pathBig, nBig: new(big.Int).Set(n), tBig: t, stepBig: step, denBig: den.Lsh(den, 1)}
	// Within 64 scales |y|·dt < 64·dt², so 16·(|y|·dt − n)² < 2¹⁶·(dt²)². That must be below 2¹²⁸ or 2²⁵⁶.
	if area.BitLen() <= 56 && den.BitLen() <= 64 {
		g.path, g.n, g.t, g.step, g.den = path64, n.Uint64(), t.Uint64(), step.Uint64(), den.Uint64()
	} else if area.BitLen() <= 120 && den.BitLen() <= 128 {
		g.path, g.t, g.n2, g.step2, g.den2 = path128, t.Uint64(), toPair(n), toPair(step), toPair(den)
	} else if f, ok := newFixed(n, d, t, area, den); ok {
		g.path, g.t, g.fixed = pathFixed, t.Uint64(), f
	}
	return g
}

// DiscreteGaussian returns an integer x with probability proportional to exp(−x²/(2σ²)), exactly, for the rational
// sigma2 = σ² > 0. It panics for other parameters. The running time and the number of consumed bits depend on the
// draw. For more than one draw, use NewGaussian.
func DiscreteGaussian(src *entropy.Source, sigma2 *big.Rat) *big.Int {
	return NewGaussian(sigma2).Draw(src, new(big.Int))
}

// Fill sets each integer of dst to an independent draw. None of them may be nil.
func (g *Gaussian) Fill(src *entropy.Source, dst []*big.Int) {
	for _, z := range dst {
		g.Draw(src, z)
	}
}

// near is the least v for which Gaussian.Draw's proposal is not within 64 scales: |y| = ⌊(u + t·v)/16⌋ < 64t if and
// only if v < near.
const near = 64 * 16

// Draw sets z to an integer that has exactly the distribution of DiscreteGaussian and is independent of every other
// draw. It returns z. It allocates nothing if z has room and the sampler does not use big integers. It uses big
// integers in all draws if σ ≥ 2⁵⁴ − 1 or 2ndt² ≥ 2⁵¹², and if σ < 1 and 2ndt² ≥ 2¹²⁸.
//
// It is Algorithm 3 of Canonne, Kamath & Steinke 2020. Propose y from the discrete Laplace of scale t, as in
// Laplace.Draw. Accept it with probability exp(−γ),
//
//	γ = (|y| − σ²/t)²/(2σ²) = (|y|·dt − n)²/(2ndt²).
//
// Since |y|/t + γ = y²/(2σ²) + σ²/(2t²), an accepted y has P(y) ∝ exp(−|y|/t)·exp(−γ) ∝ exp(−y²/(2σ²)). With 16γ =
// q + r, an integer q and 0 ≤ r < 1, exp(−γ) is exp(−q/16)·exp(−r/16). A round is accepted with probability
// exp(−σ²/(2t²))·Σ_y exp(−y²/(2σ²))/Σ_y exp(−|y|/t). That is at least .44, because σ/t is below 1 and, for σ ≥ 1,
// at least ½.
//
// The code on words handles proposals within 64 scales. Other proposals occur once in exp(64) > 2⁹² rounds. Big
// integers decide them, by the same formula and from the same bytes, so no draw is truncated.
func (g *Gaussian) Draw(src *entropy.Source, z *big.Int) *big.Int {
	switch g.path {
	case path64:
		return g.draw64(src, z)
	case path128:
		return g.draw128(src, z)
	case pathFixed:
		return g.drawFixed(src, z)
	default:
		return g.drawBig(src, z)
	}
}

// draw64 is Draw on 64-bit words, for dt² < 2⁵⁶ and 2ndt² < 2⁶⁴ (with n, d and t of [Gaussian]).
func (g *Gaussian) draw64(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(9) // two nibbles for small64, and the sign
		v := geometric(src)
		u := src.Below64(g.t)
		if !small64(src, coins&15, u, g.t) {
			continue
		}
		negative := coins&256 != 0
		if v >= near {
			if g.far(src, z, v, new(big.Int).SetUint64(u), coins) {
				return z
			}
			continue
		}
		y := (u + g.t*v) >> 4 // below 64t < 2³⁴, because t² < 2⁵⁶
		if negative && y == 0 {
			continue // reject −0
		}
		root := pair{0, y * g.step}.distance(pair{0, g.n}).lo
		hi, lo := bits.Mul64(root, root)
		hi, lo = hi<<4|lo>>60, lo<<4
		q := pair{hi: hi / g.den}
		var r uint64
		q.lo, r = bits.Div64(hi%g.den, lo, g.den)
		if survive(src, q.hi, q.lo) && small64(src, coins>>4&15, r, g.den) {
			return set(z, wide{y}, negative)
		}
	}
}

// draw128 is Draw on pairs of words, for dt² < 2¹²⁰ and 2ndt² < 2¹²⁸ (with n, d and t of [Gaussian]). Since n <
// dt², n is below 2⁶⁴ and t below 2³³.
func (g *Gaussian) draw128(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(9)
		v := geometric(src)
		u := src.Below64(g.t)
		if !small64(src, coins&15, u, g.t) {
			continue
		}
		negative := coins&256 != 0
		if v >= near {
			if g.far(src, z, v, new(big.Int).SetUint64(u), coins) {
				return z
			}
			continue
		}
		y := (u + g.t*v) >> 4 // below 64t < 2³⁹
		if negative && y == 0 {
			continue // reject −0
		}
		product := g.step2.times(y, pair{})                 // below 64·dt² < 2¹²⁶
		root := pair{product[1], product[0]}.distance(g.n2) // n is below 2¹²⁶ too
		q, r := root.square().timesSixteen().divide(g.den2)
		// q ≤ 16·(64·dt²)²/(2ndt²) = 2¹⁵·dt²/n, which may need three words.
		if surviveWide(src, q) && small128(src, coins>>4&15, r, g.den2) {
			return set(z, wide{y}, negative)
		}
	}
}

// surviveWide is survive for a q of four words.
func surviveWide(src *entropy.Source, q wide) bool {
	if q[2]|q[3] != 0 {
		return surviveBig(src, set(new(big.Int), q, false))
	}
	return survive(src, q[1], q[0])
}

// drawBig is Draw for a parameter of any size.
func (g *Gaussian) drawBig(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(9)
		v := geometric(src)
		u := src.Below(g.tBig)
		if smallBig(src, coins&15, u, g.tBig) && g.far(src, z, v, u, coins) {
			return z
		}
	}
}

// far draws a proposal that may be too large for 64 bits, stores it in z, and reports whether it is accepted. v, u and
// coins are the random numbers that the proposal is made of.
func (g *Gaussian) far(src *entropy.Source, z *big.Int, v uint64, u *big.Int, coins uint64) bool {
	z.SetUint64(v)
	z.Mul(z, g.tBig).Add(z, u).Rsh(z, 4)
	negative := coins&256 != 0
	if negative && z.Sign() == 0 {
		return false // reject −0
	}
	q, r := new(big.Int).Mul(z, g.stepBig), new(big.Int)
	q.Sub(q, g.nBig)
	q.Mul(q, q).Lsh(q, 4).QuoRem(q, g.denBig, r)
	if negative {
		z.Neg(z)
	}
	return surviveBig(src, q) && smallBig(src, coins>>4&15, r, g.denBig)
}
