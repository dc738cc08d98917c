package noise

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

// A quantile is the one that bisection from the first ends finds, and its tail's argument is the exact fraction rounded
// down.
func TestGaussianQuantileFromNearby(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := big.NewInt(rapid.Int64Range(1, math.MaxInt64).Draw(t, "numerator"))
		n.Lsh(n, uint(rapid.SampledFrom([]int{0, 0, 30, 60, 200}).Draw(t, "up")))
		m := big.NewInt(rapid.Int64Range(1, math.MaxInt64).Draw(t, "denominator"))
		m.Lsh(m, uint(rapid.SampledFrom([]int{0, 0, 30, 60, 200}).Draw(t, "down")))
		d, err := NewDiscreteGaussian(new(big.Rat).SetFrac(n, m))
		if err != nil {
			t.Skip(err)
		}
		alpha := math.Exp(-rapid.Float64Range(1e-9, 700).Draw(t, "log alpha"))
		got := d.Quantile(alpha)
		want := bisect(gaussianReach(d.sigma2, alpha), func(k *big.Int) bool { return d.Tail(k) <= alpha })
		if got.Cmp(want) != 0 {
			t.Fatalf("σ² = %s at %g: %s, want %s", d.sigma2, alpha, got, want)
		}
		a := new(big.Int).Add(got, big.NewInt(rapid.Int64Range(1, 1<<40).Draw(t, "beyond")))
		if got, want := d.halfwayDown(a), exact.FloatDown(d.halfway(a)); got != want {
			t.Fatalf("σ² = %s at %s: %g, want %g", d.sigma2, a, got, want)
		}
	})
}
