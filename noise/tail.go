package noise

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// Tail returns an upper bound on P(|X| > k). Its relative error is at most 1e-12 (or a few of the least floats).
// Tail is 1 for k < 0.
func (d DiscreteLaplace) Tail(k *big.Int) float64 {
	if k.Sign() < 0 {
		return 1
	}
	// P(|X| ≥ k + 1) = 2p^(k+1)/(1 + p)
	decay := exact.ExpUp(-exact.FloatDown(d.exponent(new(big.Int).Add(k, big.NewInt(1)))))
	down := d.powerDown()
	return min(1, exact.DivUp(2*decay, exact.AddDown(1, down)))
}

// Quantile returns the two-sided quantile: the least k ≥ 0 with P(|X| ≤ k) ≥ 1 − alpha. The inequality is
// certified. If rounding leaves doubt, k may be larger than the least one, but P(|X| > k − 1) is always above
// alpha·(1 − 2e-12). If alpha ≤ 0 or NaN, no integer suffices, and Quantile returns nil.
func (d DiscreteLaplace) Quantile(alpha float64) *big.Int {
	switch {
	case !(alpha > 0):
		return nil
	case alpha >= 1:
		return new(big.Int)
	}
	// P(|X| > k) = 2p^(k+1)/(1 + p) ≤ α if and only if k + 1 ≥ scale·(ln(2/(1 + p)) − ln α).
	down := d.powerDown()
	log := exact.SubUp(exact.LogUp(exact.DivUp(2, exact.AddDown(1, down))), exact.LogDown(alpha))
	bound := new(big.Rat).SetFloat64(log) // finite, at most ln 2 + 745
	k := exact.CeilRat(bound.Mul(bound, d.scale))
	return k.Sub(k, big.NewInt(1)) // at least 0: the product is above 0, because 2/(1 + p) ≥ 1 > α
}

// LaplaceDifferenceTail returns an upper bound on P(|A − C| > y) for independent continuous Laplace variables A of
// scale a and C of scale c. A scale may be 0. The relative error is at most 1e-12 (or a few of the least floats).
// If y is negative, a scale is negative or infinite, or an argument is NaN, it returns 1.
//
// For a ≥ c the probability is (a²e^(−y/a) − c²e^(−y/c))/(a² − c²), which cancels if c is near a. Let d = y/c − y/a
// = y(a − c)/(ac) and φ(d) = (1 − e^(−d))/d, φ(0) = 1. Then a²e^(−y/a) − c²e^(−y/c) = e^(−y/a)·((a² − c²) +
// c²·d·φ(d)), hence
//
//	P(|A − C| > y) = e^(−y/a)·(1 + y/a · c/(a + c) · φ(d)),
//
// in which nothing cancels. At a = c it is e^(−y/a)·(1 + y/(2a)). Proof of the first form: the characteristic
// function of A − C is 1/((1 + a²t²)(1 + c²t²)) = (a²/(1 + a²t²) − c²/(1 + c²t²))/(a² − c²), a combination of those
// of the two scales.
func LaplaceDifferenceTail(a, c, y float64) float64 {
	a, c = max(a, c), min(a, c) // NaN if either argument is NaN
	switch {
	case !(c >= 0) || math.IsInf(a, 1) || !(y >= 0):
		return 1
	case a == 0 || math.IsInf(y, 1):
		return 0
	}
	z := exact.DivDown(y, a)
	decay := exact.ExpUp(-z)
	if c == 0 {
		return min(1, decay)
	}
	share := exact.DivUp(1, exact.AddDown(1, exact.DivDown(a, c))) // c/(a + c), at most ½
	d := exact.MulDown(z, exact.DivDown(exact.SubDown(a, c), c))
	growth := exact.MulUp(exact.MulUp(exact.DivUp(y, a), share), phiUp(d))
	if math.IsInf(growth, 1) {
		return exact.ExpUp(-z / 2) // 1 + z/2 ≤ exp(z/2)
	}
	return min(1, exact.MulUp(decay, exact.AddUp(1, growth)))
}

// phiUp returns an upper bound on φ(x) = (1 − e^(−x))/x for all x ≥ d, where d ≥ 0. φ is at most 1 and decreasing,
// so a lower bound on the argument suffices.
func phiUp(d float64) float64 {
	if d == 0 {
		return 1
	}
	return min(1, exact.DivUp(-exact.Expm1Down(-d), d))
}
