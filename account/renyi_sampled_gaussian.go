package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// RenyiSampledGaussian returns the Rényi loss, under add/remove, of Gaussian noise on a sum over a Poisson sample:
// each person is in the sample with probability q, independently. mu2 is μ² = Δ²/σ², where Δ is the largest L₂ norm
// that one person adds [Mironov, Talwar & Zhang 2019]. The result is tight up to the order 64, and at integer
// orders beyond. For a q outside [0, 1] it is +Inf at every order. Like GaussianDelta, it holds for continuous
// noise and its post-processing, and not for the discrete Gaussian.
//
// Let P = (1−q)N(0, σ²) + qN(Δ, σ²) and Q = N(0, σ²). The loss is D_α = ln A_α/(α−1) with A_α = E_Q[(P/Q)^α].
// [ibid., Theorem 4] reduces vectors to this case. By [ibid., Theorem 5 and Corollary 7], the other order D_α(Q‖P)
// is never larger.
//
// At an integer order, A_α = Σ_i C(α,i)(1−q)^(α−i)qⁱ·e^((i²−i)μ²/2). At μ = 0 this is 1. Subtracting the terms at μ
// = 0 one by one leaves A_α − 1 as a sum of positive terms.
//
// At any other order, split the integral at z = c/μ + μ/2 standard deviations, where c = ln(1/q−1). There, the two
// parts of the mixture are equal. On each side, expand (1+x)^α by the binomial series, where x ≤ 1 is the ratio of
// the parts. This gives normal integrals [ibid., Section 3.3]. Let φ be the standard normal density, R Mills'
// ratio, and C(α,i) the binomial coefficients. The sum of the integrals is
//
//	A_α = (1−q)^α·φ(z)·Σ_{i≥0} C(α,i)·(R(iμ−z) + R(iμ+z−αμ)).
//
// The first terms use q^i(1−q)^(−i)·e^((i²−i)μ²/2)·φ(iμ−z) = φ(z), and the second use the same identity with α−i in
// place of i. From i = ⌈α⌉ on the signs alternate. alternating adds these terms.
func RenyiSampledGaussian(q, mu2 *big.Rat) Renyi {
	if q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0 || mu2 == nil || mu2.Sign() < 0 {
		return nothing
	}
	unsampled := RenyiGaussian(mu2)
	switch {
	case q.Sign() == 0 || mu2.Sign() == 0:
		return renyi(func(float64) float64 { return 0 })
	case q.Cmp(big.NewRat(1, 1)) == 0:
		return unsampled
	}
	s := sampledGaussian{q: new(big.Rat).Set(q), mu2: new(big.Rat).Set(mu2)}
	atInteger := remembered(s.integer)
	return renyi(func(order float64) float64 {
		// Without sampling the loss is at least as large: A_α is convex in q, and at q = 0 it is 1 with slope 0.
		bound := unsampled(order)
		if order > maxSampledOrder || (order+1)*(order+1)*exact.FloatUp(mu2) > reach {
			return bound
		}
		bound = min(bound, betweenIntegers(order, atInteger))
		if loss, ok := s.fractional(order); ok {
			return min(bound, loss)
		}
		return bound
	})
}

// maxSampledOrder is the largest order at which moments of a sampled mechanism are added. The number of their terms
// grows with the order.
const maxSampledOrder = 1 << 11

// maxFractional is the largest non-integer order at which A_α is computed.
const maxFractional = 64

// reach is the largest exponent of e in the sums of sampled mechanisms. Within it, big.Float adds numbers of
// different sizes quickly.
const reach = 1 << 18

// betweenIntegers returns an upper bound of the loss D_α at a real order α of at most maxSampledOrder. The function
// at returns upper bounds at integers. The bound holds because (α−1)D_α is convex in α, and 0 at α = 1.
func betweenIntegers(order float64, at func(order int64) float64) float64 {
	low := math.Floor(order)
	share := order - low // exact
	sum := 0.0
	if share < 1 && low > 1 {
		sum = exact.MulUp(exact.MulUp(1-share, low-1), at(int64(low)))
	}
	if share > 0 {
		sum = exact.AddUp(sum, exact.MulUp(exact.MulUp(share, low), at(int64(low)+1)))
	}
	return exact.DivUp(sum, exact.SubDown(order, 1))
}

// sampledGaussian holds the parameters 0 < q < 1 and μ² > 0.
type sampledGaussian struct{ q, mu2 *big.Rat }

// integer returns the loss D_α at an integer order α. It computes Gᵢ = e^((i²−i)μ²/2) − 1 and Hᵢ = e^(iμ²) − 1 from
// the preceding ones by (1+G)(1+H) − 1 = G + H + GH, which needs no subtraction.
func (s sampledGaussian) integer(order int64) float64 {
	return renyiUpper(func(bits uint) exact.Interval {
		q := exact.IntervalOf(s.q, bits)
		rest := exact.IntervalOf(new(big.Rat).Sub(big.NewRat(1, 1), s.q), bits)
		odds := q.Quo(rest)
		join := func(g, h exact.Interval) exact.Interval { return g.Add(h).Add(g.Mul(h)) }
		each := exact.IntervalOf(s.mu2, bits).Expm1()
		weight := power(rest, order) // C(α,i)(1−q)^(α−i)qⁱ at i = 0
		sum, g, h := whole(0, bits), whole(0, bits), whole(0, bits)
		for i := range order + 1 {
			sum = sum.Add(weight.Mul(g))
			weight = weight.Mul(odds).Mul(whole(order-i, bits)).Quo(whole(i+1, bits))
			g, h = join(g, h), join(h, each)
		}
		return sum.Log1p().Quo(whole(order-1, bits))
	})
}

// fractional returns D_α at a non-integer order. ok is false at integers, if an exponential is out of range, and
// beyond maxFractional, where the bound by convexity is nearly as good.
func (s sampledGaussian) fractional(order float64) (upper float64, ok bool) {
	odds := new(big.Rat).Sub(big.NewRat(1, 1), s.q)
	odds.Quo(odds, s.q) // 1/q − 1
	_, c := exact.IntervalOf(odds, 64).Log().Floats()
	if order == math.Trunc(order) || order > maxFractional || (order+512)*math.Abs(c) > reach {
		return 0, false
	}
	return renyiUpperTo(64, 256, 0x1p-36, func(bits uint) exact.Interval {
		p := sampledPoint{bits: bits, c: exact.IntervalOf(odds, bits).Log(), mu2: exact.IntervalOf(s.mu2, bits)}
		p.mu = p.mu2.Sqrt()
		p.z = p.c.Quo(p.mu).Add(p.mu.Mul(exact.IntervalOf(big.NewRat(1, 2), bits)))
		p.density = far(p.z, bits)
		alpha, less := orderOf(order, bits)
		first := int64(math.Ceil(order))
		sum, binomial := whole(0, bits), whole(1, bits)
		step := func(i int64) { // steps from C(α,i) to C(α,i+1)
			binomial = binomial.Mul(alpha.Sub(whole(i, bits))).Quo(whole(i+1, bits))
		}
		for i := range first {
			sum = sum.Add(binomial.Mul(p.term(i, alpha)))
			step(i)
		}
		sum = sum.Add(alternating(bits, func(k int64) exact.Interval {
			i := first + k
			term := binomial.Mul(p.term(i, alpha))
			step(i)
			if k%2 == 1 {
				term = whole(0, bits).Sub(term)
			}
			return term
		}))
		rest := exact.IntervalOf(new(big.Rat).Sub(big.NewRat(1, 1), s.q), bits).Log() // ln(1−q)
		return logOrLowest(sum).Add(alpha.Mul(rest)).Quo(less)
	}), true
}

// sampledPoint holds the values that all terms of one evaluation use.
type sampledPoint struct {
	bits          uint
	c, mu, mu2, z exact.Interval
	density       exact.Interval // φ(z)
}

// term returns φ(z)·(R(iμ−z) + R(iμ+z−αμ)), the factor of C(α,i) in the sum of RenyiSampledGaussian.
func (p sampledPoint) term(i int64, alpha exact.Interval) exact.Interval {
	n := whole(i, p.bits)
	return p.integral(n.Mul(p.mu).Sub(p.z), n).Add(p.integral(p.z.Sub(alpha.Sub(n).Mul(p.mu)), alpha.Sub(n)))
}

// integral returns φ(z)·R(u), where R is Mills' ratio. j is i in the first part of sampledPoint.term, and α−i in
// the second. For u < 0, integral returns the integral over the whole normal density, e^(−jc+(j²−j)μ²/2), minus
// φ(z)·R(−u).
func (p sampledPoint) integral(u, j exact.Interval) exact.Interval {
	zero := whole(0, p.bits)
	switch {
	// u is known too roughly: use that the result is a probability times at most e^reach
	case u.Hi().Sign() >= 0 && u.Lo().Cmp(big.NewFloat(-1)) < 0:
		return exact.Hull(zero, whole(reach, p.bits).Exp())
	case u.Hi().Sign() >= 0 && p.density.Hi().MantExp(nil) < -int(p.bits)-64:
		return exact.Hull(zero, p.density.Add(p.density)) // so small that few digits suffice: R(u) < 2 for u ≥ −½
	case u.Hi().Sign() >= 0:
		return p.density.Mul(u.Mills())
	}
	half := exact.IntervalOf(big.NewRat(1, 2), p.bits)
	exponent := j.Mul(j.Sub(whole(1, p.bits))).Mul(half).Mul(p.mu2).Sub(j.Mul(p.c))
	return exponent.Exp().Sub(p.integral(zero.Sub(u), j))
}

// far returns the standard normal density φ(z), for any z.
func far(z exact.Interval, bits uint) exact.Interval {
	edge := whole(1400, bits)
	if z.Width().Cmp(big.NewFloat(1)) > 0 { // z is known too roughly
		return exact.Hull(whole(0, bits), whole(1, bits))
	}
	if new(big.Float).Abs(z.Middle()).Cmp(big.NewFloat(1401)) > 0 {
		return exact.Hull(whole(0, bits), edge.NormalDensity())
	}
	return z.NormalDensity()
}
