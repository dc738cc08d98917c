package audit

import (
	"math"
	"math/big"
	"testing"
)

// The lower end p solves P(Bin(n, p) ≥ k) = α. The values are computed by bisection on that sum, in 40 digits.
func TestBetweenAgainstHighPrecision(t *testing.T) {
	for _, c := range []struct {
		k, n       int
		alpha, low float64
	}{
		{1, 10, 1e-6, 1.000000450000285e-7},
		{10, 10, 1e-6, 0.25118864315095801},
		{3, 100, 1.25e-7, 9.198179272133695e-5},
		{50, 100, 1.25e-7, 0.25473186175737981},
		{99, 100, 0.025, 0.94554061460791934},
		{17, 1000, 1e-9, 0.0024423005093532369},
		{640, 1000, 1e-9, 0.54588156976733663},
		{5000, 20000, 1.25e-7, 0.23441373698068445},
		{12, 400000, 1.25e-7, 3.9706507590747629e-6},
		{399000, 400000, 1.25e-7, 0.99706862783508728},
		{1000, 1000000000, 1e-7, 8.4416580852146385e-7},
	} {
		low, _ := between(c.k, c.n, c.alpha)
		_, high := between(c.n-c.k, c.n, c.alpha) // the opposite event
		if low > c.low*(1+1e-15) || low < c.low*(1-2e-6) || 1-high > c.low || 1-high < c.low-2e-6 {
			t.Errorf("%d of %d at %g: %.17g and %.17g, want %.17g", c.k, c.n, c.alpha, low, 1-high, c.low)
		}
	}
}

// The tail is never below the exact one, and at most a relative 2e-6 above.
func TestTailAgainstRationals(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 7, 15, 16, 17, 40, 90} {
		for _, p := range []float64{1e-6, 0.01, 0.3, 0.5, 0.9, 0.999} {
			exact, q := new(big.Rat), new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFloat64(p))
			for k := n; float64(k) > float64(n)*p; k-- {
				mass := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
				mass.Mul(mass, power(new(big.Rat).SetFloat64(p), k))
				mass.Mul(mass, power(q, n-k))
				exact.Add(exact, mass)
				want, _ := exact.Float64()
				if got := tail(k, n, p); want > 1e-300 && (got < want || got > want*(1+2e-6)) {
					t.Errorf("P(Bin(%d, %g) ≥ %d) ≤ %.17g, exactly %.17g", n, p, k, got, want)
				}
			}
		}
	}
}

func power(x *big.Rat, k int) *big.Rat {
	num, den := new(big.Int).Exp(x.Num(), big.NewInt(int64(k)), nil),
		new(big.Int).Exp(x.Denom(), big.NewInt(int64(k)), nil)
	return new(big.Rat).SetFrac(num, den)
}

// Each end is wrong with probability at most α, whatever the probability is: summed over all counts.
func TestBetweenCovers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 30, 100} {
		for _, alpha := range []float64{0.05, 1e-3} {
			for p := 0.002; p < 1; p += 0.0173 {
				below, above := 0.0, 0.0
				for k := 0; k <= n; k++ {
					mass := math.Pow(1-p, float64(n))
					if k > 0 {
						mass = math.Exp(logMass(float64(k), float64(n), p, 1-p))
					}
					low, high := between(k, n, alpha)
					if low > p {
						below += mass
					}
					if high < p {
						above += mass
					}
				}
				if below > alpha*(1+1e-9) || above > alpha*(1+1e-9) {
					t.Errorf("n = %d, p = %g: %g and %g, at most %g", n, p, below, above, alpha)
				}
			}
		}
	}
}
