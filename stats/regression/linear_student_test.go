package regression

import (
	"math"
	"testing"
)

// An estimated residual variance widens an interval as Student's t does.
func TestWidened(t *testing.T) {
	s := &solution{freedom: 5}
	if got, want := s.widened(0.01, 0.05),
		0.01*2.57058184*2.57058184/(1.95996398*1.95996398); math.Abs(got/want-1) > 1e-6 {
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
