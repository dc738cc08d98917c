package noise

import (
	"math"
	"math/big"
	"testing"
)

// The coupling of a discrete with a continuous Gaussian, P(X ≥ k) ≤ P(L ≥ k − 1), at every k that floats can
// tell.
func TestGaussianCoupling(t *testing.T) {
	for sigma := 0.05; sigma < 40; sigma *= 1.07 {
		s2 := new(big.Rat).SetFloat64(sigma * sigma)
		d, err := NewDiscreteGaussian(s2)
		if err != nil {
			t.Fatal(err)
		}
		for k := int64(-20 * sigma); k <= int64(20*sigma)+2; k++ {
			x := d.CDF(big.NewInt(-k)) // P(X ≥ k)
			l := math.Erfc(float64(k-1)/(sigma*math.Sqrt2)) / 2
			if x > l*(1+1e-9)+1e-300 && x-l > 1e-13 {
				t.Errorf("σ = %.3g: P(X ≥ %d) = %g, P(L ≥ %d) = %g", sigma, k, x, k-1, l)
			}
		}
	}
}

// The tail of a difference of Gaussians against the sum over both distributions.
func TestGaussianDifferenceTail(t *testing.T) {
	for _, c := range []struct{ a2, c2, theta float64 }{
		{1, 1, 1}, {0.1, 0.2, 3}, {30, 0.5, 2.5}, {9, 25, 0}, {4, 100, 0.125}, {100, 100, 7}, {0.01, 0.01, 1},
	} {
		a, err := NewDiscreteGaussian(new(big.Rat).SetFloat64(c.a2))
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewDiscreteGaussian(new(big.Rat).SetFloat64(c.c2))
		if err != nil {
			t.Fatal(err)
		}
		sd := math.Sqrt(c.a2 + c.theta*c.theta*c.c2)
		for _, z := range []float64{0, 0.5, 1, 2, 2.5, 3, 4} {
			y := z*sd + 0.3
			exact := 0.0
			reach := int64(12*math.Sqrt(c.c2)) + 3
			for x := -reach; x <= reach; x++ {
				// P(|A − θx| > y) = P(A > θx + y) + P(A < θx − y)
				up := int64(math.Floor(c.theta*float64(x)+y)) + 1
				down := int64(math.Ceil(c.theta*float64(x)-y)) - 1
				exact += b.Mass(big.NewInt(x)) * (a.CDF(big.NewInt(-up)) + a.CDF(big.NewInt(down)))
			}
			bound := DifferenceTail(a, b, c.theta, y)
			if bound < exact*(1-1e-9)-1e-300 {
				t.Errorf("%+v: P(|A − θC| > %.3f) = %g, bound %g", c, y, exact, bound)
			}
			if sd > 50 && bound > exact*1.6+1e-3 {
				t.Errorf("%+v: P(|A − θC| > %.3f) = %g, bound %g is loose", c, y, exact, bound)
			}
		}
	}
	lap, err := NewDiscreteLaplace(big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewDiscreteGaussian(big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]float64{
		"mixed": DifferenceTail(lap, g, 1, 100), "negative θ": DifferenceTail(g, g, -1, 100),
		"NaN": DifferenceTail(g, g, 1, math.NaN()), "negative y": DifferenceTail(g, g, 1, -1),
	} {
		if p != 1 {
			t.Errorf("%s: %v", name, p)
		}
	}
}
