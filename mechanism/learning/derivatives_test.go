package learning

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// What one unit adds to the sums is within their sensitivities, in the largest coordinate and in L2, for hostile rows
// too; and the largest seen are most of them.
func TestDerivativesOfNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(131, 132))
	const bound, most, d = 1.7, 2, 3
	for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		longest := map[string]float64{}
		for i, theta := range [][]float64{{0, 0, 0}, {0.5, -1, 2}, {-40, 0.25, 3}, {0, 0, 0}, {-40, 0.25, 3}} {
			var leverage *big.Rat
			if i > 2 {
				leverage = ratOf(0.9)
			}
			m, err := NewDerivatives(theta, ratOf(bound), ratOf(1), leverage, mechanism.Unit{Neighbours: relation, MaxRows: most})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(kinds(r, d, 20, most), corners(r, d, 20, most)) {
				g, h, err := m.Sums(t.Context(), p.rows(t, bound, most))
				if err != nil {
					t.Fatal(err)
				}
				for range 8 {
					g2, h2, err := m.Sums(t.Context(), p.neighbour(r, relation, most).rows(t, bound, most))
					if err != nil {
						t.Fatal(err)
					}
					for name, s := range map[string]struct {
						of   Summed
						a, b []mechanism.Exact
					}{"gradient": {m.Gradient(), g, g2}, "hessian": {m.Hessian(), h, h2}} {
						far, l2 := new(big.Int), new(big.Int)
						for k := range s.a {
							x := new(big.Int).Sub(opaque.Open(s.a[k]), opaque.Open(s.b[k]))
							if x.CmpAbs(far) > 0 {
								far.Abs(x)
							}
							l2.Add(l2, x.Mul(x, x))
						}
						if far.Cmp(s.of.LInf) > 0 || l2.Cmp(s.of.L2Squared) > 0 {
							t.Errorf("%s of %s at %v, %s: largest %s of %s, squared L2 %s of %s",
								name, p.name, theta, relation, far, s.of.LInf, l2, s.of.L2Squared)
						}
						f, _ := new(big.Rat).SetFrac(far, s.of.LInf).Float64()
						longest[name] = max(longest[name], f)
						f, _ = new(big.Rat).SetFrac(l2, s.of.L2Squared).Float64()
						longest[name+", squared L2"] = max(longest[name+", squared L2"], f)
					}
				}
			}
		}
		for name, f := range longest {
			if f < 0.3 {
				t.Errorf("%s, %s: %g of the sensitivity was seen: the test shows little", relation, name, f)
			}
		}
		t.Log(relation, longest)
	}
}

// corners are rows at the corners of the cube of predictors, of either class.
func corners(r *rand.Rand, d, n, most int) problem {
	p := problem{name: "corners", d: d}
	for range n {
		unit := make([][]float64, most)
		sign, y := make([]float64, d), float64(r.IntN(2))
		for i := range sign {
			sign[i] = float64(2*r.IntN(2) - 1)
		}
		for i := range unit {
			unit[i] = append(append([]float64(nil), sign...), y)
		}
		p.units = append(p.units, unit)
	}
	return p
}

// The sums are those of float64s, with or without weights.
func TestDerivativesAreRight(t *testing.T) {
	for _, leverage := range []float64{0, 1.2} {
		derivativesAreRight(t, leverage)
	}
}

func derivativesAreRight(t *testing.T, leverage float64) {
	r := rand.New(rand.NewPCG(133, 134))
	const d, n = 3, 300
	p, theta := problem{d: d}, []float64{0.5, -1, 0.7}
	g, h := make([]float64, d), make([]float64, d*(d+1)/2)
	for range n {
		x := []float64{1, 2*r.Float64() - 1, 2*r.Float64() - 1}
		y := float64(r.IntN(2))
		for i := range x {
			x[i] = math.Ldexp(math.RoundToEven(math.Ldexp(x[i], 20)), -20)
		}
		p.units = append(p.units, [][]float64{append(x[:d:d], y)})
		mu, w := 1/(1+math.Exp(-dot(theta, x))), 1.0
		if leverage > 0 {
			w = min(1, leverage/math.Sqrt(dot(x, x)))
		}
		k := 0
		for i := range x {
			g[i] += w * (mu - y) * x[i]
			for j := range i + 1 {
				h[k] += w * mu * (1 - mu) * x[i] * x[j]
				k++
			}
		}
	}
	var limit *big.Rat
	if leverage > 0 {
		limit = ratOf(leverage)
	}
	m, err := NewDerivatives(theta, ratOf(math.Sqrt(d)), ratOf(1), limit, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	gradient, hessian, err := m.Sums(t.Context(), p.rows(t, math.Sqrt(d), 1))
	if err != nil {
		t.Fatal(err)
	}
	check := func(of Summed, got []mechanism.Exact, want []float64) {
		for i, w := range want {
			f, _ := new(big.Float).SetInt(opaque.Open(got[i])).Float64()
			if math.Abs(math.Ldexp(f, of.Grid)-w) > 1e-3 {
				t.Errorf("sum %d: %g, want %g", i, math.Ldexp(f, of.Grid), w)
			}
		}
	}
	check(m.Gradient(), gradient, g)
	check(m.Hessian(), hessian, h)
	if at0, err := NewDerivatives(make([]float64, d), ratOf(math.Sqrt(d)), ratOf(1), nil, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}); err != nil ||
		math.Abs(math.Ldexp(float64(at0.Gradient().LInf.Int64()), at0.Gradient().Grid)-0.5) > 1e-5 {
		t.Errorf("at θ = 0 one row moves a coordinate by at most ½: %v, %v", at0.Gradient().LInf, err)
	}
}

func TestDerivativesRefuse(t *testing.T) {
	u := mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	for name, err := range map[string]error{
		"no θ":        errorOf(NewDerivatives(nil, ratOf(1), ratOf(1), nil, u)),
		"NaN":         errorOf(NewDerivatives([]float64{math.NaN()}, ratOf(1), ratOf(1), nil, u)),
		"infinite":    errorOf(NewDerivatives([]float64{math.Inf(1)}, ratOf(1), ratOf(1), nil, u)),
		"too large":   errorOf(NewDerivatives([]float64{1e7}, ratOf(1), ratOf(1), nil, u)),
		"too many":    errorOf(NewDerivatives(make([]float64, maxMinimised+1), ratOf(1), ratOf(1), nil, u)),
		"no bound":    errorOf(NewDerivatives([]float64{0}, nil, ratOf(1), nil, u)),
		"bound 0":     errorOf(NewDerivatives([]float64{0}, ratOf(1), new(big.Rat), nil, u)),
		"bound 2^70":  errorOf(NewDerivatives([]float64{0}, ratOf(0x1p70), ratOf(1), nil, u)),
		"leverage 0":  errorOf(NewDerivatives([]float64{0}, ratOf(1), ratOf(1), new(big.Rat), u)),
		"no relation": errorOf(NewDerivatives([]float64{0}, ratOf(1), ratOf(1), nil, mechanism.Unit{MaxRows: 1, Neighbours: 9})),
	} {
		if !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := NewDerivatives([]float64{0, 0}, ratOf(1), ratOf(1), nil, u)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]struct {
		problem problem
		bound   float64
		most    int64
	}{"another shape": {problem{d: 3}, 1, 1}, "another bound": {problem{d: 2}, 2, 1}, "more rows a unit": {problem{d: 2}, 1, 2}} {
		if _, _, err := m.Sums(t.Context(), p.problem.rows(t, p.bound, p.most)); !errors.Is(err, mechanism.ErrRows) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
