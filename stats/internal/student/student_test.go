package student

import (
	"math"
	"testing"
)

// Quantiles of Student's t agree with tables, and approach the normal ones.
func TestQuantile(t *testing.T) {
	for _, x := range []struct{ alpha, freedom, want float64 }{
		{0.05, 1, 12.7062047},
		{0.05, 2, 4.30265273},
		{0.05, 5, 2.57058184},
		{0.05, 30, 2.04227246},
		{0.01, 10, 3.16927267},
		{0.05, 999, 1.96234146},
		{0.05, 1001, 1.96233589},
		{0.05, 1e9, 1.95996399},
	} {
		if got := Quantile(x.alpha, x.freedom); math.Abs(got/x.want-1) > 1e-5 {
			t.Errorf("α = %g, ν = %g: %.9f, want %.9f", x.alpha, x.freedom, got, x.want)
		}
	}
	for _, alpha := range []float64{0.999, 0.5, 1e-3, 1e-9} {
		last := math.Inf(1)
		for _, freedom := range []float64{1, 1.5, 3, 10, 100, 1000, 1001, 1e6, 1e12} {
			q := Quantile(alpha, freedom)
			if !(q > 0) || math.IsInf(q, 0) || q > last*(1+1e-5) {
				t.Errorf("α = %g, ν = %g: %g after %g", alpha, freedom, q, last)
			}
			last = q
		}
	}
}
