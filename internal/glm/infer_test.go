package glm

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// world is a population that rows are drawn from.
type world struct {
	family Family
	theta  []float64 // intercept first
	draw   func(r *rand.Rand, x []float64)
	bound  float64
}

// solved is the minimum of F + Λ/2‖θ‖², and the two sums at any θ.
func (w world) sums(xs [][]float64, ys []float64, theta []float64) (g, h, p []float64) {
	return w.weighed(xs, ys, theta, math.Inf(1))
}

// weighed returns the sums over rows that are weighted by their leverage.
func (w world) weighed(xs [][]float64, ys []float64, theta []float64, leverage float64) (g, h, p []float64) {
	d := len(theta)
	g, h, p = make([]float64, d), make([]float64, d*(d+1)/2), make([]float64, d*(d+1)/2)
	for n, x := range xs {
		mu := w.mean(inner(x, theta))
		first, second := mu-ys[n], mu
		if w.family == Logistic {
			second = mu * (1 - mu)
		}
		weight := min(1, leverage/length(x))
		first, second = weight*first, weight*second
		k := 0
		for i := range d {
			g[i] += first * x[i]
			for j := range i + 1 {
				h[k] += second * x[i] * x[j]
				p[k] += first * first * x[i] * x[j]
				k++
			}
		}
	}
	return g, h, p
}

func (w world) mean(z float64) float64 {
	if w.family == Poisson {
		return math.Exp(z)
	}
	return 1 / (1 + math.Exp(-z))
}

func (w world) minimum(xs [][]float64, ys []float64, lambda float64) []float64 {
	d := len(w.theta)
	theta := make([]float64, d)
	for range 30 {
		g, h, _ := w.sums(xs, ys, theta)
		m := symmetric(d, h)
		for i := range d {
			g[i] += lambda * theta[i]
			m.SetSym(i, i, m.At(i, i)+lambda)
		}
		var step mat.VecDense
		if err := step.SolveVec(m, mat.NewVecDense(d, g)); err != nil {
			panic(err)
		}
		for i := range d {
			theta[i] -= step.AtVec(i)
		}
		if mat.Norm(&step, 2) < 1e-10 {
			break
		}
	}
	return theta
}

func (w world) sample(r *rand.Rand, n int) (xs [][]float64, ys []float64) {
	for range n {
		x := make([]float64, len(w.theta))
		x[0] = 1
		w.draw(r, x[1:])
		mu, y := w.mean(inner(x, w.theta)), 0.0
		if w.family == Logistic {
			y = indicator(r.Float64() < mu)
		} else {
			for p := r.Float64(); p > math.Exp(-mu) && y < 20; y++ {
				p *= r.Float64()
			}
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

func laplace(r *rand.Rand, sd float64) float64 {
	return (r.ExpFloat64() - r.ExpFloat64()) * sd / math.Sqrt2
}

func uniform(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
}

func mixed(r *rand.Rand, x []float64) { // skewed numbers and indicators, dependent
	x[0] = 2*r.Float64() - 1
	x[1] = 2*math.Pow(r.Float64(), 3) - 1
	x[2] = indicator(r.Float64() < 0.3+0.3*x[0])
	x[3] = indicator(r.Float64() < 0.15)
	x[4] = min(max(0.3*r.NormFloat64()+0.3*x[0], -1), 1)
}

// minimized simulates the release of a minimum with noise on it, and the fit by it.
func (w world) minimized(r *rand.Rand, t Terms, xs [][]float64, ys []float64) *Fit {
	choice, dd := t.Choose(), float64(len(w.theta))
	noisy := func(x []float64, sd float64) {
		for i := range x {
			if t.Rho > 0 {
				x[i] += sd * r.NormFloat64()
			} else {
				x[i] += laplace(r, sd)
			}
		}
	}
	rel := Released{
		Family: w.family, Theta: w.minimum(xs, ys, choice.Regularise), Regularise: choice.Regularise, Radius: 10,
		Rows: t.Rows, Laplace: t.Rho == 0,
		ThetaSD: t.noise(1-choice.Share, math.Sqrt(dd)) * t.Moves * t.Steep * t.Bound / choice.Regularise,
		HessSD:  t.noise(choice.Share/2, (dd+1)/2) * t.Moves * t.Bend * t.Bound * t.Bound,
		ProdSD:  t.noise(choice.Share/2, (dd+1)/2) * t.Moves * t.Steep * t.Steep * t.Bound * t.Bound,
	}
	noisy(rel.Theta, rel.ThetaSD)
	_, rel.Hessian, rel.Products = w.sums(xs, ys, rel.Theta)
	noisy(rel.Hessian, rel.HessSD)
	noisy(rel.Products, rel.ProdSD)
	return Infer(rel)
}

// coverage simulates fits, and gives of each coefficient how many intervals cover it, the root of the mean square of the
// errors, the mean half-width of those that have one, and how many have.
func (w world) coverage(r *rand.Rand, t Terms, trials int) (covered []int, rms, half, plain []float64, told int) {
	d := len(w.theta)
	covered, rms, half, plain = make([]int, d), make([]float64, d), make([]float64, d), make([]float64, d)
	for range trials {
		xs, ys := w.sample(r, int(t.Rows))
		f := w.minimized(r, t, xs, ys)
		_, h, _ := w.sums(xs, ys, w.theta)
		var inverse mat.Dense
		_ = inverse.Inverse(symmetric(d, h))
		for i := range d {
			a := make([]float64, d)
			a[i] = 1
			e := f.Estimate(a, 0.95)
			if e.Low <= w.theta[i] && w.theta[i] <= e.High {
				covered[i]++
			}
			rms[i] += square(e.Value-w.theta[i]) / float64(trials)
			if !math.IsInf(e.High, 0) {
				half[i] += (e.High - e.Low) / 2
				told++
			}
			plain[i] += 1.96 * math.Sqrt(inverse.At(i, i)) / float64(trials)
		}
	}
	for i := range rms {
		rms[i] = math.Sqrt(rms[i])
		half[i] /= max(float64(told)/float64(d), 1)
	}
	return covered, rms, half, plain, told
}

// 95 % intervals cover each coefficient, over populations, rows and noise, at n = 5,000 rows, five predictors and an intercept: under ρ = 1/2 (which is the price ε = 1 of a
// budget with a δ), and under a pure ε = 4. If each covered with a probability of .95 just so, a test would fail with a probability below 1e-7 for each
// coefficient. And what it costs in width is pinned: beside the non-private intervals of the same rows.
func TestCoverage(t *testing.T) {
	trials := 40
	if os.Getenv("DITHER_LONG") != "" {
		trials = 2000
	}
	all, usual := math.Sqrt(6), []float64{0.5, 1, -1, 0.5, 0, 0.7}
	for i, of := range []struct {
		about        string
		world        world
		rows         int
		epsilon, rho float64
		wider        float64 // the mean width, in that of the non-private intervals
	}{
		{"uniform predictors", world{Logistic, usual, uniform, all}, 5000, 0, 0.5, 2.4},
		{"skewed numbers and indicators", world{Logistic, []float64{-1, 2, -1, 0.5, 0, 0.7}, mixed, all}, 5000, 0, 0.5, 4},
		{"small coefficients", world{Logistic, []float64{-1, 0.5, -0.3, 0.2, 0, 0.2}, mixed, all}, 5000, 0, 0.5, 2.4},
		{"pure, ε = 1", world{Logistic, usual, uniform, all}, 5000, 1, 0, 9},
		{"pure, ε = 4", world{Logistic, usual, uniform, all}, 5000, 4, 0, 2.8},
		{"counts", world{Poisson, []float64{0.3, 0.3, -0.2, 0.1, 0, 0.2}, uniform, all}, 20000, 0, 0.5, 20},
	} {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		terms := Terms{Family: of.world.family, Predictors: 6, Rows: float64(of.rows), Bound: all, Steep: 1, Bend: 0.25, Moves: 1, Epsilon: of.epsilon, Rho: of.rho}
		if of.world.family == Poisson {
			terms.Steep, terms.Bend = 20, 20
		}
		n := trials
		if of.world.family == Poisson {
			n /= 4
		}
		covered, rms, half, plain, told := of.world.coverage(r, terms, n)
		least := int(0.95*float64(n) - 5.5*math.Sqrt(0.95*0.05*float64(n)) - 2)
		sum := [3]float64{}
		for j, c := range covered {
			if c < least {
				t.Errorf("%s: coefficient %d is covered %d times of %d", of.about, j, c, n)
			}
			sum[0], sum[1], sum[2] = sum[0]+half[j], sum[1]+plain[j], sum[2]+float64(c)/float64(6*n)
		}
		if ratio := sum[0] / sum[1]; !(ratio < of.wider) {
			t.Errorf("%s: %.2f times as wide as non-private intervals", of.about, ratio)
		}
		t.Logf("%s: %v of %d, in all %.4f, of which %d have an interval; errors %.3f; half-widths %.3f, non-private %.3f; %+v", of.about, covered, n, sum[2], told/6, rms, half, plain, terms.Choose())
	}
}

// Intervals of minima hold whatever the distribution of the rows is: for rare indicators and skewed predictors too. They may not
// exist, but do where the ridge penalty's bias is small. If an interval held with a probability of .95 just so, a test would fail
// with one below 1e-7 for each coefficient.
func TestMinimumUnlikeRows(t *testing.T) {
	trials := 60
	if os.Getenv("DITHER_LONG") != "" {
		trials = 200
	}
	beside := func(share float64) func(r *rand.Rand, x []float64) { // a rare indicator beside a uniform predictor
		return func(r *rand.Rand, x []float64) { x[0], x[1] = indicator(r.Float64() < share), 2*r.Float64()-1 }
	}
	for i, of := range []struct {
		world
		rows         float64
		epsilon, rho float64
		told         float64 // the least share of coefficients that have intervals
	}{
		{world{Logistic, []float64{0.5, 3, -2}, rareIndicators, 0}, 5000, 0, 0.1, 0},
		{world{Logistic, []float64{0.5, 2, -1}, rareIndicators, 0}, 20000, 0, 0.1, 0},
		{world{Logistic, []float64{-1, -3, 1}, beside(0.1), 0}, 20000, 0, 0.1, 0},
		{world{Logistic, []float64{0, 2, 1}, beside(0.1), 0}, 20000, 1, 0, 0},
		{world{Logistic, []float64{1, 3, -2}, mostlyLow, 0}, 20000, 0, 0.1, 0},
		{world{Logistic, []float64{0, 0.7, 0.5}, beside(0.1), 0}, 20000, 0, 0.1, 0.9},
		{world{Logistic, []float64{0, -0.7, 0.5}, beside(0.02), 0}, 20000, 0, 0.5, 0.9},
		{world{Poisson, []float64{0.3, -1, 0.3}, beside(0.1), 0}, 20000, 0, 0.5, 0.9},
		{world{Poisson, []float64{0.3, -1, 0.3}, beside(0.1), 0}, 20000, 8, 0, 0.9},
		{world{Poisson, []float64{0.3, -1, 0.3}, beside(0.02), 0}, 20000, 0, 8, 0.8},
		{world{Poisson, []float64{0.3, 1, 0.3}, beside(0.02), 0}, 20000, 0, 0.5, 0},
		{world{Poisson, []float64{0.3, -1, 0.3}, beside(0.5), 0}, 20000, 0, 0.5, 0.9},
		{world{Poisson, []float64{0.3, 1, 0.3}, mostlyLow, 0}, 20000, 0, 8, 0.9},
	} {
		d := len(of.theta)
		terms := Terms{
			Family: of.family, Predictors: d, Rows: of.rows, Bound: math.Sqrt(float64(d)), Steep: 1, Bend: 0.25, Moves: 1, Unit: 1,
			Epsilon: of.epsilon, Rho: of.rho,
		}
		if of.family == Poisson {
			terms.Steep, terms.Bend = 20, 20
		}
		r := rand.New(rand.NewPCG(7, 200+uint64(i)))
		var o outcome
		o.start(d, trials)
		for range trials {
			xs, ys := of.sample(r, int(of.rows))
			o.add(of.theta, of.minimized(r, terms, xs, ys))
		}
		o.finish()
		t.Logf("%s, θ = %v, ε = %g, ρ = %g: %s", of.family, of.theta, of.epsilon, of.rho, o)
		if least := int(0.95*float64(trials) - 5.5*math.Sqrt(0.95*0.05*float64(trials)) - 2); o.least < least {
			t.Errorf("%v: %s", of.theta, o)
		}
		if missed := o.of - o.sound; float64(missed) > 0.1*float64(o.told)+6 { // so that few intervals cannot be wrong ones
			t.Errorf("%v: %d intervals miss: %s", of.theta, missed, o)
		}
		if float64(o.told) < of.told*float64(o.of) {
			t.Errorf("%v: few intervals: %s", of.theta, o)
		}
	}
}
