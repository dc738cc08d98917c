package learning

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// The exponential is right to far below what the minimum's tolerance counts on, 2^-47 of itself.
func TestExponentialIsRight(t *testing.T) {
	r := rand.New(rand.NewPCG(113, 114))
	for range 3000 {
		x := (2*r.Float64() - 1) * []float64{1e-3, 1, 30, 700}[r.IntN(4)]
		if e := math.Exp(x); e < exact.ExpDown(x)*(1-0x1p-50) || e > exact.ExpUp(x)*(1+0x1p-50) {
			t.Fatalf("exp(%g) = %g", x, e)
		}
	}
}

// Sums of 128 bits are exact, and the double next to them.
func TestSum128(t *testing.T) {
	r := rand.New(rand.NewPCG(115, 116))
	for range 2000 {
		var s, o sum128
		want := new(big.Int)
		for i := range 1 + r.IntN(20) {
			v := int64(r.Uint64()) >> r.IntN(64)
			if want.Add(want, big.NewInt(v)); i%2 == 0 {
				s.add(v)
			} else {
				o.add(v)
			}
		}
		s.plus(o)
		f, _ := new(big.Float).SetInt(want).Float64()
		if s.integer().Cmp(want) != 0 || math.Abs(s.float()-f) > math.Abs(f)*0x1p-51 {
			t.Fatalf("%s, %g; want %s", s.integer(), s.float(), want)
		}
	}
}

// What one unit adds to the sums of curvature is within their sensitivities, in L1 and in L2; and the sums are those of
// doubles.
func TestCurvatureOfNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(117, 118))
	const bound, most, d = 2.0, 2, 3
	longest := [2]float64{}
	for _, o := range objectives() {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
			m, err := NewMinimiser(o, d, ratOf(bound), mechanism.Unit{Neighbours: relation, MaxRows: most})
			if err != nil {
				t.Fatal(err)
			}
			hessian, products := m.Curvatures()
			for _, p := range kinds(r, d, 20, most) {
				name := p.name
				theta := []float64{5 * r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
				h, c, err := m.Curve(t.Context(), p.rows(t, bound, most), theta)
				if err != nil {
					t.Fatal(err)
				}
				for range 5 {
					h2, c2, err := m.Curve(t.Context(), p.neighbour(r, relation, most).rows(t, bound, most), theta)
					if err != nil {
						t.Fatal(err)
					}
					for i, s := range []struct {
						of   Curvature
						a, b []mechanism.Exact
					}{{hessian, h, h2}, {products, c, c2}} {
						l1, l2 := new(big.Int), new(big.Int)
						for k := range s.a {
							x := new(big.Int).Sub(opaque.Open(s.a[k]), opaque.Open(s.b[k]))
							l1.Add(l1, new(big.Int).Abs(x))
							l2.Add(l2, x.Mul(x, x))
						}
						if l1.Cmp(s.of.L1) > 0 || l2.Cmp(s.of.L2Squared) > 0 {
							t.Errorf("%s, %s: L1 %s of %s, squared L2 %s of %s",
								o.Loss, name, l1, s.of.L1, l2, s.of.L2Squared)
						}
						f, _ := new(big.Rat).SetFrac(l2, s.of.L2Squared).Float64()
						longest[i] = max(longest[i], f)
					}
				}
			}
		}
	}
	if longest[0] < 0.4 || longest[1] < 0.4 {
		t.Errorf("of the squared sensitivities %v were seen: the test shows little", longest)
	}
	t.Log("of the squared sensitivities, the most seen:", longest)
}
