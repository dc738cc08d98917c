package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// RenyiZCDP is that of a ρ-zCDP mechanism, αρ: the definition [Bun & Steinke 2016].
func RenyiZCDP(r privacy.Rho) Renyi { return linear(r.Rat()) }

// RenyiGaussian is that of Gaussian noise, where mu2 is μ² = Δ²/σ² of the L₂ sensitivity Δ: αμ²/2 [Mironov
// 2017, Proposition 7]. It is a bound for the discrete Gaussian too, on vectors of integers [Canonne, Kamath & Steinke
// 2020, Proposition 5].
func RenyiGaussian(mu2 *big.Rat) Renyi {
	if mu2 == nil || mu2.Sign() < 0 {
		return nothing
	}
	return linear(new(big.Rat).Quo(mu2, big.NewRat(2, 1)))
}

// linear is slope·α.
func linear(slope *big.Rat) Renyi {
	up := exact.FloatUp(slope)
	return renyi(func(order float64) float64 {
		switch {
		case slope.Sign() == 0:
			return 0
		case math.IsInf(order, 1):
			return order
		case up < 0x1p-960 || math.IsInf(up, 1): // the product by floats would lose digits
			return exact.FloatUp(new(big.Rat).Mul(slope, new(big.Rat).SetFloat64(order)))
		}
		return exact.MulUp(up, order)
	})
}

// RenyiDiscreteGaussian is that of discrete Gaussian noise of parameter sigma2 on one integer of sensitivity units.
// With θ(c) = Σ_z exp(−(z−c)²/(2σ²)) over the integers it is, for a shift by m, by completing the square,
//
//	D_α = αm²/(2σ²) + ln(θ(αm)/θ(0)) / (α−1),
//
// at most what RenyiGaussian says, since θ is largest at integers, and equal to it where αm is one. The largest shift
// is the worst: every divergence of this kind is an average of those of DiscreteGaussianDelta's proof, in both orders.
// For a vector RenyiGaussian holds.
func RenyiDiscreteGaussian(sigma2 *big.Rat, units *big.Int) Renyi {
	if sigma2 == nil || sigma2.Sign() <= 0 || units == nil || units.Sign() < 0 {
		return nothing
	}
	mu2 := new(big.Rat).SetInt(new(big.Int).Mul(units, units))
	mu2.Quo(mu2, sigma2)
	continuous := RenyiGaussian(mu2)
	if sigma2.Cmp(big.NewRat(64, 1)) > 0 {
		return continuous // θ(c)/θ(0) is above 1 − 4·exp(−2π²·64)
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
		return min(bound, renyiUpperTo(1<<10, func(bits uint) exact.Interval {
			_, less := orderOf(order, bits)
			first := halfLattice(new(big.Rat), sigma2, bits)
			level := first.Add(first).Sub(whole(1, bits))
			shifted := halfLattice(below, sigma2,
				bits).Add(halfLattice(new(big.Rat).Sub(big.NewRat(1, 1), below), sigma2, bits))
			return exact.IntervalOf(slope, bits).Add(logOrLowest(shifted.Quo(level)).Quo(less))
		}))
	})
}

// RenyiLaplace is that of continuous Laplace noise of scale b, drawn for each value of a vector of L₁ sensitivity Δ,
// where e is Δ/b [Mironov 2017, Proposition 6]:
//
//	D_α = ln(α/(2α−1)·e^((α−1)ε) + (α−1)/(2α−1)·e^(−αε)) / (α−1).
//
// Proof for a vector: coordinates add up, and (α−1)·D_α as a function of how far a coordinate moves, the logarithm
// of a sum of exponentials of linear functions, is convex, 0 at 0 and never negative: so it rises, and the sum over
// coordinates is at most its value at the sum of their distances. ∎
func RenyiLaplace(e privacy.Epsilon) Renyi {
	return threeValued(lossOf(e), func(alpha, _ exact.Interval, bits uint) (first, second, third exact.Interval) {
		double := alpha.Add(alpha).Sub(whole(1, bits))
		return alpha.Quo(double), alpha.Sub(whole(1, bits)).Quo(double), whole(0, bits)
	})
}

// RenyiDiscreteLaplace is that of discrete Laplace noise, of mass proportional to e^(−|x|/scale) over the integers,
// drawn for each value of a vector of integers of L₁ sensitivity units. With p = e^(−1/scale), w = p^(2α−1) and
// ε = units/scale it is, by summing three geometric series,
//
//	D_α = ln(c·e^((α−1)ε) + (1−c)·e^(−αε)) / (α−1),  c = (1 + (1−p)w/(1−w)) / (1+p),
//
// and as w < p, c < 1: so the proof for vectors is that of RenyiLaplace.
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

// RenyiPure is that of any ε-differentially private mechanism: at most that of randomized response between two
// answers, to which every such mechanism can be brought by post-processing [Kairouz, Oh & Viswanath 2017, Theorem 2.1,
// with n = 1],
//
//	D_α = ln((e^((α−1)ε) + e^(−αε)) / (1+e^(−ε))) / (α−1) ≤ min(ε, αε²/2).
//
// That it is the largest follows too by convexity: P/Q lies in [e^(−ε), e^ε] and has mean 1 under Q, and x^α is at
// most its chord.
func RenyiPure(e privacy.Epsilon) Renyi { return RenyiRandomizedResponse(2, e) }

// RenyiRandomizedResponse is that of randomized response between k answers under change-one, where the true answer has
// e^ε times the probability of each other. Two of the answers have P/Q = e^ε and e^(−ε), the others 1, so that
//
//	D_α = ln((e^((α−1)ε) + e^(−αε) + (k−2)e^(−ε)) / (1+(k−1)e^(−ε))) / (α−1).
//
// With k = 1 it is no loss; a k below 1 is nonsense.
func RenyiRandomizedResponse(k int64, e privacy.Epsilon) Renyi {
	return randomizedResponse(k, lossOf(e))
}

// RenyiRandomizedResponseOdds is RenyiRandomizedResponse with the odds e^ε, at least 1, instead of ε.
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

// RenyiBoundedRange is that of an ε-bounded-range mechanism, whose log-ratios ln P(y)/Q(y) of neighbours lie within an
// interval of length ε: the exponential mechanism of parameter ε (probabilities proportional to e^(εu/2Δ), or
// e^(εu/Δ) where u is one-sided), which is report-noisy-max with Gumbel noise [Durfee & Rogers 2019; Dong, Durfee &
// Rogers 2020]. It is the largest that such a mechanism can have, and at most min(ε, αε²/8) [Cesar & Rogers 2021]:
//
//	D_α = ln((1−e^(−αε)) / (α(1−e^(−ε)))) / (α−1) + ln((α−1)(1−e^(−αε)) / (α(1−e^(−(α−1)ε)))) + ε.
//
// Proof. Let P/Q lie in [e^(t−ε), e^t], 0 ≤ t ≤ ε. It has mean 1 under Q, and x^α is at most its chord, so
// E_Q[(P/Q)^α] is at most that of the two ends with the probabilities that make the mean 1,
// (e^((α−1)t)(1−e^(−αε)) − e^(αt)(e^(−ε)−e^(−αε))) / (1−e^(−ε)). As a function of s = e^t it
// is largest at s = (α−1)(1−e^(−αε)) / (α(e^(−ε)−e^(−αε))), which gives D_α. The bound on Q/P has
// the same range. ∎
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

// threeValued is the loss of distributions whose ratio is e^ε, e^(−ε) or 1, or whose moments have that form:
//
//	(α−1)·D_α = ln(first·e^((α−1)ε) + second·e^(−αε) + third),
//
// and at most (α−1)ε, which is taken out of the logarithm. The third weight is handed over as it is, the second
// too.
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

// lossOf is ε, to any precision.
func lossOf(e privacy.Epsilon) func(bits uint) exact.Interval {
	return func(bits uint) exact.Interval { return exact.IntervalOf(e.Rat(), bits) }
}

// orderOf is a finite order α and α − 1.
func orderOf(order float64, bits uint) (alpha, less exact.Interval) {
	rational := new(big.Rat).SetFloat64(order)
	alpha = exact.IntervalOf(rational, bits)
	return alpha, exact.IntervalOf(rational.Sub(rational, big.NewRat(1, 1)), bits)
}

// logOrLowest is ln x for an x ≥ 0 that may reach 0, where all that is known is that it is at most ln of its upper
// end.
func logOrLowest(x exact.Interval) exact.Interval {
	if x.Lo().Sign() > 0 {
		return x.Log()
	}
	top := exact.PointOf(x.Hi(), x.Hi().Prec()).Log()
	return exact.Hull(top.Sub(whole(1<<30, x.Hi().Prec())), top)
}
