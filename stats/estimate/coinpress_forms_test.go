package estimate

import (
	"strings"
	"testing"
)

// Coordinates whose coefficients or constants would be too small for a question have none there.
func TestSettledForms(t *testing.T) {
	f := plainForms([]float64{0, 0.5}, []float64{1, 1e15})
	f.unit[0], f.a[1][0], f.centre[0] = 1e15, 1e-4, 1e-19
	f.settle()
	if f.a[1][0] != 0 || f.a[0][0] != 1 || f.a[1][1] != 1 {
		t.Errorf("%v", f.a)
	}
	for _, text := range f.sql([]string{"x", "y"}) {
		if strings.Contains(text, "e-19") || strings.Contains(text, "e-20") {
			t.Error(text)
		}
	}
}
