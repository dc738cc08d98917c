package simplex

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A point p of the simplex is nearest to v if and only if (v − p)·(q − p) ≤ 0 for every q of the simplex. It suffices to
// check the corners q.
func TestProjectIsNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		total := 10 * r.Float64()
		values := make([]float64, 1+r.IntN(12))
		for i := range values {
			values[i] = float64(r.IntN(20)-10) + float64(r.IntN(2))*r.NormFloat64() // with ties
		}
		p := Project(values, total)
		sum, inner := 0.0, 0.0
		for i, x := range p {
			sum += x
			inner += (values[i] - x) * x
		}
		if slices.Min(p) < 0 || math.Abs(sum-total) > 1e-12*(10+total) {
			t.Fatalf("%v projects to %v, whose sum is %v instead of %v", values, p, sum, total)
		}
		for i := range p {
			if corner := total * (values[i] - p[i]); corner > inner+1e-9 {
				t.Fatalf("%v projects to %v, and corner %d is in a better direction", values, p, i)
			}
		}
	}
}

func TestNothingIsLeftOfNoTotal(t *testing.T) {
	for _, total := range []float64{0, -1, 1e-30} {
		if got := Project([]float64{3, 1, 3, -2}, total); !slices.Equal(got, make([]float64, 4)) {
			t.Errorf("the total %v is divided as %v", total, got)
		}
	}
}
