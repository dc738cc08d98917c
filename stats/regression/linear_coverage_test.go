package regression

import (
	"math"
	"os"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/stattest"
)

// world is where rows and noise of a simulation come from.
type world struct {
	n, p    int
	spread  float64 // of the predictors, within their bounds
	sigma   float64 // of the response about its mean
	price   float64 // ε of Laplace noise, ρ of Gaussian
	laplace bool
}

// law is the noise of the equations for boxes of p coordinates, at the default shares.
func (w world) law() equationNoise {
	p := float64(w.p)
	if w.laplace {
		two := func(scale float64) float64 { return 2 * scale * scale }
		e := two((p*p + p) / 2 / (0.45 * w.price))
		return equationNoise{
			diagonal: e, offDiagonal: e, b: two(p / (0.45 * w.price)), c: two(1 / (0.1 * w.price)),
			laplace: true,
		}
	}
	e := p * p / (2 * 0.45 * w.price)
	return equationNoise{diagonal: e, offDiagonal: e / 2, b: p / (2 * 0.45 * w.price), c: 1 / (2 * 0.1 * w.price)}
}

// draw makes up rows, and noisy sums of them, and tells the coefficients.
func (w world) draw(words *splitmix.Stream, size float64) (q *normalEquations, gamma []float64) {
	gamma = make([]float64, w.p)
	for i := range gamma {
		gamma[i] = 0.3 * math.Cos(float64(2*i)) / math.Sqrt(float64(w.p))
	}
	q = w.drawn(words, gamma, true)
	q.size = size
	return q, gamma
}

// TestLinearCoverage: intervals hold the true coefficients as often as they say, where the noise is small, where it is
// of the size of the sampling error, and where it hides what is asked. Each coefficient's coverage is a binomial count
// of its own; it fails at a count that has a probability below 1e-8 at a coverage of 0.945, so that the 60 of them
// together raise a false alarm with one below 1e-6.
func TestLinearCoverage(t *testing.T) {
	runs, most := 60, 4
	if os.Getenv("DITHER_LONG") != "" {
		runs, most = 4000, 10
	}
	for _, w := range []world{
		{500, 2, 0.3, 0.3, 0.5, false},
		{500, 4, 0.3, 0.3, 0.5, false},
		{500, 4, 0.3, 0.3, 0.02, false},
		{100, 3, 0.3, 0.3, 0.005, false},
		{2000, 3, 0.3, 0.3, 5, false},
		{2000, 10, 0.3, 0.3, 1, false},
		{500, 2, 0.3, 0.3, 1, true},
		{500, 4, 0.3, 0.3, 1, true},
		{2000, 4, 0.3, 0.3, 1, true},
		{1000, 2, 0.3, 0.3, 0.1, true},
		{2000, 3, 0.3, 0.1, 10, true},
		{8, 3, 0.3, 0.3, 1e6, false}, // few rows, hardly any noise: Student's t
		{20, 4, 0.3, 0.3, 1e6, false},
		{40, 3, 0.3, 0.3, 100, true},
	} {
		if w.p > most {
			continue
		}
		words, size := splitmix.At(splitmix.Mix(7)), w.law().norm(plain(w.p), 0)
		covered, open := make([]int, w.p), 0
		for range runs {
			q, gamma := w.draw(&words, size)
			s, ok := q.solve(true)
			if !ok {
				t.Fatal("singular")
			}
			v := newInverter(q, s, s.spread())
			for k := range gamma {
				weights := make([]float64, len(gamma))
				weights[k] = 1
				f := v.interval(weights, 0.05)
				if f.low <= gamma[k] && gamma[k] <= f.high {
					covered[k]++
				}
				if f.low > f.estimate || f.estimate > f.high || math.IsNaN(f.low+f.high) && !f.weak {
					t.Errorf("%+v: %g in [%g, %g]", w, f.estimate, f.low, f.high)
				}
				if f.weak {
					open++
				}
			}
		}
		for k, n := range covered {
			if err := (stattest.Proportion{
				Successes: n, Of: stattest.Binomial{Trials: runs, Probability: 0.945},
				FalseAlarm: 1e-8,
			}).CheckAtLeast(); err != nil {
				t.Errorf("%+v: coefficient %d: %v", w, k, err)
			}
		}
		t.Logf("%+v: covered %v of %d, open %.3f", w, covered, runs, float64(open)/float64(runs*w.p))
	}
}
