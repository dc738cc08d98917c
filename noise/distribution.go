package noise

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// Distribution is a symmetric distribution over the integers that noise is drawn from: DiscreteLaplace or DiscreteGaussian.
type Distribution interface {
	// Draw returns an integer with exactly this distribution.
	Draw() *big.Int
	// Mass is P(X = x), CDF is P(X ≤ x), Variance and StdDev are what they say: floats near the real value.
	Mass(x *big.Int) float64
	CDF(x *big.Int) float64
	Variance() float64
	StdDev() float64
	// Tail is an upper bound on P(|X| > k), and Quantile a k at which that is at most alpha.
	Tail(k *big.Int) float64
	Quantile(alpha float64) *big.Int
}

var (
	_ Distribution = DiscreteLaplace{}
	_ Distribution = DiscreteGaussian{}
)

// DifferenceTail is an upper bound on P(|A − θC| > y) for independent A and C, both Laplace or both Gaussian, θ ≥ 0. It is 1, a
// bound on any probability, for other pairs and for arguments that are negative or NaN.
//
// Each of A and C is within 1 of a continuous variable of its kind and parameter, under a coupling (see DiscreteLaplace, and
// DiscreteGaussian.Tail for the Gaussian), so A − θC is within 1 + θ of the difference of those, whose tail is known: of two
// Laplace variables it is LaplaceDifferenceTail, and of two Gaussian ones that of one of variance v = σ_A² + θ²σ_C².
//
// For the Gaussian there is another bound, which is less where noise is small: a discrete Gaussian is σ²-subgaussian,
// E exp(tX) ≤ exp(t²σ²/2) (see DiscreteGaussian), so the difference is v-subgaussian and the probability at most
// 2·exp(−y²/(2v)).
func DifferenceTail(a, c Distribution, theta, y float64) float64 {
	if !(theta >= 0) || !(y >= 0) {
		return 1
	}
	near := exact.SubDown(y, exact.AddUp(1, theta)) // below 0 it is a bound on nothing
	switch a := a.(type) {
	case DiscreteLaplace:
		if c, ok := c.(DiscreteLaplace); ok {
			return LaplaceDifferenceTail(exact.FloatUp(a.scale), exact.MulUp(theta, exact.FloatUp(c.scale)), near)
		}
	case DiscreteGaussian:
		if c, ok := c.(DiscreteGaussian); ok {
			v := exact.AddUp(exact.FloatUp(a.sigma2), exact.MulUp(exact.MulUp(theta, theta), exact.FloatUp(c.sigma2)))
			return gaussianTail(v, near, y)
		}
	}
	return 1
}

// gaussianTail is the lesser of P(|L| > near) for a continuous Gaussian L of variance v, and 2·exp(−y²/(2v)).
func gaussianTail(v, near, y float64) float64 {
	if math.IsInf(v, 1) {
		return 1
	}
	twice := exact.MulUp(2, v)
	subgaussian := exact.MulUp(2, exact.ExpUp(-exact.DivDown(exact.MulDown(y, y), twice)))
	if near <= 0 {
		return min(1, subgaussian)
	}
	root := exact.DivDown(near, math.Nextafter(math.Sqrt(twice), math.Inf(1)))
	return min(1, subgaussian, widen(math.Erfc(root)))
}
