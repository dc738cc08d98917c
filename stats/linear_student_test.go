package stats

import (
	"math"
	"testing"
)

// Quantiles of Student's t as tables have them, and as they approach the normal one.
func TestStudentQuantile(t *testing.T) {
	for _, x := range []struct{ alpha, freedom, want float64 }{
		{0.05, 1, 12.7062047}, {0.05, 2, 4.30265273}, {0.05, 5, 2.57058184}, {0.05, 30, 2.04227246}, {0.01, 10, 3.16927267}, {0.05, 999, 1.96234146}, {0.05, 1001, 1.96233589}, {0.05, 1e9, 1.95996399},
	} {
		if got := studentQuantile(x.alpha, x.freedom); math.Abs(got/x.want-1) > 1e-5 {
			t.Errorf("α = %g, ν = %g: %.9f, want %.9f", x.alpha, x.freedom, got, x.want)
		}
	}
	for _, alpha := range []float64{0.999, 0.5, 1e-3, 1e-9} {
		last := math.Inf(1)
		for _, freedom := range []float64{1, 1.5, 3, 10, 100, 1000, 1001, 1e6, 1e12} {
			q := studentQuantile(alpha, freedom)
			if !(q > 0) || math.IsInf(q, 0) || q > last*(1+1e-5) {
				t.Errorf("α = %g, ν = %g: %g after %g", alpha, freedom, q, last)
			}
			last = q
		}
	}
	s := &solution{freedom: 5}
	if got, want := s.widened(0.01, 0.05), 0.01*2.57058184*2.57058184/(1.95996398*1.95996398); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("%g, want %g", got, want)
	}
	for _, spread := range []float64{0.9, 1, 2} {
		if got := s.widened(spread, 0.05); got != math.Max(1, spread) {
			t.Errorf("%g from %g", got, spread)
		}
	}
	if got := (&solution{}).widened(0.5, 0.05); got != 0.5 {
		t.Errorf("%g without degrees of freedom", got)
	}
}
