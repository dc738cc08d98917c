package noise_test

import (
	"math"
	"math/big"
	"testing"

	"dither/noise"
)

// TestLaplaceErrorBound is the textbook's P(|error| ≥ (Δ/ε)·ln(1/δ)) = δ, exact for a continuous Laplace
// variable of scale b = Δ/ε. For the discrete one P(|X| ≥ k) = 2pᵏ/(1 + p), p = exp(−1/b), so that at the least
// integer k ≥ b·ln(1/δ) it is at most 2δ/(1 + p), and more than 2δp/(1 + p): within 1/(2b) of δ, relatively, or
// so.
func TestLaplaceErrorBound(t *testing.T) {
	const b = 1000.0
	d, p := laplace(t, "1000"), math.Exp(-1/b)
	for _, delta := range []float64{0.5, 0.1, 0.05, 0.01, 1e-6, 1e-12} {
		if continuous := noise.LaplaceDifferenceTail(b, 0, b*math.Log(1/delta)); !near(continuous, delta, 1e-12) {
			t.Errorf("δ = %g: %g for a continuous variable", delta, continuous)
		}
		k := math.Ceil(b * math.Log(1/delta))
		atLeast := d.Tail(big.NewInt(int64(k) - 1))
		if want := 2 * math.Pow(p, k) / (1 + p); !near(atLeast, want, 1e-11) {
			t.Errorf("δ = %g: P(|X| ≥ %g) = %.15g, want %.15g", delta, k, atLeast, want)
		}
		if low, high := 2*delta*p/(1+p), 2*delta/(1+p); atLeast < low*(1-1e-12) || atLeast > high*(1+1e-11) ||
			!near(low, delta, 0.6/b) || !near(high, delta, 0.6/b) {
			t.Errorf("δ = %g: P(|X| ≥ %g) = %g is not from %g to %g", delta, k, atLeast, low, high)
		}
	}
}
