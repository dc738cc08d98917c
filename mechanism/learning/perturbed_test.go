package learning

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

func epsilonOf(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// perturbed is a mechanism for rows of a unit each, whose predictors are within ±each.
func perturbed(t testing.TB, d int, radius, lambda, bound, each float64, u mechanism.Unit, epsilon string) *Perturbed {
	t.Helper()
	o := Objective{Loss: LogisticLoss, Radius: ratOf(radius), Regularise: ratOf(lambda), Rows: 60}
	p, err := NewPerturbed(o, d, ratOf(bound), ratOf(each), u, epsilonOf(t, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is found is within the tolerance of the minimum with the linear term, as an independent solver has it: for usual
// terms, for none, and for terms so long that the minimum is on the sphere, or that they overflow a float64. (The
// independent solver gets a shorter term of the same direction, whose minimum is closer than the tolerance.)
func TestPerturbedMinima(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	const bound, most, d = 2.0, 2, 3
	p := perturbed(t, d, 3, 4, bound, 1.5, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: most}, "4")
	g := math.Ldexp(1, p.m.rowGrid-p.m.slopeBits)
	for _, k := range kinds(r, d, 40, most) {
		rows := k.rows(t, bound, most)
		for _, of := range []struct {
			size  float64
			times uint // the term is 2^times longer than that of the independent solver
		}{{0, 0}, {1, 0}, {30, 0}, {1e4, 0}, {1e100, 0}, {1e100, 300}, {1e100, 900}} {
			tilt, floats := make([]*big.Int, d), make([]float64, d)
			for i := range tilt {
				floats[i] = of.size * (2*r.Float64() - 1)
				tilt[i], _ = big.NewFloat(floats[i] / g).Int(nil)
				tilt[i].Lsh(tilt[i], of.times)
			}
			got, err := p.minimum(t.Context(), rows, tilt)
			if err != nil {
				t.Fatal(err)
			}
			if off := p.m.tiltedExcess(t, rows, got, floats); !(off <= p.Tolerance()) {
				t.Errorf("%s, a term of %g·2^%d: %g from the minimum, and the tolerance is %g", k.name, of.size, of.times, off, p.Tolerance())
			}
		}
	}
}

// The minimum of one coefficient has the law that the density of b implies: P(θ* ≤ t) = P(b ≥ −J′(t)) inside the ball,
// and the rest at its ends. The false-alarm rate is 1e-9.
func TestPerturbedLaw(t *testing.T) {
	p := perturbed(t, 1, 0.75, 2, 1, 1, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, "2")
	k := problem{d: 1, units: [][][]float64{{{1, 1}}, {{-0.5, 0}}, {{0.25, 1}}, {{1, 1}}}}
	rows := k.rows(t, 1, 1)
	scale, _ := p.Scale().Float64()
	scale *= math.Ldexp(1, p.m.rowGrid-p.m.slopeBits)
	below := func(at float64) float64 { // P(θ* ≤ at)
		slope := 2 * at
		for _, u := range k.units {
			x, y := u[0][0], u[0][1]
			slope += (1/(1+math.Exp(-at*x)) - y) * x
		}
		if b := -slope; b > 0 {
			return math.Exp(-b/scale) / 2
		} else {
			return 1 - math.Exp(b/scale)/2
		}
	}
	const cells, draws = 12, 20_000
	mass, counts := make([]float64, cells+2), make([]int, cells+2)
	edge := func(i int) float64 { return -0.75 + 1.5*float64(i)/cells }
	mass[0], mass[cells+1] = below(-0.75), 1-below(0.75)
	for i := range cells {
		mass[i+1] = below(edge(i+1)) - below(edge(i))
	}
	for range draws {
		x, err := p.Minimum(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := new(big.Float).SetInt(opaque.Open(x[0])).Float64()
		at := math.Ldexp(f, p.Output().Grid)
		switch {
		case at < -0.75+1e-9:
			counts[0]++
		case at > 0.75-1e-9:
			counts[cells+1]++
		default:
			counts[min(int((at+0.75)/1.5*cells), cells-1)+1]++
		}
	}
	if err := (stattest.ChiSquared{Observed: counts, Expected: mass, FalseAlarm: 1e-9}).Check(); err != nil {
		t.Error(err)
	}
	if mass[cells+1] < 0.1 {
		t.Errorf("an end of the ball has a mass of %g only", mass[cells+1])
	}
}

// Inside the ball, what the gradient lacks at the minimum is b: its norm is a gamma variable of shape d times the
// scale, and it has the stated deviation. The false-alarm rate is 1e-9. (b has a norm of at most 40, and the curvature
// keeps such minima inside.)
func TestPerturbedGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 78))
	const d, lambda = 3, 30.0
	k := problem{d: d}
	for range 60 {
		k.units = append(k.units, [][]float64{{2*r.Float64() - 1, 2*r.Float64() - 1, 1, float64(r.IntN(2))}})
	}
	p := perturbed(t, d, 3, lambda, 2, 1, mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1}, "4")
	scale, _ := p.Scale().Float64()
	scale *= math.Ldexp(1, p.m.rowGrid-p.m.slopeBits)
	rows := k.rows(t, 2, 1)
	var norms []float64
	squares := 0.0
	for range 3000 {
		x, err := p.Minimum(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		var theta, b [d]float64
		for i := range theta {
			f, _ := new(big.Float).SetInt(opaque.Open(x[i])).Float64()
			theta[i] = math.Ldexp(f, p.Output().Grid)
			b[i] = -lambda * theta[i]
		}
		for _, u := range k.units {
			z := 0.0
			for i, x := range theta {
				z += x * u[0][i]
			}
			for i := range b {
				b[i] -= (1/(1+math.Exp(-z)) - u[0][d]) * u[0][i]
			}
		}
		norms = append(norms, max(math.Abs(b[0]), math.Abs(b[1]), math.Abs(b[2]))/scale)
		for _, x := range b {
			squares += x * x
		}
	}
	tail := func(x float64) float64 { return math.Exp(-x) * (1 + x + x*x/2) }
	if err := (stattest.Kolmogorov{Sample: norms, CDF: func(x float64) float64 { return 1 - tail(x) }, FalseAlarm: 1e-9}).Check(); err != nil {
		t.Error(err)
	}
	if sd := math.Sqrt(squares / float64(d*len(norms))); math.Abs(sd/p.StdDev()-1) > 0.1 { // nine standard deviations
		t.Errorf("b has a deviation of %g, and %g is stated", sd, p.StdDev())
	}
}

// The densities of the minima of neighbours, from the formulas of Perturbed's Lemma 2, differ by at most the declared
// loss, inside the ball and on the sphere, and by more than half of it somewhere.
func TestPerturbedLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 76))
	for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		const bound, radius, lambda = 2.0, 4.0, 0.9
		most := 2
		p := perturbed(t, 2, radius, lambda, bound, bound, mechanism.Unit{Neighbours: relation, MaxRows: int64(most)}, "6")
		scale, _ := p.Scale().Float64()
		scale *= math.Ldexp(1, p.m.rowGrid-p.m.slopeBits)
		loss, _ := p.inner.Rat().Float64()
		// the logarithm of the density at θ, or on the sphere at θ and a multiplier
		density := func(k problem, theta [2]float64, more float64, sphere bool) float64 {
			n := 0
			for _, u := range k.units {
				n += len(u)
			}
			weight := lambda*max(1, float64(n)/60) + more
			g := [2]float64{weight * theta[0], weight * theta[1]}
			h := [3]float64{weight, 0, weight}
			for _, u := range k.units {
				for _, row := range u {
					x := [2]float64{row[0], row[1]}
					if l := math.Hypot(x[0], x[1]); l > bound {
						x[0], x[1] = x[0]*bound/l, x[1]*bound/l
					}
					e := 1 / (1 + math.Exp(-(x[0]*theta[0] + x[1]*theta[1])))
					y := min(max(row[2], 0), 1)
					w := e * (1 - e)
					g[0], g[1] = g[0]+(e-y)*x[0], g[1]+(e-y)*x[1]
					h[0], h[1], h[2] = h[0]+w*x[0]*x[0], h[1]+w*x[0]*x[1], h[2]+w*x[1]*x[1]
				}
			}
			det := h[0]*h[2] - h[1]*h[1]
			if sphere { // along the tangent (−θ₂, θ₁)
				det = radius * (h[0]*theta[1]*theta[1] - 2*h[1]*theta[0]*theta[1] + h[2]*theta[0]*theta[0]) / (radius * radius)
			}
			return -max(math.Abs(g[0]), math.Abs(g[1]))/scale + math.Log(det)
		}
		worst := 0.0
		for range 1000 {
			k := problem{d: 2}
			for range r.IntN(4) {
				k.units = append(k.units, [][]float64{{r.NormFloat64(), r.NormFloat64(), float64(r.IntN(2))}})
			}
			if len(k.units) == 1 { // so that the unit which is changed pulls hard before and after
				k = k.neighbour(r, privacy.ChangeOne, most)
			}
			other := k.neighbour(r, relation, most)
			for range 50 {
				a, l := 2*math.Pi*r.Float64(), radius*math.Sqrt(r.Float64())
				sphere, more := r.IntN(2) == 0, 0.0
				if sphere {
					l, more = radius, 5*r.ExpFloat64()
				}
				theta := [2]float64{l * math.Cos(a), l * math.Sin(a)}
				apart := math.Abs(density(k, theta, more, sphere) - density(other, theta, more, sphere))
				worst = max(worst, apart/loss)
			}
		}
		if worst > 1 || worst < 0.5 {
			t.Errorf("%v: the largest ratio of densities has %.3f of the loss", relation, worst)
		}
		t.Logf("%v: the largest ratio of densities has %.3f of the loss", relation, worst)
	}
}

// What makes no sense is refused before rows are read.
func TestPerturbedRefuses(t *testing.T) {
	for name, change := range map[string]func(o *Objective, each **big.Rat, epsilon *string){
		"another loss":      func(o *Objective, _ **big.Rat, _ *string) { o.Loss, o.Response = PoissonLoss, ratOf(5) },
		"a large radius":    func(o *Objective, _ **big.Rat, _ *string) { o.Radius = ratOf(1001) },
		"no bound":          func(_ *Objective, each **big.Rat, _ *string) { *each = nil },
		"a small Λ":         func(o *Objective, _ **big.Rat, _ *string) { o.Regularise = ratOf(0x1p-8) },
		"a tiny price":      func(_ *Objective, _ **big.Rat, epsilon *string) { *epsilon = "1e-6" },
		"too many for sums": func(o *Objective, _ **big.Rat, _ *string) { o.Rows = 1 << 40 },
	} {
		o := Objective{Loss: LogisticLoss, Radius: ratOf(3), Regularise: ratOf(4), Rows: 60}
		each, epsilon := ratOf(1), "2"
		change(&o, &each, &epsilon)
		_, err := NewPerturbed(o, 3, ratOf(2), each, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, epsilonOf(t, epsilon))
		if !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
