package noise

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// Distribution is a symmetric distribution of integer noise: DiscreteLaplace, DiscreteGaussian, RoundedGaussian or
// Staircase.
type Distribution interface {
	// Draw returns an integer that has exactly this distribution.
	Draw() *big.Int
	// Mass returns P(X = x), and CDF returns P(X ≤ x). The results of Mass, CDF, Variance and StdDev are floats
	// near the exact values.
	Mass(x *big.Int) float64
	CDF(x *big.Int) float64
	Variance() float64
	StdDev() float64
	// Tail returns an upper bound on P(|X| > k). Quantile returns a k at which that bound is at most alpha.
	Tail(k *big.Int) float64
	Quantile(alpha float64) *big.Int
}

var (
	_ Distribution = DiscreteLaplace{}
	_ Distribution = DiscreteGaussian{}
	_ Distribution = RoundedGaussian{}
)

// DifferenceTail returns an upper bound on P(|A − θC| > y) for θ ≥ 0 and independent A ~ a and C ~ c. Both must be
// Laplace, both Gaussian, or both rounded Gaussian. For other pairs, and for negative or NaN arguments, it returns
// 1.
//
// Laplace and Gaussian: each of A and C has a coupling in which it is within 1 of a continuous variable of the same
// kind and parameter (see DiscreteLaplace and DiscreteGaussian.Tail). So A − θC is within 1 + θ of the difference
// of the continuous variables, whose tail is known. For two Laplace variables it is LaplaceDifferenceTail. For two
// Gaussian variables it is the tail of a Gaussian with variance v = σ_A² + θ²σ_C².
//
// Small Gaussian noise has a second bound that is smaller. A discrete Gaussian is σ²-subgaussian, E exp(tX) ≤
// exp(t²σ²/2) (see DiscreteGaussian). So the difference is v-subgaussian, and the probability is at most
// 2·exp(−y²/(2v)).
//
// A rounded Gaussian is within ½ of a continuous one, so (1 + θ)/2 replaces 1 + θ. That bound is useless for small
// noise. A second bound uses that |A − θC| > y implies |A| > y/(1 + θ) or |C| > y/(1 + θ).
func DifferenceTail(a, c Distribution, theta, y float64) float64 {
	if !(theta >= 0) || !(y >= 0) {
		return 1
	}
	near := exact.SubDown(y, exact.AddUp(1, theta)) // if negative, the bound is 1
	switch a := a.(type) {
	case DiscreteLaplace:
		if c, ok := c.(DiscreteLaplace); ok {
			return LaplaceDifferenceTail(a.floats.up, exact.MulUp(theta, c.floats.up), near)
		}
	case DiscreteGaussian:
		if c, ok := c.(DiscreteGaussian); ok {
			v := exact.AddUp(a.floats.up, exact.MulUp(exact.MulUp(theta, theta), c.floats.up))
			return gaussianTail(v, near, y)
		}
	case RoundedGaussian:
		if c, ok := c.(RoundedGaussian); ok {
			v := exact.AddUp(a.floats.up, exact.MulUp(exact.MulUp(theta, theta), c.floats.up))
			return min(continuousTail(v, exact.SubDown(y, exact.AddUp(1, theta)/2)), apart(a, c, theta, y))
		}
	}
	return 1
}

// apart returns P(|A| > k) + P(|C| > k) for a k ≤ y/(1 + θ), rounded up: a bound on P(|A − θC| > y) for any pair.
func apart(a, c Distribution, theta, y float64) float64 {
	share := exact.DivDown(y, exact.AddUp(1, theta))
	if !(share <= math.MaxFloat64) {
		return 1
	}
	k := exact.FloorRat(new(big.Rat).SetFloat64(share))
	return min(1, exact.AddUp(a.Tail(k), c.Tail(k)))
}

// gaussianTail returns the lesser of P(|L| > near), for a continuous Gaussian L of variance v, and 2·exp(−y²/(2v)).
func gaussianTail(v, near, y float64) float64 {
	if math.IsInf(v, 1) {
		return 1
	}
	twice := exact.MulUp(2, v)
	subgaussian := exact.MulUp(2, exact.ExpUp(-exact.DivDown(exact.MulDown(y, y), twice)))
	return min(continuousTail(v, near), subgaussian)
}

// continuousTail returns an upper bound on P(|L| > y) for a continuous Gaussian L of variance v.
func continuousTail(v, y float64) float64 {
	if y <= 0 || math.IsInf(v, 1) {
		return 1
	}
	root := exact.DivDown(y, math.Nextafter(math.Sqrt(exact.MulUp(2, v)), math.Inf(1)))
	return min(1, widen(math.Erfc(root)))
}
