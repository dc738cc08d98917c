package account_test

import (
	"math"
	"strconv"
	"testing"
)

// The least figure is that of all accountants, whether or not one is asked alone.
func TestLeastEpsilon(t *testing.T) {
	d := promise(t, "1", "1e-5").Delta
	for _, specs := range [][]string{
		{"laplace scale=3"},
		{"zcdp rho=0.1", "pure epsilon=0.2"},
		{"gaussian sigma=4 count=3"},
	} {
		j := job(t, specs...)
		f, by, err := j.LeastEpsilon(d)
		r, err2 := j.Epsilon(d)
		want, _ := r.Least()
		if err != nil || err2 != nil || !f.Told() || by == "" || math.Abs(f.Value-want.Value) > 0.0101*want.Value {
			t.Errorf("%v: %v by %s, want %v, %v", specs, f, by, want, err)
		}
	}
	sampled := job(t, "gaussian sigma=2 sampling=0.1 count=20")
	f, by, err := sampled.LeastEpsilon(d)
	if err != nil || by != "pld" {
		t.Fatalf("%v by %s, %v", f, by, err)
	}
	back, _, err := sampled.LeastDelta(promise(t, strconv.FormatFloat(f.Value, 'g', -1, 64), "0").Epsilon)
	if err != nil || back.Value > 1.01e-5 || back.Value < 0.9e-5 {
		t.Errorf("at ε = %g, δ = %g, %v", f.Value, back.Value, err)
	}
}
