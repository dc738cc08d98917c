package glm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// cubes draws the noise of mechanism.Cube with a standard deviation, in the continuous limit.
func cubes(r *rand.Rand, k int, sd float64) []float64 {
	side := 0.0
	for range k + 1 {
		side += r.ExpFloat64()
	}
	side *= sd / math.Sqrt(float64((k+1)*(k+2))/3)
	out := make([]float64, k)
	for i := range out {
		out[i] = side * (2*r.Float64() - 1)
	}
	return out
}

// outcome is what a simulation of fits found, over all coefficients but the intercept, whose coverage alone counts.
type outcome struct {
	rms, half   float64 // of the errors, and the mean half-width of intervals
	told, sound int     // intervals, and coefficients that their intervals cover (an unbounded one does)
	least       int     // how often the coefficient is covered that is covered least often, or the intercept
	of          int     // coefficients in all
	covered     []int   // how often each coefficient is covered
	trials      int
}

// start prepares for a number of fits of d coefficients.
func (o *outcome) start(d, trials int) { o.covered, o.trials = make([]int, d), trials }

// add counts a fit of the coefficients theta.
func (o *outcome) add(theta []float64, f *Fit) {
	for i := range theta {
		a := make([]float64, len(theta))
		a[i] = 1
		e := f.Estimate(a, 0.95)
		covers := e.Low <= theta[i] && theta[i] <= e.High
		o.covered[i] += int(indicator(covers))
		if i == 0 {
			continue
		}
		o.sound += int(indicator(covers))
		o.rms += square(e.Value - theta[i])
		if !math.IsInf(e.High, 0) {
			o.told++
			o.half += (e.High - e.Low) / 2
		}
	}
}

// finish turns sums into means.
func (o *outcome) finish() {
	o.of = o.trials * (len(o.covered) - 1)
	o.rms, o.half, o.least = math.Sqrt(o.rms/float64(o.of)), o.half/max(float64(o.told), 1), o.trials
	for _, c := range o.covered {
		o.least = min(o.least, c)
	}
}

func (o outcome) String() string {
	return fmt.Sprintf("rms error %.3f, coverage %.3f, least %d, %.3f of coefficients have intervals, mean half-width %.3f",
		o.rms, float64(o.sound)/float64(o.of), o.least, float64(o.told)/float64(o.of), o.half)
}

// stepped simulates a fit by Newton steps.
func (w world) stepped(r *rand.Rand, t Terms, xs [][]float64, ys []float64) *Fit {
	leverage := math.Inf(1)
	if t.Leverage = t.Weigh(); t.Leverage > 0 {
		leverage = t.Leverage
	}
	shares := t.Steps()
	n := Newton{Rows: t.Rows, Intercept: 0, Radius: 10, Laplace: t.Rho == 0}
	noisy := func(x []float64, sd float64) []float64 {
		z := cubes(r, len(x), sd)
		for i := range x {
			if t.Rho > 0 {
				z[i] = sd * r.NormFloat64()
			}
			x[i] += z[i]
		}
		return x
	}
	var all []Sums
	for i, g := range shares.Gradient {
		s, steep := Sums{Theta: make([]float64, len(w.theta))}, 0.5
		if i > 0 {
			s.Theta, steep = n.Next(all), 1
		}
		gradient, hessian, _ := w.weighed(xs, ys, s.Theta, leverage)
		s.GradSD = t.GradSD(float64(g)/100, steep)
		s.Gradient = noisy(gradient, s.GradSD)
		if h := shares.Hessian[i]; h > 0 {
			s.HessSD = t.HessSD(float64(h) / 100)
			s.Hessian = noisy(hessian, s.HessSD)
		}
		all = append(all, s)
	}
	return n.Infer(all)
}

// newton simulates fits by Newton steps.
func (w world) newton(r *rand.Rand, t Terms, trials int) (o outcome) {
	o.start(len(w.theta), trials)
	for range trials {
		xs, ys := w.sample(r, int(t.Rows))
		o.add(w.theta, w.stepped(r, t, xs, ys))
	}
	o.finish()
	return o
}

// 95 % intervals of Newton steps cover each coefficient, over populations, rows and noise, from 50 to 20,000 rows, for
// both relations (moves is the number of rows that differ, 2 under change-one). If each covered with a probability of .95
// just so, a test would fail with a probability below 1e-7 for each coefficient. The test also fails if the errors or the
// intervals grow, or if there are no intervals where n·ε is at least 5,000.
func TestNewtonCoverage(t *testing.T) {
	trials := 25
	if os.Getenv("DITHER_LONG") != "" {
		trials = 400
	}
	two, usual := []float64{0.5, 1, -1}, []float64{0.5, 1, -1, 0.5, 0, 0.7}
	for i, of := range []struct {
		about                    string
		world                    world
		rows, moves              float64
		epsilon, rho, most, wide float64 // the largest root mean squared error, and the largest mean half-width
	}{
		{"two uniform", world{Logistic, two, uniform, 0}, 50, 1, 1, 0, 1.2, 2.3},
		{"two uniform", world{Logistic, two, uniform, 0}, 200, 1, 1, 0, 0.7, 2.1},
		{"two uniform", world{Logistic, two, uniform, 0}, 1000, 2, 2, 0, 0.2, 0.48},
		{"two uniform", world{Logistic, two, uniform, 0}, 20000, 2, 0.2, 0, 0.08, 0.15},
		{"uniform", world{Logistic, usual, uniform, 0}, 1000, 2, 2, 0, 0.26, 1.5},
		{"uniform", world{Logistic, usual, uniform, 0}, 5000, 1, 1, 0, 0.09, 0.2},
		{"uniform", world{Logistic, usual, uniform, 0}, 20000, 2, 0.2, 0, 0.13, 0.5},
		{"uniform", world{Logistic, usual, uniform, 0}, 5000, 1, 0, 0.5, 0.08, 0.15},
		{"mixed", world{Logistic, []float64{-1, 2, -1, 0.5, 0, 0.7}, mixed, 0}, 5000, 1, 1, 0, 0.18, 0.75},
		{"mixed", world{Logistic, []float64{-1, 2, -1, 0.5, 0, 0.7}, mixed, 0}, 20000, 1, 1, 0, 0.07, 0.15},
		{"mixed", world{Logistic, []float64{-1, 2, -1, 0.5, 0, 0.7}, mixed, 0}, 5000, 1, 0, 0.5, 0.13, 0.25},
		{"rare responses", world{Logistic, []float64{-3.5, 1.3, -1, 0.5, 0, 0.7}, mixed, 0}, 20000, 1, 1, 0, 0.14, 0.4},
		{"large", world{Logistic, []float64{-2, 3, -2, 1.5, -1.5, 2}, mixed, 0}, 20000, 1, 1, 0, 0.15, 0.32},
		{"uniform", world{Logistic, usual, uniform, 0}, 20000, 1, 0, 0.001, 0.055, 0.12},
		{"uniform", world{Logistic, usual[:4], uniform, 0}, 1000, 1, 0, 0.025, 0.22, 0.7},
		{"mixed", world{Logistic, []float64{-1, 2, -1, 0.5, 0, 0.7}, mixed, 0}, 20000, 1, 0, 0.002, 0.13, 0.28},
	} {
		d := len(of.world.theta)
		terms := Terms{
			Family: Logistic, Predictors: d, Rows: of.rows, Bound: math.Sqrt(float64(d)), Steep: 1, Bend: 0.25,
			Moves: of.moves, Epsilon: of.epsilon, Rho: of.rho,
		}
		n := trials
		if of.rows > 5000 && trials > 25 {
			n = trials / 2
		}
		o := of.world.newton(rand.New(rand.NewPCG(7, uint64(i))), terms, n)
		t.Logf("%s, %d predictors, %g rows, ε = %g, ρ = %g, moves %g: %s; expected %.3f, by minima %.3f, leverage %.2f",
			of.about, d-1, of.rows, of.epsilon, of.rho, of.moves, o, terms.Steps().Expected, terms.Choose().Expected, terms.Weigh())
		if least := int(0.95*float64(n) - 5.5*math.Sqrt(0.95*0.05*float64(n)) - 2); o.least < least {
			t.Errorf("%s: %s", of.about, o)
		}
		if o.rms > of.most {
			t.Errorf("%s: the error is above %g: %s", of.about, of.most, o)
		}
		if o.half > of.wide {
			t.Errorf("%s: intervals are wider than %g: %s", of.about, of.wide, o)
		}
		if of.epsilon*of.rows >= 5000 && of.moves == 1 && of.about != "rare responses" && o.told*10 < o.of*9 {
			t.Errorf("%s: few intervals: %s", of.about, o)
		}
	}
}

// mostlyLow draws skewed predictors: 2u⁸ − 1 for a uniform u.
func mostlyLow(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = 2*math.Pow(r.Float64(), 8) - 1
	}
}

// twoHumps draws predictors around −0.6 and 0.6.
func twoHumps(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = 0.6*(2*indicator(r.Float64() < 0.5)-1) + 0.4*r.Float64() - 0.2
	}
}

// rareIndicators draws predictors that are 1 in a tenth of the rows and else −1, as no normal distribution is.
func rareIndicators(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = 2*indicator(r.Float64() < 0.1) - 1
	}
}

// rarelyOne returns predictors that are 1 in a share p of the rows and else 0, as the levels of a formula are.
func rarelyOne(p float64) func(r *rand.Rand, x []float64) {
	return func(r *rand.Rand, x []float64) {
		for i := range x {
			x[i] = indicator(r.Float64() < p)
		}
	}
}

// Rare indicators and predictors with a skew or two humps are far from the assumed distribution. The last Hessian shows it, and
// intervals cover each coefficient or do not exist. Those of short last steps exist. If intervals covered with a
// probability of .95 just so, a test would fail with one below 1e-7 for each coefficient.
func TestNewtonUnlikeRows(t *testing.T) {
	trials := 100
	if os.Getenv("DITHER_LONG") != "" {
		trials = 400
	}
	for i, of := range []struct {
		theta     []float64
		draw      func(r *rand.Rand, x []float64)
		rows, rho float64
		told      float64 // the least share of coefficients that have intervals
	}{
		{[]float64{0.5, 1, -1}, rareIndicators, 20000, 0.5, 1},
		{[]float64{0.5, 2, -1}, rareIndicators, 5000, 0, 0},
		{[]float64{0.5, 2, -1}, rareIndicators, 5000, 0.5, 0.7},
		{[]float64{0.5, 3, -2}, rareIndicators, 5000, 0, 0},
		{[]float64{0.5, 3, -2}, rareIndicators, 5000, 0.5, 0},
		{[]float64{0.5, 3, -2}, rareIndicators, 20000, 0.5, 0},
		{[]float64{1, 3, -2}, rareIndicators, 5000, 0.5, 0},
		{[]float64{1, 3, -2}, mostlyLow, 5000, 0, 0},
		{[]float64{1, 3, -2}, mostlyLow, 5000, 0.5, 0.3},
		{[]float64{0, 5}, twoHumps, 20000, 2, 1},
		{[]float64{0.5, 2, -1}, rareIndicators, 20000, 0.003, 0},
		{[]float64{1, 3, -2}, mostlyLow, 20000, 0.003, 0},
		{[]float64{0.5, 3, -2}, rarelyOne(0.05), 20000, 0.002, 0.3},
		{[]float64{0.5, 3, -2}, rarelyOne(0.05), 20000, 0.01, 0.5},
		{[]float64{0.5, 3, -2}, rarelyOne(0.05), 5000, 0.5, 0.6},
		{[]float64{0.5, 3, -2}, rarelyOne(0.02), 20000, 0.05, 0.3},
		{[]float64{0, 1, -1}, rarelyOne(0.02), 20000, 0.5, 1},
	} {
		d := len(of.theta)
		terms := Terms{
			Family: Logistic, Predictors: d, Rows: of.rows, Bound: math.Sqrt(float64(d)), Steep: 1, Bend: 0.25, Moves: 1, Unit: 1,
			Rho: of.rho,
		}
		if of.rho == 0 {
			terms.Epsilon = 1
		}
		n := trials
		if of.rows > 5000 {
			n /= 2
		}
		o := world{Logistic, of.theta, of.draw, 0}.newton(rand.New(rand.NewPCG(7, 90+uint64(i))), terms, n)
		t.Logf("θ = %v, %g rows, ε = %g, ρ = %g: %s", of.theta, of.rows, terms.Epsilon, of.rho, o)
		if least := int(0.95*float64(n) - 5.5*math.Sqrt(0.95*0.05*float64(n)) - 2); o.least < least {
			t.Errorf("%v: %s", of.theta, o)
		}
		if float64(o.told) < of.told*float64(o.of) {
			t.Errorf("%v: few intervals: %s", of.theta, o)
		}
	}
}

// levels returns indicators of the levels of one factor with these shares, of which the reference has the rest, and then
// uniform predictors.
func levels(shares ...float64) func(r *rand.Rand, x []float64) {
	return func(r *rand.Rand, x []float64) {
		uniform(r, x)
		u := r.Float64()
		for i, share := range shares {
			x[i] = indicator(u >= 0 && u < share)
			u -= share
		}
	}
}

// Intervals hold for levels whose rows nearly all respond alike, and for an intercept whose level is rare, or do not exist. Noise
// that lets the coefficient seem smaller in magnitude shows more curvature than there is, so an interval by this curvature is
// too short.
func TestNewtonRareLevels(t *testing.T) {
	trials := 60
	if os.Getenv("DITHER_LONG") != "" {
		trials = 400
	}
	for i, of := range []struct {
		theta              []float64
		draw               func(r *rand.Rand, x []float64)
		rows, epsilon, rho float64
		at                 int // the coefficient
		told               int // the least number of its intervals, in 100 trials
	}{
		{[]float64{-1, -3}, rarelyOne(0.02), 20000, 0, 0.05, 1, 5},
		{[]float64{-1, -3, 1}, rarelyOne(0.05), 20000, 0, 0.01, 1, 10},
		{[]float64{-1, -3, 1}, rarelyOne(0.1), 5000, 2, 0, 1, 25},
		{[]float64{-1, -3, 1}, rarelyOne(0.03), 20000, 0, 0.5, 1, 60},
		{[]float64{-1, -1, 1}, rarelyOne(0.05), 20000, 0, 0.01, 1, 95},
		{[]float64{-2, 3, 4, 1, 1}, levels(0.9, 0.05, 0.03), 20000, 1, 0, 0, 0}, // noise shows its curvature, of 42, as 200 at times
		{[]float64{-2, 3, 4, 1, 1}, levels(0.9, 0.05, 0.03), 20000, 0, 0.02, 0, 0},
		{[]float64{-2, 3, 4, 1, 1}, levels(0.6, 0.2, 0.1), 20000, 0, 0.0244, 0, 40},
	} {
		d := len(of.theta)
		terms := Terms{
			Family: Logistic, Predictors: d, Rows: of.rows, Bound: math.Sqrt(float64(d)), Steep: 1, Bend: 0.25, Moves: 1,
			Epsilon: of.epsilon, Rho: of.rho,
		}
		r, w := rand.New(rand.NewPCG(7, 70+uint64(i))), world{Logistic, of.theta, of.draw, 0}
		told, missed := 0, 0
		for range trials {
			xs, ys := w.sample(r, int(of.rows))
			a := make([]float64, d)
			a[of.at] = 1
			if e := w.stepped(r, terms, xs, ys).Estimate(a, 0.95); !math.IsInf(e.High, 0) {
				told++
				missed += int(indicator(of.theta[of.at] < e.Low || e.High < of.theta[of.at]))
			}
		}
		about := fmt.Sprintf("θ = %v, %g rows, ε = %g, ρ = %g, coefficient %d: %d intervals, %d miss", of.theta, of.rows, of.epsilon, of.rho, of.at, told, missed)
		t.Log(about)
		if told*100 < of.told*trials || missed*100 > 7*trials {
			t.Error(about)
		}
	}
}

// Whatever was released, there are finite coefficients, intervals that hold them, a next θ within the radius, and no
// panic; and any price and size have shares that add up.
func TestNewtonWild(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64Range(-1e6, 1e6), rapid.Float64Range(-1e18, 1e18), rapid.Just(0.0))
	scale := rapid.OneOf(rapid.Float64Range(1e-9, 10), rapid.Float64Range(1e-9, 1e9))
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(rt, "d")
		vector := func(name string, n int) []float64 { return rapid.SliceOfN(number, n, n).Draw(rt, name) }
		n := Newton{
			Rows: scale.Draw(rt, "rows"), Intercept: rapid.IntRange(-1, d-1).Draw(rt, "intercept"), Radius: scale.Draw(rt, "radius"),
			Laplace: rapid.Bool().Draw(rt, "laplace"),
		}
		var all []Sums
		for i := range rapid.IntRange(1, 3).Draw(rt, "steps") {
			s := Sums{Theta: make([]float64, d), GradSD: scale.Draw(rt, "gradient sd")}
			if i > 0 {
				s.Theta = n.Next(all)
			}
			if l := length(s.Theta); !(l <= n.Radius+0.001) {
				rt.Fatalf("θ %v", s.Theta)
			}
			s.Gradient = vector("gradient", d)
			if i == 0 || rapid.Bool().Draw(rt, "has hessian") {
				s.Hessian, s.HessSD = vector("hessian", d*(d+1)/2), scale.Draw(rt, "hessian sd")
			}
			all = append(all, s)
		}
		f := n.Infer(all)
		holdTogether(rt, f, d)
		terms := Terms{
			Family: Logistic, Predictors: d, Rows: 20 + n.Rows, Bound: scale.Draw(rt, "bound"), Steep: 1, Bend: 0.25, Moves: 1,
			Epsilon: scale.Draw(rt, "epsilon"),
		}
		s, total := terms.Steps(), 0
		for i := range s.Gradient {
			total += s.Gradient[i] + s.Hessian[i]
		}
		if total != 100 || len(s.Gradient) < 2 || s.Hessian[0] == 0 || !(s.Expected >= 0) {
			rt.Fatalf("%+v", s)
		}
		if e := terms.EvenSteps(); len(e.Gradient) != 2 || e.Gradient[0]+e.Hessian[0] != 50 || e.Gradient[1]+e.Hessian[1] != 50 || !(e.Expected >= s.Expected) {
			rt.Fatalf("%+v", e)
		}
	})
}

// Rows of one class, rows that a predictor separates, and a predictor that is constant have a warning.
func TestNewtonWarns(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for name, draw := range map[string]func(x []float64) float64{
		"one class": func(x []float64) float64 { x[1] = 2*r.Float64() - 1; return 1 },
		"separable": func(x []float64) float64 { x[1] = 2*r.Float64() - 1; return indicator(x[1] > 0) },
		"constant":  func(x []float64) float64 { x[1] = 1; return indicator(r.Float64() < 0.3) },
	} {
		w := world{family: Logistic, theta: make([]float64, 2)}
		warned := 0
		for range 20 {
			var xs [][]float64
			var ys []float64
			for range 3000 {
				x := []float64{1, 0}
				y := draw(x)
				xs, ys = append(xs, x), append(ys, y)
			}
			terms := Terms{Family: Logistic, Predictors: 2, Rows: 3000, Bound: math.Sqrt2, Steep: 1, Bend: 0.25, Moves: 1, Epsilon: 1}
			n := Newton{Rows: 3000, Intercept: 0, Radius: 10}
			var all []Sums
			for i := range 2 {
				s := Sums{Theta: make([]float64, 2), GradSD: terms.GradSD(0.4, 1), HessSD: terms.HessSD(0.2)}
				if i > 0 {
					s.Theta = n.Next(all)
				}
				s.Gradient, s.Hessian, _ = w.sums(xs, ys, s.Theta)
				for j, z := range cubes(r, 2, s.GradSD) {
					s.Gradient[j] += z
				}
				for j, z := range cubes(r, 3, s.HessSD) {
					s.Hessian[j] += z
				}
				all = append(all, s)
			}
			if f := n.Infer(all); len(f.Warnings) > 0 {
				warned++
			}
		}
		if warned < 15 {
			t.Errorf("%s: %d warnings in 20 fits", name, warned)
		}
	}
}

// Weigh gives weights where noise matters: not under a pure ε, nor at prices that leave sampling alone.
func TestWeigh(t *testing.T) {
	terms := Terms{Family: Logistic, Predictors: 6, Rows: 20000, Bound: math.Sqrt(6), Steep: 1, Bend: 0.25, Moves: 1}
	for price, weighted := range map[float64]bool{0.0005: true, 0.001: true, 0.5: false} {
		terms.Rho = price
		if v := terms.Weigh(); (v > 0) != weighted || v >= terms.Bound || v > 0 && v < math.Sqrt2*0.99 {
			t.Errorf("ρ = %g: leverage %g", price, v)
		}
	}
	terms.Rho, terms.Epsilon = 0, 0.001
	if v := terms.Weigh(); v != 0 {
		t.Errorf("pure ε: leverage %g", v)
	}
}
