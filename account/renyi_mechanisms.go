package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// RenyiZCDP returns the Rényi loss of a ρ-zCDP mechanism: αρ, by definition [Bun & Steinke 2016].
func RenyiZCDP(r privacy.Rho) Renyi { return linear(r.Rat()) }

// RenyiGaussian returns the Rényi loss of Gaussian noise: αμ²/2 [Mironov 2017, Proposition 7]. mu2 is μ² = Δ²/σ²
// for the L₂ sensitivity Δ. The bound also holds for the discrete Gaussian on vectors of integers [Canonne, Kamath
// & Steinke 2020, Proposition 5].
func RenyiGaussian(mu2 *big.Rat) Renyi {
	if mu2 == nil || mu2.Sign() < 0 {
		return nothing
	}
	return linear(new(big.Rat).Quo(mu2, big.NewRat(2, 1)))
}

// linear returns the loss that is slope·α at the order α.
func linear(slope *big.Rat) Renyi {
	up := exact.FloatUp(slope)
	return renyi(func(order float64) float64 {
		switch {
		case slope.Sign() == 0:
			return 0
		case math.IsInf(order, 1):
			return order
		case up < 0x1p-960 || math.IsInf(up, 1): // multiplying floats would lose digits
			return exact.FloatUp(new(big.Rat).Mul(slope, new(big.Rat).SetFloat64(order)))
		}
		return exact.MulUp(up, order)
	})
}

// RenyiDiscreteGaussian returns the Rényi loss of discrete Gaussian noise with parameter sigma2 on one integer of
// sensitivity units. Let θ(c) = Σ_z exp(−(z−c)²/(2σ²)) over the integers. For a shift by m, completing the square
// gives
//
//	D_α = αm²/(2σ²) + ln(θ(αm)/θ(0)) / (α−1).
//
// This is at most the bound of RenyiGaussian, because θ is largest at integers. It equals that bound if αm is an
// integer. The largest shift is the worst: every such divergence is an average of the δ_m(ε) in the proof of
// DiscreteGaussianDelta, in both orders. For a vector use RenyiGaussian.
func RenyiDiscreteGaussian(sigma2 *big.Rat, units *big.Int) Renyi {
	if sigma2 == nil || sigma2.Sign() <= 0 || units == nil || units.Sign() < 0 {
		return nothing
	}
	mu2 := new(big.Rat).SetInt(new(big.Int).Mul(units, units))
	mu2.Quo(mu2, sigma2)
	continuous := RenyiGaussian(mu2)
	if sigma2.Cmp(big.NewRat(64, 1)) > 0 {
		return continuous // the bounds nearly agree: θ(c)/θ(0) is above 1 − 4·exp(−2π²·64)
	}
	return renyi(func(order float64) float64 {
		bound := continuous(order)
		if math.IsInf(bound, 1) || bound == 0 {
			return bound
		}
		centre := new(big.Rat).SetFloat64(order)
		centre.Mul(centre, new(big.Rat).SetInt(units))
		below := new(big.Rat).Sub(centre, new(big.Rat).SetInt(exact.FloorRat(centre)))
		if below.Sign() == 0 {
			return bound
		}
		slope := new(big.Rat).Quo(new(big.Rat).Mul(mu2, new(big.Rat).SetFloat64(order)), big.NewRat(2, 1))
		return min(bound, renyiUpperTo(128, 1<<10, 0x1p-45, func(bits uint) exact.Interval {
			_, less := orderOf(order, bits)
			first := halfLattice(new(big.Rat), sigma2, bits)
			level := first.Add(first).Sub(whole(1, bits))
			shifted := halfLattice(below, sigma2,
				bits).Add(halfLattice(new(big.Rat).Sub(big.NewRat(1, 1), below), sigma2, bits))
			return exact.IntervalOf(slope, bits).Add(logOrLowest(shifted.Quo(level)).Quo(less))
		}))
	})
}

// RenyiLaplace returns the Rényi loss of continuous Laplace noise of scale b, drawn for each value of a vector of
// L₁ sensitivity Δ. e is ε = Δ/b [Mironov 2017, Proposition 6]:
//
//	D_α = ln(α/(2α−1)·e^((α−1)ε) + (α−1)/(2α−1)·e^(−αε)) / (α−1).
//
// Proof for a vector. The divergences of the coordinates add up. Consider (α−1)·D_α as a function of the distance
// that one coordinate moves. It is the logarithm of a sum of exponentials of linear functions, hence convex. It is
// 0 at 0 and never negative, so it increases. Therefore its sum over the coordinates is at most its value at the
// sum of their distances. ∎
func RenyiLaplace(e privacy.Epsilon) Renyi {
	return threeValued(lossOf(e), func(alpha, _ exact.Interval, bits uint) (first, second, third exact.Interval) {
		double := alpha.Add(alpha).Sub(whole(1, bits))
		return alpha.Quo(double), alpha.Sub(whole(1, bits)).Quo(double), whole(0, bits)
	})
}

// RenyiDiscreteLaplace returns the Rényi loss of discrete Laplace noise, with probabilities proportional to
// e^(−|x|/scale) on the integers. It is drawn for each value of a vector of integers of L₁ sensitivity units. Let p
// = e^(−1/scale), w = p^(2α−1) and ε = units/scale. Summing three geometric series gives
//
//	D_α = ln(c·e^((α−1)ε) + (1−c)·e^(−αε)) / (α−1),  c = (1 + (1−p)w/(1−w)) / (1+p).
//
// Since w < p, c < 1. So the proof of RenyiLaplace for vectors applies.
func RenyiDiscreteLaplace(units *big.Int, scale *big.Rat) Renyi {
	if units == nil || units.Sign() < 0 || scale == nil || scale.Sign() <= 0 {
		return nothing
	}
	e, err := privacy.EpsilonOf(new(big.Rat).Quo(new(big.Rat).SetInt(units), scale))
	if err != nil {
		return nothing
	}
	return threeValued(lossOf(e), func(alpha, _ exact.Interval, bits uint) (first, second, third exact.Interval) {
		one, step := whole(1, bits), exact.IntervalOf(new(big.Rat).Inv(scale), bits)
		double := alpha.Add(alpha).Sub(one)
		p, w := decay(step, bits), decay(double.Mul(step), bits)
		tail := shortfall(step, bits).Mul(w).Quo(shortfall(double.Mul(step), bits))
		c := one.Add(tail).Quo(one.Add(p))
		return c, one.Sub(c), whole(0, bits)
	})
}

// RenyiPure returns the Rényi loss of an ε-differentially private mechanism, where ε is e. It is at most that of
// randomized response between two answers, because every such mechanism is a post-processing of that one [Kairouz,
// Oh & Viswanath 2017, Theorem 2.1, with n = 1]:
//
//	D_α = ln((e^((α−1)ε) + e^(−αε)) / (1+e^(−ε))) / (α−1) ≤ min(ε, αε²/2).
//
// The bound also follows from convexity. Let P and Q be the output laws on two neighbours. P/Q lies in [e^(−ε),
// e^ε] and has mean 1 under Q, and x^α is at most its chord.
func RenyiPure(e privacy.Epsilon) Renyi { return RenyiRandomizedResponse(2, e) }

// RenyiRandomizedResponse returns the Rényi loss of randomized response between k answers, under change-one. The
// true answer has e^ε times the probability of each other answer, where ε is e. Let P and Q be the laws of the
// answer for two different values. Two of the answers have P/Q = e^ε and e^(−ε), and the others have P/Q = 1. So
//
//	D_α = ln((e^((α−1)ε) + e^(−αε) + (k−2)e^(−ε)) / (1+(k−1)e^(−ε))) / (α−1).
//
// For k = 1 there is no loss. For k < 1 the result is +Inf at every order.
func RenyiRandomizedResponse(k int64, e privacy.Epsilon) Renyi {
	return randomizedResponse(k, lossOf(e))
}

// RenyiRandomizedResponseOdds is RenyiRandomizedResponse with the odds e^ε ≥ 1 in place of ε.
func RenyiRandomizedResponseOdds(k int64, odds *big.Rat) Renyi {
	if odds == nil || odds.Cmp(big.NewRat(1, 1)) < 0 {
		return nothing
	}
	return randomizedResponse(k, func(bits uint) exact.Interval { return exact.IntervalOf(odds, bits).Log() })
}

func randomizedResponse(k int64, loss func(bits uint) exact.Interval) Renyi {
	switch {
	case k < 1:
		return nothing
	case k == 1:
		return renyi(func(float64) float64 { return 0 })
	}
	return threeValued(loss, func(_, x exact.Interval, bits uint) (first, second, third exact.Interval) {
		one, low := whole(1, bits), decay(x, bits)
		first = one.Quo(one.Add(whole(k-1, bits).Mul(low)))
		return first, first, whole(k-2, bits).Mul(low).Mul(first)
	})
}

// RenyiBoundedRange returns the Rényi loss of an ε-bounded-range mechanism, where ε is e. Let P and Q be its output
// laws on two neighbours. The log-ratios ln P(y)/Q(y) of all outputs y lie within an interval of length ε. An
// example is the exponential mechanism for scores u of sensitivity Δ, with probabilities proportional to e^(εu/2Δ),
// or to e^(εu/Δ) if u is one-sided. It equals report-noisy-max with Gumbel noise [Durfee & Rogers 2019; Dong,
// Durfee & Rogers 2020]. The result is the largest loss that such a mechanism can have. It is at most min(ε, αε²/8)
// [Cesar & Rogers 2021]:
//
//	D_α = ln((1−e^(−αε)) / (α(1−e^(−ε)))) / (α−1) + ln((α−1)(1−e^(−αε)) / (α(1−e^(−(α−1)ε)))) + ε.
//
// Proof. Let P/Q lie in [e^(t−ε), e^t] with 0 ≤ t ≤ ε. It has mean 1 under Q, and x^α is at most its chord. So
// E_Q[(P/Q)^α] is largest if P/Q takes only the two end values, with the probabilities that make the mean 1. It is
// then (e^((α−1)t)(1−e^(−αε)) − e^(αt)(e^(−ε)−e^(−αε))) / (1−e^(−ε)). As a function of s = e^t this is largest at s
// = (α−1)(1−e^(−αε)) / (α(e^(−ε)−e^(−αε))). This s gives D_α. The bound of D_α(Q‖P) is the same, because Q/P lies
// in an interval of the same form. ∎
func RenyiBoundedRange(e privacy.Epsilon) Renyi {
	if e.IsZero() {
		return renyi(func(float64) float64 { return 0 })
	}
	loss := lossOf(e)
	up := exact.FloatUp(e.Rat())
	return renyi(func(order float64) float64 {
		if math.IsInf(order, 1) {
			return up
		}
		return min(up, renyiUpper(func(bits uint) exact.Interval {
			x := loss(bits)
			alpha, less := orderOf(order, bits)
			all := shortfall(alpha.Mul(x), bits)
			mean := all.Quo(alpha.Mul(shortfall(x, bits))).Log().Quo(less)
			return mean.Add(less.Mul(all).Quo(alpha.Mul(shortfall(less.Mul(x), bits))).Log()).Add(x)
		}))
	})
}

// threeValued returns the loss of two distributions whose ratio takes only the values e^ε, e^(−ε) and 1, or whose
// moments have the same form:
//
//	(α−1)·D_α = ln(first·e^((α−1)ε) + second·e^(−αε) + third).
//
// threeValued takes the factor e^((α−1)ε) out of the logarithm. loss returns ε at a precision in bits, and weights
// returns first, second and third for an order α and x = ε.
func threeValued(
	loss func(bits uint) exact.Interval,
	weights func(alpha, x exact.Interval, bits uint) (first, second, third exact.Interval),
) Renyi {
	_, up := loss(128).Floats()
	return renyi(func(order float64) float64 {
		if up == 0 || math.IsInf(order, 1) {
			return up
		}
		return min(up, renyiUpper(func(bits uint) exact.Interval {
			x := loss(bits)
			alpha, less := orderOf(order, bits)
			first, second, third := weights(alpha, x, bits)
			sum := first.Add(second.Mul(decay(alpha.Add(less).Mul(x), bits))).Add(third.Mul(decay(less.Mul(x), bits)))
			return x.Add(sum.Log().Quo(less))
		}))
	})
}

// lossOf returns a function that returns ε as an interval of any precision in bits.
func lossOf(e privacy.Epsilon) func(bits uint) exact.Interval {
	return func(bits uint) exact.Interval { return exact.IntervalOf(e.Rat(), bits) }
}

// orderOf returns a finite order α, and α − 1, as intervals.
func orderOf(order float64, bits uint) (alpha, less exact.Interval) {
	rational := new(big.Rat).SetFloat64(order)
	alpha = exact.IntervalOf(rational, bits)
	return alpha, exact.IntervalOf(rational.Sub(rational, big.NewRat(1, 1)), bits)
}

// logOrLowest returns ln x, for x ≥ 0. If the interval x includes 0, the upper end of the result is ln of its upper
// end, and the lower end is far below.
func logOrLowest(x exact.Interval) exact.Interval {
	if x.Lo().Sign() > 0 {
		return x.Log()
	}
	top := exact.PointOf(x.Hi(), x.Hi().Prec()).Log()
	return exact.Hull(top.Sub(whole(1<<30, x.Hi().Prec())), top)
}
