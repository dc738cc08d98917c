package account_test

import (
	"math"
	"testing"
)

// The least figure is that of all accountants, whether or not one is asked alone.
func TestLeastEpsilon(t *testing.T) {
	d := promise(t, "1", "1e-5").Delta
	for _, specs := range [][]string{{"laplace scale=3"}, {"zcdp rho=0.1", "pure epsilon=0.2"}, {"gaussian sigma=4 count=3"}} {
		j := job(t, specs...)
		f, by, err := j.LeastEpsilon(d)
		r, err2 := j.Epsilon(d)
		want, _ := r.Least()
		if err != nil || err2 != nil || !f.Told() || by == "" || math.Abs(f.Value-want.Value) > 0.0101*want.Value {
			t.Errorf("%v: %v by %s, want %v, %v", specs, f, by, want, err)
		}
	}
	f, by, err := job(t, "gaussian sigma=1.1 sampling=256/60000 count=14062").LeastEpsilon(d)
	if err != nil || by != "pld" || math.Abs(f.Value-2.381686) > 2e-4 {
		t.Errorf("%v by %s, %v", f, by, err)
	}
}
