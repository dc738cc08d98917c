package regression

import (
	"math"
	"os"
	"testing"

	"dither/internal/glm"
	"dither/internal/splitmix"
	"dither/internal/stattest"

	"gonum.org/v1/gonum/mat"
)

// score simulates the release of the scores at the coefficients of a fit, for a quarter of the price.
func (w eventWorld) score(words *splitmix.Stream, people [][]eventRow, rows float64, fit *glm.Fit) (*meat, bool) {
	p, m, price := float64(w.p), float64(w.most), w.price/4
	sds := func(square, lost float64) (sd, lostError, countError float64) {
		if w.rho {
			return square / math.Sqrt(2*0.8*price), lost / math.Sqrt(2*0.15*price), 1 / math.Sqrt(2*0.05*price)
		}
		return math.Sqrt2 * (p + 1) / 2 * square / (0.8 * price), math.Sqrt2 * lost / (0.15 * price),
			math.Sqrt2 / (0.05 * price)
	}
	k := &clustering{units: true, most: m, longest: m * math.Sqrt(p)}
	if w.family == glm.Poisson {
		k.longest *= highestCount
	}
	k.noise, k.lostNoise, _ = sds(1, 1)
	norm, spread, many := math.Sqrt(p), 0.5, 0.0
	if w.family == glm.Poisson {
		spread = math.Sqrt(highestCount)
	}
	if fit.Squares > 0 {
		norm, spread, many = math.Max(0.001*norm, math.Min(k.longest, math.Sqrt(fit.Squares/rows))), 1, rows
	}
	spreads, most := k.sized(many)
	c, _ := boundOf(k.bound(spreads, spread, norm)).Float64()
	s := scoreSums{laplace: !w.rho}
	s.sd, s.lostError, s.countError = sds(c*c, math.Min(most*c*c, math.Max(0, k.longest*k.longest-c*c)))
	theta := make([]float64, w.p)
	for i, x := range fit.Theta {
		theta[i] = math.Round(1e4*x) / 1e4
	}
	sum := mat.NewSymDense(w.p, nil)
	for _, g := range w.sums(people, theta).each {
		v := mat.NewVecDense(w.p, g)
		n := mat.Norm(v, 2)
		s.lost += math.Min(most*c*c, math.Max(0, n*n-c*c))
		if n > c {
			v.ScaleVec(c/n, v)
		}
		sum.SymRankOne(sum, 1, v)
	}
	add := func(x, sd float64) float64 { return x + sd*standardNoise(words, !w.rho) }
	for i := range w.p {
		for j := i; j < w.p; j++ {
			sd := s.sd
			if w.rho && i != j {
				sd /= math.Sqrt2
			}
			s.products = append(s.products, add(sum.At(i, j), sd))
		}
	}
	s.lost, s.clusters = add(s.lost, s.lostError), add(float64(w.persons), s.countError)
	return s.meat(w.p, math.Min(rows, m*math.Max(1, s.clusters)), m)
}

// TestClusteredLogisticCoverage: intervals of logistic and Poisson models of persons with several dependent rows hold the
// coefficients of the population as often as they say, at every size of the noise. Each coefficient's coverage is a
// binomial count of its own; it fails at a count that has a probability below 1e-8 at a coverage of 0.95, so that all of
// them together raise a false alarm with one below 1e-6. Where one person in ten has nearly all rows, the coverage is 0.94.
// With little noise, the intervals for independent rows hold far less often, or the test says nothing about clusters.
func TestClusteredLogisticCoverage(t *testing.T) {
	runs, most := 60, 500
	if os.Getenv("DITHER_LONG") != "" {
		runs, most = 1000, math.MaxInt
	}
	for _, w := range []eventWorld{
		{glm.Logistic, 50, 5, 2, 1e6, MethodNewton, true, shared},
		{glm.Logistic, 50, 5, 2, 100, MethodObjective, false, shared},
		{glm.Poisson, 50, 5, 2, 1e6, MethodMinimize, true, shared},
		{glm.Logistic, 500, 5, 2, 1000, MethodObjective, false, shared},
		{glm.Logistic, 500, 5, 3, 1e6, MethodNewton, true, shared},
		{glm.Logistic, 500, 5, 3, 20, MethodObjective, false, shared},
		{glm.Logistic, 500, 5, 3, 4, MethodObjective, false, shared},
		{glm.Logistic, 500, 5, 3, 1, MethodObjective, false, shared},
		{glm.Logistic, 500, 5, 3, 2, MethodNewton, true, shared},
		{glm.Logistic, 500, 5, 3, 0.5, MethodNewton, true, shared},
		{glm.Logistic, 500, 5, 3, 20, MethodNewton, false, varying},
		{glm.Logistic, 500, 5, 3, 2, MethodMinimize, true, shared},
		{glm.Poisson, 500, 5, 3, 1e6, MethodMinimize, true, shared},
		{glm.Poisson, 500, 5, 3, 10, MethodMinimize, true, shared},
		{glm.Logistic, 500, 20, 3, 1e6, MethodNewton, true, skewed},
		{glm.Logistic, 2000, 20, 3, 1e6, MethodNewton, true, skewed},
		{glm.Logistic, 2000, 20, 3, 5, MethodNewton, true, skewed},
		{glm.Logistic, 2000, 5, 3, 1e6, MethodNewton, true, shared},
		{glm.Logistic, 2000, 5, 3, 4, MethodObjective, false, shared},
		{glm.Logistic, 2000, 5, 3, 1, MethodObjective, false, shared},
		{glm.Logistic, 2000, 5, 5, 4, MethodObjective, false, varying},
		{glm.Logistic, 2000, 5, 3, 4, MethodNewton, false, shared},
		{glm.Logistic, 2000, 5, 3, 0.5, MethodNewton, true, shared},
		{glm.Logistic, 2000, 5, 3, 0.05, MethodNewton, true, shared},
		{glm.Poisson, 2000, 5, 3, 10, MethodMinimize, true, varying},
		{glm.Logistic, 20000, 20, 3, 1, MethodNewton, true, skewed},
		{glm.Poisson, 20000, 5, 3, 0.5, MethodMinimize, true, shared},
		{glm.Logistic, 20000, 5, 3, 1, MethodObjective, false, shared},
		{glm.Logistic, 20000, 5, 3, 0.2, MethodObjective, false, shared},
		{glm.Logistic, 20000, 5, 3, 0.5, MethodNewton, true, shared},
		{glm.Logistic, 20000, 5, 5, 0.05, MethodNewton, true, shared},
	} {
		if w.persons > most {
			continue
		}
		of := max(min(runs, 200), runs*500/max(500, w.persons))
		words := splitmix.At(splitmix.Mix(19))
		covered, plainly, open, theta := make([]int, w.p), make([]int, w.p), 0, w.theta()
		half, ideal := 0.0, 0.0
		for range of {
			people, rows := w.draw(&words)
			fit := w.fit(&words, people, rows)
			plain := *fit
			m, ok := w.score(&words, people, rows, fit)
			if !ok {
				t.Fatal("no meat")
			}
			fit.Depend(glm.Scores{Estimate: m.estimate, Upper: m.upper})
			for k := range theta {
				weights := make([]float64, w.p)
				weights[k] = 1
				e, f := fit.Estimate(weights, 0.95), plain.Estimate(weights, 0.95)
				if e.Low <= theta[k] && theta[k] <= e.High {
					covered[k]++
				}
				if f.Low <= theta[k] && theta[k] <= f.High {
					plainly[k]++
				}
				if math.IsInf(e.High, 0) {
					open++
				} else {
					half += (e.High - e.Low) / 2
					ideal += 1.96 * e.StdErr
				}
			}
		}
		least := 0.95
		if w.rows == skewed {
			least = 0.94
		}
		for k, n := range covered {
			if err := (stattest.Proportion{
				Successes: n, Of: stattest.Binomial{Trials: of, Probability: least},
				FalseAlarm: 1e-8,
			}).CheckAtLeast(); err != nil {
				t.Errorf("%+v: coefficient %d: %v", w, k, err)
			}
		}
		if w.price >= 1e6 && 10*plainly[0] > 9*of {
			t.Errorf("%+v: intervals for independent rows hold %d of %d times", w, plainly[0], of)
		}
		t.Logf("%+v: covered %v, independent %v of %d, open %.3f, half %.2f", w, covered, plainly, of,
			float64(open)/float64(of*w.p), half/ideal)
	}
}
