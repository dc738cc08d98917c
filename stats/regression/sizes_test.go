package regression

import (
	"fmt"
	"math"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/stattest"

	"gonum.org/v1/gonum/mat"
)

// TestLinearAtSizes: intervals by adassp hold the coefficients of the population, and those by lecture the coefficients of
// the rows, at each size.
func TestLinearAtSizes(t *testing.T) {
	gamma := []float64{0.2, -0.1, 0.1}
	weights := func(k int) []float64 {
		w := make([]float64, len(gamma))
		w[k] = 1
		return w
	}
	for _, n := range stattest.Sizes {
		for i, w := range []world{
			{n, 3, 0.3, 0.3, 1, true}, {n, 3, 0.3, 0.3, 10, true}, {n, 3, 0.3, 0.3, 0.5, false}, {n, 3, 0.3, 0.3, 100, true},
		} {
			words := splitmix.At(splitmix.Mix(uint64(31 + n + i)))
			var study stattest.Study
			size, half := w.law().norm(plain(w.p), 0), w.lecture()
			for range stattest.Simulations(20, 1000) {
				q := w.drawn(&words, gamma, true)
				q.size = size
				s, ok := q.solve(true)
				if !ok {
					t.Fatal("singular")
				}
				v := newInverter(q, s, s.spread())
				for k, truth := range gamma {
					f := v.interval(weights(k), 0.05)
					study.Covers("adassp", fmt.Sprint(k)).Interval(f.low, truth, f.high)
				}
				q = w.drawn(&words, gamma, false)
				var exact mat.VecDense
				if err := exact.SolveVec(q.a, mat.NewVecDense(w.p, q.b)); err != nil {
					t.Fatal(err)
				}
				q.noise, q.squares = half, false
				w.disturb(&words, q)
				if s, ok = q.solve(false); !ok {
					t.Fatal("singular")
				}
				v = newInverter(q, s, 0)
				for k := range gamma {
					f := v.interval(weights(k), 0.05)
					study.Covers("lecture", fmt.Sprint(k)).Interval(f.low, exact.AtVec(k), f.high)
				}
			}
			study.Check(t, fmt.Sprintf("n = %d, price %g, laplace %t", n, w.price, w.laplace))
		}
	}
}

// lecture is the noise of the equations if each sum has half of the price.
func (w world) lecture() equationNoise {
	out := w.law()
	scale := 0.9 // a share of 0.45 becomes 0.5
	if w.laplace {
		scale *= scale
	}
	out.diagonal, out.offDiagonal, out.b, out.c = scale*out.diagonal, scale*out.offDiagonal, scale*out.b, math.NaN()
	return out
}
