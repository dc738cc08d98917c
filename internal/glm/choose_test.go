package glm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The expected error of each method is cautious: noise adds less to the coefficients of two uniform predictors. The statistics
// reference has the figures.
func TestExpectedErrors(t *testing.T) {
	const trials, rows = 40, 2000
	w := world{Logistic, []float64{0.5, 1, -1}, uniform, 0}
	terms := Terms{
		Family: Logistic, Predictors: 3, Rows: rows, Bound: math.Sqrt(3), Steep: 1, Bend: 0.25, Moves: 1, Unit: 1, Epsilon: 2,
		Drift: 5.0 / rows,
	}
	expected := []float64{terms.Choose().Expected, terms.Steps().Expected, terms.Inside(2 * rows).Expected}
	r, added := rand.New(rand.NewPCG(1, 1)), make([]float64, 3)
	for range trials {
		xs, ys := w.sample(r, rows)
		minimum := w.minimum(xs, ys, 0)
		for i, f := range []*Fit{w.minimized(r, terms, xs, ys), w.stepped(r, terms, xs, ys), w.perturbed(r, terms, xs, ys)} {
			for j := 1; j < 3; j++ {
				added[i] += square(f.Theta[j]-minimum[j]) / (2 * trials)
			}
		}
	}
	for i, method := range []string{"minimize", "newton", "objective"} {
		if a := math.Sqrt(added[i]); !(a < expected[i]) || !(expected[i] < 3*a) {
			t.Errorf("%s: noise adds %.3f, expected %.3f", method, a, expected[i])
		} else {
			t.Logf("%s: noise adds %.3f, expected %.3f", method, a, expected[i])
		}
	}
}
