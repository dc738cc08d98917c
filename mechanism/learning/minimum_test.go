package learning

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// sample is a problem: rows by unit, each d predictors and a response, in units of 2^-20.
type problem struct {
	name  string
	d     int
	units [][][]float64
}

const problemGrid = -20

func (p problem) rows(t testing.TB, bound float64, most int64) *mechanism.Rows {
	t.Helper()
	r, err := mechanism.NewRows(mechanism.RowShape{
		Grids: slices.Repeat([]int{problemGrid}, p.d+1),
		Bound: new(big.Rat).SetFloat64(bound), Most: most, Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range p.units {
		for i, row := range u {
			integers := make([]int64, len(row))
			for j, x := range row {
				integers[j] = int64(math.RoundToEven(math.Ldexp(x, -problemGrid)))
			}
			if err := r.Add(i == 0, integers); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Seal(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func ratOf(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// apartBy is how far two minima are apart, in the coefficients' own units.
func apartBy(a, b []mechanism.Exact, grid int) float64 {
	sum := 0.0
	for i := range a {
		f, _ := new(big.Float).SetInt(new(big.Int).Sub(opaque.Open(a[i]), opaque.Open(b[i]))).Float64()
		sum += f * f
	}
	return math.Ldexp(math.Sqrt(sum), grid)
}

// kinds are problems of each loss: random, separable, of one class, collinear, constant, and far beyond the bounds.
func kinds(r *rand.Rand, d, n, most int) (out []problem) {
	for _, k := range []struct {
		name string
		row  func(x []float64) float64
	}{
		{"random", func([]float64) float64 { return float64(r.IntN(2)) }},
		{"separable", func(x []float64) float64 { return map[bool]float64{true: 1}[x[0] > 0] }},
		{"one class", func([]float64) float64 { return 1 }},
		{"collinear", func(x []float64) float64 {
			for i := range x {
				x[i] = x[0]
			}
			return float64(r.IntN(2))
		}},
		{"constant", func(x []float64) float64 {
			for i := range x {
				x[i] = 1
			}
			return float64(r.IntN(2))
		}},
		{"far", func(x []float64) float64 {
			for i := range x {
				x[i] *= 1e6
			}
			return 1e6 * x[0]
		}},
		{"nothing", nil},
	} {
		p := problem{name: k.name, d: d}
		for range n {
			if k.row == nil {
				break
			}
			var unit [][]float64
			for range 1 + r.IntN(most) {
				x := make([]float64, d, d+1)
				for i := range x {
					x[i] = r.NormFloat64()
				}
				y := k.row(x)
				unit = append(unit, append(x, y))
			}
			p.units = append(p.units, unit)
		}
		out = append(out, p)
	}
	return out
}

func objectives() []Objective {
	o := Objective{Radius: ratOf(3), Regularise: ratOf(4), Rows: 60}
	logistic, poisson, huber := o, o, o
	logistic.Loss = LogisticLoss
	poisson.Loss, poisson.Response, poisson.Radius, poisson.Regularise = PoissonLoss, ratOf(5), ratOf(1), ratOf(60)
	huber.Loss, huber.Response, huber.Width = HuberLoss, ratOf(10), ratOf(2)
	return []Objective{logistic, poisson, huber}
}

// What is found is within the tolerance of the minimum, whichever way it was found, as an independent solver has it;
// and the minima of neighbours are no further apart than the sensitivity says, on the grid's integers.
func TestMinimaOfNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	const bound, most, d = 2.0, 2, 3
	closest := map[string]float64{}
	for _, o := range objectives() {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
			m, err := NewMinimiser(o, d, ratOf(bound), mechanism.Unit{Neighbours: relation, MaxRows: most})
			if err != nil {
				t.Fatal(o.Loss, err)
			}
			for _, p := range kinds(r, d, 40, most) {
				name := p.name
				rows := p.rows(t, bound, most)
				base, err := m.Minimum(t.Context(), rows)
				if err != nil {
					t.Fatal(err)
				}
				if off := m.excess(t, rows, base); off > m.Tolerance() {
					t.Errorf("%s, %s: %g from the minimum, and the tolerance is %g", o.Loss, name, off, m.Tolerance())
				}
				slow := *m
				best, err := slow.look(t.Context(), m.opened(t, rows), make([]float64, d), false)
				for range m.passes {
					if best.off <= m.target || err != nil {
						break
					}
					best, err = slow.look(t.Context(), m.opened(t, rows), best.next, false)
				}
				if err != nil || best.off > m.target {
					t.Errorf("%s, %s: %d passes of T do not reach the target: %g, %v",
						o.Loss, name, m.passes, best.off, err)
				}
				for range 8 {
					other := p.neighbour(r, relation, most)
					next, err := m.Minimum(t.Context(), other.rows(t, bound, most))
					if err != nil {
						t.Fatal(err)
					}
					moved := apartBy(base, next, 0)
					if f, _ := new(big.Float).SetInt(m.l2).Float64(); moved > f {
						t.Errorf("%s, %s: moved by %g, and the sensitivity is %g", o.Loss, name, moved, f)
					}
					key := fmt.Sprint(o.Loss, " ", relation)
					closest[key] = max(closest[key], math.Ldexp(moved, m.grid)/m.away)
				}
			}
		}
	}
	t.Log("of the sensitivity, the farthest seen:", closest)
}

// neighbour adds, removes or replaces one unit: by one that pulls as hard as it can.
func (p problem) neighbour(r *rand.Rand, relation privacy.Neighbours, most int) problem {
	out := problem{d: p.d, units: slices.Clone(p.units)}
	var hard [][]float64
	for range most {
		x := make([]float64, p.d, p.d+1)
		for i := range x {
			x[i] = []float64{-1e3, 1e3, 0}[r.IntN(3)]
		}
		hard = append(hard, append(x, []float64{0, 1, 1e4, -1e4}[r.IntN(4)]))
	}
	switch {
	case relation == privacy.ChangeOne && len(out.units) > 0:
		out.units[r.IntN(len(out.units))] = hard
	case len(out.units) > 0 && r.IntN(2) == 0:
		out.units = slices.Delete(out.units, 0, 1)
	default:
		out.units = append(out.units, hard)
	}
	return out
}

// opened are rows that m may pass over.
func (m *Minimiser) opened(t *testing.T, rows *mechanism.Rows) inquiry {
	t.Helper()
	in, err := m.fits(rows)
	if err != nil {
		t.Fatal(err)
	}
	return inquiry{Reader: in}
}

// excess is how far integers are from the minimum, less what the grid moved: by gradient descent with a step of its
// own, until it stands.
func (m *Minimiser) excess(t *testing.T, rows *mechanism.Rows, got []mechanism.Exact) float64 {
	t.Helper()
	return m.tiltedExcess(t, rows, got, make([]float64, m.d))
}

// tiltedExcess is excess for an objective with a linear term.
func (m *Minimiser) tiltedExcess(t *testing.T, rows *mechanism.Rows, got []mechanism.Exact, tilt []float64) float64 {
	t.Helper()
	theta := make([]float64, m.d)
	in := m.opened(t, rows)
	raw, err := in.Read(0, in.Rows(), nil)
	if err != nil {
		t.Fatal(err)
	}
	lambda := m.lambda * max(1, float64(in.Rows())/float64(m.objective.Rows))
	step := 1 / (float64(in.Rows())*m.curve.bend*m.bound*m.bound + lambda)
	for range 20_000 {
		g := make([]float64, m.d)
		for i := range g {
			g[i] = lambda*theta[i] + tilt[i]
		}
		integers, x := make([]int64, m.d), make([]float64, m.d)
		for b := raw; len(b) > 0; b = b[in.Record():] {
			y := in.Decode(b, integers, x, math.Ldexp(1, in.Grid()))
			m.clamp(integers, x, math.Ldexp(1, in.Grid()))
			z := 0.0
			for i := range x {
				z += x[i] * theta[i]
			}
			slope := 0.0
			switch m.objective.Loss {
			case LogisticLoss:
				slope = (math.Tanh(z/2)+1)/2 - min(max(y, 0), 1)
			case PoissonLoss:
				slope = math.Exp(z) - min(max(y, 0), 5)
			case HuberLoss:
				slope = min(max(z-min(max(y, -10), 10), -2), 2)
			}
			for i := range g {
				g[i] += slope * x[i]
			}
		}
		moved := 0.0
		before := slices.Clone(theta)
		for i := range g {
			theta[i] -= step * g[i]
		}
		if n := norm(theta); n > m.r {
			for i := range theta {
				theta[i] *= m.r / n
			}
		}
		for i := range g {
			moved = max(moved, math.Abs(theta[i]-before[i]))
		}
		if moved < 1e-14 {
			break
		}
	}
	off := 0.0
	for i := range theta {
		f, _ := new(big.Float).SetInt(opaque.Open(got[i])).Float64()
		x := math.Ldexp(f, m.grid)
		off += (x - theta[i]) * (x - theta[i])
	}
	return math.Sqrt(off) - math.Ldexp(math.Sqrt(float64(m.d)), m.grid-1) - 1e-9
}

// What makes no sense is refused by its name.
func TestMinimiserRefuses(t *testing.T) {
	good := objectives()[0]
	for name, change := range map[string]func(o *Objective, d *int, bound **big.Rat, u *mechanism.Unit){
		"no loss":         func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) { o.Loss = "squares" },
		"no radius":       func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) { o.Radius = nil },
		"negative radius": func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) { o.Radius = ratOf(-1) },
		"no regulariser":  func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) { o.Regularise = new(big.Rat) },
		"a tiny regulariser": func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) {
			o.Regularise, o.Rows = ratOf(0x1p-50), 1<<40
		},
		"no rows":           func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) { o.Rows = 0 },
		"no predictors":     func(_ *Objective, d *int, _ **big.Rat, _ *mechanism.Unit) { *d = 0 },
		"too many":          func(_ *Objective, d *int, _ **big.Rat, _ *mechanism.Unit) { *d = 257 },
		"no bound":          func(_ *Objective, _ *int, b **big.Rat, _ *mechanism.Unit) { *b = nil },
		"an endless bound":  func(_ *Objective, _ *int, b **big.Rat, _ *mechanism.Unit) { *b = ratOf(0x1p90) },
		"no relation":       func(_ *Objective, _ *int, _ **big.Rat, u *mechanism.Unit) { u.Neighbours = 0 },
		"no rows of a unit": func(_ *Objective, _ *int, _ **big.Rat, u *mechanism.Unit) { u.MaxRows = 0 },
		"poisson, no bound": func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) { o.Loss = PoissonLoss },
		"poisson, too wide": func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) {
			o.Loss, o.Response, o.Radius = PoissonLoss, ratOf(1), ratOf(20)
		},
		"huber, no width": func(o *Objective, _ *int, _ **big.Rat, _ *mechanism.Unit) {
			o.Loss,
				o.Response = HuberLoss, ratOf(1)
		},
	} {
		o, d, bound, u := good, 3, ratOf(2), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
		change(&o, &d, &bound, &u)
		if _, err := NewMinimiser(o, d, bound, u); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := NewMinimiser(good, 3, ratOf(2), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Minimum(t.Context(), problem{d: 4}.rows(t, 2, 1)); !errors.Is(err, mechanism.ErrRows) {
		t.Errorf("rows of another shape: %v", err)
	}
	if _, err := m.Minimum(t.Context(), problem{d: 3}.rows(t, 4, 1)); !errors.Is(err, mechanism.ErrRows) {
		t.Errorf("rows of another bound: %v", err)
	}
	if _, err := m.Minimum(t.Context(), problem{d: 3}.rows(t, 2, 2)); !errors.Is(err, mechanism.ErrRows) {
		t.Errorf("more rows of a unit: %v", err)
	}
}

// Newton's method alone reaches the target, in a few passes, on problems of every kind and of regularisers, radii and
// bounds over many scales: what is proved of the passes after it is rarely needed. (No promise rests on this; time
// does.)
func TestNewtonSuffices(t *testing.T) {
	r := rand.New(rand.NewPCG(121, 122))
	worst := 0
	for range 40 {
		d := 1 + r.IntN(4)
		o := objectives()[r.IntN(3)]
		n := 1 + r.IntN(300)
		o.Rows = int64(1 + r.IntN(600))
		o.Regularise = ratOf(math.Exp(-8 + 10*r.Float64()))
		o.Radius = ratOf(math.Exp(-2 + 5*r.Float64()))
		bound := math.Exp(-1 + 3*r.Float64())
		m, err := NewMinimiser(o, d, ratOf(bound), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		if err != nil {
			continue
		}
		for _, p := range kinds(r, d, n, 1) {
			rows := p.rows(t, bound, 1)
			best, passes, err := m.descend(t.Context(), m.opened(t, rows))
			if err != nil || best.off > m.target {
				t.Errorf("%s, %s, n=%d, N=%d, d=%d, Λ=%g, r=%g, R=%g: off %g of %g after %d passes, %v",
					o.Loss, p.name, n, o.Rows, d, m.lambda, m.r, m.bound, best.off, m.target, passes, err)
			}
			worst = max(worst, passes)
		}
	}
	t.Log("at most", worst, "passes")
}

// A Huber loss that is all but an absolute value leaves Newton's method jumping about: accelerated steps reach the
// target in seconds, for which those of T̂ would take an hour.
func TestNarrowHuber(t *testing.T) {
	r := rand.New(rand.NewPCG(123, 124))
	jumped := 0
	for range 12 {
		o := Objective{
			Loss: HuberLoss, Width: big.NewRat(1, 100_000), Response: ratOf(1), Radius: ratOf(1),
			Regularise: big.NewRat(1, 10_000), Rows: 300,
		}
		m, err := NewMinimiser(o, 2, ratOf(1), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := mechanism.NewRows(mechanism.RowShape{
			Grids: []int{-20, -20, -20}, Bound: ratOf(1), Most: 1,
			Dir: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			y := int64(r.Uint32N(1<<21)) - 1<<20
			if r.IntN(3) == 0 {
				y = 1 << 20
			}
			if err := rows.Add(true, []int64{int64(2*r.IntN(2)-1) << 20, int64(2*r.IntN(2)-1) << 20, y}); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Seal(); err != nil {
			t.Fatal(err)
		}
		best, _, err := m.descend(t.Context(), m.opened(t, rows))
		if err != nil {
			t.Fatal(err)
		}
		if best.off <= m.target {
			continue
		}
		jumped++
		if best, err = m.glide(t.Context(), m.opened(t, rows), best); err != nil || best.off > m.target {
			t.Errorf("%g of %g after %d accelerated steps, %v", best.off, m.target, m.glides, err)
		}
	}
	if jumped == 0 {
		t.Error("Newton's method never failed: the test shows nothing")
	}
	t.Log("accelerated steps were needed", jumped, "times of 12")
}
