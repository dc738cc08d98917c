package request

import (
	"math"
	"testing"
)

func TestConfidence(t *testing.T) {
	for text, want := range map[string]struct {
		text  string
		alpha float64
	}{"": {"0.95", 0.05}, "0.950": {"0.95", 0.05}, "9e-1": {"0.9", 0.1}, "0.999999": {"0.999999", 1e-6}} {
		alpha, err := Confidence(&text)
		if err != nil || text != want.text || math.Abs(alpha-want.alpha) > 1e-15 {
			t.Errorf("%q, α = %g: %v", text, alpha, err)
		}
	}
	for _, text := range []string{"0", "1", "-0.5", "95", "95 %", "NaN", "1/2"} {
		if _, err := Confidence(&text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
