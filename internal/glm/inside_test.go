package glm

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// tilted is the minimum of F + Λ/2‖θ‖² + ⟨b, θ⟩.
func (w world) tilted(xs [][]float64, ys []float64, lambda float64, b []float64) []float64 {
	d := len(b)
	theta := make([]float64, d)
	for range 60 {
		g, h, _ := w.sums(xs, ys, theta)
		m := symmetric(d, h)
		for i := range d {
			g[i] += lambda*theta[i] + b[i]
			m.SetSym(i, i, m.At(i, i)+lambda)
		}
		var step mat.VecDense
		if err := step.SolveVec(m, mat.NewVecDense(d, g)); err != nil {
			panic(err)
		}
		l := max(1, mat.Norm(&step, 2))
		for i := range d {
			theta[i] -= step.AtVec(i) / l
		}
		if l == 1 && mat.Norm(&step, 2) < 1e-10 {
			break
		}
	}
	return theta
}

// inside simulates fits with noise inside the objective.
func (w world) inside(r *rand.Rand, t Terms, trials int) (o outcome) {
	d := len(w.theta)
	choice := t.Inside(2 * t.Rows)
	n := Newton{Rows: t.Rows, Intercept: 0, Radius: 10, Laplace: true}
	whole := t.Epsilon * (1 - choice.Share)
	inner := whole*63/64 - t.Unit*math.Log1p(float64(d)/(4*choice.Regularise)) - float64(d)*math.Log1p(t.Unit/(2*t.Rows))
	sd := t.Moves * math.Sqrt(float64((d+1)*(d+2))/3) / inner
	o.start(d, trials)
	for range trials {
		xs, ys := w.sample(r, int(t.Rows))
		theta := n.within(w.tilted(xs, ys, choice.Regularise, cubes(r, d, sd)))
		_, hessian, _ := w.sums(xs, ys, theta)
		hessSD := t.HessSD(choice.Share)
		for i, z := range cubes(r, len(hessian), hessSD) {
			hessian[i] += z
		}
		o.add(w.theta, n.Inside(theta, choice.Regularise, sd, hessian, hessSD))
	}
	o.finish()
	return o
}

// 95 % intervals of fits with noise inside the objective cover each coefficient, as in TestNewtonCoverage, with the same
// false-alarm rate. The test also fails if the errors grow, or if there are no intervals where n·ε is at least 5,000.
func TestInsideCoverage(t *testing.T) {
	trials := 25
	if os.Getenv("DITHER_LONG") != "" {
		trials = 400
	}
	two, three, usual := []float64{0.5, 1, -1}, []float64{0.5, 1, -1, 0.5}, []float64{0.5, 1, -1, 0.5, 0, 0.7}
	skewed := []float64{-1, 2, -1, 0.5, 0, 0.7}
	for i, of := range []struct {
		about                      string
		world                      world
		rows, moves, epsilon, most float64 // most is the largest root mean squared error
	}{
		{"two uniform", world{Logistic, two, uniform, 0}, 50, 1, 1, 1.2},
		{"two uniform", world{Logistic, two, uniform, 0}, 200, 1, 1, 0.7},
		{"two uniform", world{Logistic, two, uniform, 0}, 1000, 2, 2, 0.2},
		{"two uniform", world{Logistic, two, uniform, 0}, 20000, 2, 0.2, 0.08},
		{"three uniform", world{Logistic, three, uniform, 0}, 1000, 2, 2, 0.24},
		{"uniform", world{Logistic, usual, uniform, 0}, 1000, 2, 2, 0.24},
		{"uniform", world{Logistic, usual, uniform, 0}, 5000, 1, 1, 0.09},
		{"uniform", world{Logistic, usual, uniform, 0}, 20000, 2, 0.2, 0.13},
		{"mixed", world{Logistic, skewed, mixed, 0}, 1000, 2, 2, 0.5},
		{"mixed", world{Logistic, skewed, mixed, 0}, 5000, 1, 1, 0.18},
		{"mixed", world{Logistic, skewed, mixed, 0}, 20000, 1, 1, 0.07},
		{"rare responses", world{Logistic, []float64{-3.5, 1.3, -1, 0.5, 0, 0.7}, mixed, 0}, 20000, 1, 1, 0.14},
		{"large", world{Logistic, []float64{-2, 3, -2, 1.5, -1.5, 2}, mixed, 0}, 20000, 1, 1, 0.15},
	} {
		d := len(of.world.theta)
		terms := Terms{
			Family: Logistic, Predictors: d, Rows: of.rows, Bound: math.Sqrt(float64(d)), Steep: 1, Bend: 0.25,
			Moves: of.moves, Unit: 1, Epsilon: of.epsilon,
		}
		n := trials
		if of.rows > 5000 && trials > 25 {
			n = trials / 2
		}
		choice := terms.Inside(2 * of.rows)
		o := of.world.inside(rand.New(rand.NewPCG(7, uint64(i))), terms, n)
		t.Logf("%s, %d predictors, %g rows, ε = %g, moves %g: %s; Λ %.3g, share %g, expected %.3f, by steps %.3f",
			of.about, d-1, of.rows, of.epsilon, of.moves, o, choice.Regularise, choice.Share, choice.Expected, terms.Steps().Expected)
		if least := int(0.95*float64(n) - 5.5*math.Sqrt(0.95*0.05*float64(n)) - 2); o.least < least {
			t.Errorf("%s: %s", of.about, o)
		}
		if o.rms > of.most {
			t.Errorf("%s: the error is above %g: %s", of.about, of.most, o)
		}
		if of.epsilon*of.rows >= 5000 && of.moves == 1 && of.about != "rare responses" && o.told*10 < o.of*9 {
			t.Errorf("%s: few intervals: %s", of.about, o)
		}
	}
}
