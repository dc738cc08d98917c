package glm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dither/internal/stattest"
)

// 95 % intervals of logistic and Poisson models by each method, at each size: of the intercept and two slopes.
func TestModelsAtSizes(t *testing.T) {
	logistic := world{Logistic, []float64{0.5, 1, -1}, uniform, 0}
	poisson := world{Poisson, []float64{0.3, 0.3, -0.2}, uniform, 0}
	for _, method := range []struct {
		name  string
		world world
		fit   func(w world, r *rand.Rand, t Terms, xs [][]float64, ys []float64) *Fit
		rho   bool // the method has noise for a price in ρ
	}{
		{"logistic, objective", logistic, world.perturbed, false},
		{"logistic, newton", logistic, world.stepped, true},
		{"logistic, minimize", logistic, world.minimized, true},
		{"poisson, minimize", poisson, world.minimized, true},
	} {
		for i, price := range [][2]float64{{1, 0}, {10, 0}, {0, 0.5}} {
			if price[1] > 0 && !method.rho || i > 0 && stattest.Simulations(1, 2) == 1 {
				continue
			}
			for _, n := range stattest.Sizes {
				terms := Terms{
					Family: method.world.family, Predictors: 3, Rows: float64(n), Bound: math.Sqrt(3), Steep: 1, Bend: 0.25, Moves: 1,
					Unit: 1, Epsilon: price[0], Rho: price[1], Drift: 5 / float64(n),
				}
				if terms.Family == Poisson {
					terms.Steep, terms.Bend = 20, 20
				}
				r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				var study stattest.Study
				for range stattest.Simulations(8, max(200, 1000*min(1, 2000/n))) {
					xs, ys := method.world.sample(r, n)
					fit := method.fit(method.world, r, terms, xs, ys)
					for k, truth := range method.world.theta {
						a := make([]float64, 3)
						a[k] = 1
						e := fit.Estimate(a, 0.95)
						study.Covers(method.name, fmt.Sprint(k)).Interval(e.Low, truth, e.High)
					}
				}
				study.Check(t, fmt.Sprintf("n = %d, ε = %g, ρ = %g", n, price[0], price[1]))
			}
		}
	}
}
