package quantile

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// lawful is a mechanism whose outputs' probabilities are known.
type lawful interface {
	masses(t testing.TB, data []int64) map[string]float64
	release(src *entropy.Source, data mechanism.Ordered) (OrderStatistics, error)
	BoundedRange() privacy.Loss
}

// masses is the distribution of the outputs, by enumeration: the product of those of the draws, sorted.
func (m Independent) masses(t testing.TB, data []int64) map[string]float64 {
	t.Helper()
	target, err := m.check()
	if err != nil {
		t.Fatal(err)
	}
	laws := m.stage(target).laws(t, data)
	out := map[string]float64{}
	var choose func(values []int64, mass float64)
	choose = func(values []int64, mass float64) {
		if len(values) == len(laws) {
			out[fmt.Sprint(slices.Sorted(slices.Values(values)))] += mass
			return
		}
		for j, p := range laws[len(values)] {
			choose(append(values[:len(values):len(values)], m.Lower+int64(j)), mass*p)
		}
	}
	choose(nil, 1)
	return out
}

// renyi is D_α(p ‖ q), without cancellation where α is near 1 or p near q.
func renyi(alpha float64, p, q map[string]float64) float64 {
	sum := 0.0
	for out, x := range p {
		sum += x * math.Expm1((alpha-1)*math.Log(x/q[out]))
	}
	return math.Log1p(sum) / (alpha - 1)
}

// TestQuantilesArePrivate compares the distributions of the outputs on small domains for all datasets of few rows and
// all their neighbours: no probability differs by more than ε, and no Rényi divergence is above αρ for the ρ of
// BoundedRange.
func TestQuantilesArePrivate(t *testing.T) {
	half, three := []*big.Rat{big.NewRat(1, 2)}, []*big.Rat{big.NewRat(1, 5), big.NewRat(1, 2), big.NewRat(9, 10)}
	// the parts have one cut and two
	four := []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 5), big.NewRat(1, 2), big.NewRat(9, 10)}
	for _, c := range []struct {
		unit mechanism.Unit
		rows int // of the smaller data sets
	}{
		{mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 5},
		{mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 2}, 4},
		{mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1}, 5},
		{mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 2}, 3},
	} {
		for _, text := range []string{"1/2", "4"} {
			e := mechtest.Epsilon(t, text)
			limit, _ := e.Rat().Float64()
			for name, m := range map[string]lawful{
				"median":             Independent{Domain{0, 2}, c.unit, half, e},
				"least":              Independent{Domain{0, 2}, c.unit, []*big.Rat{new(big.Rat)}, e},
				"nine tenths":        Independent{Domain{0, 2}, c.unit, three[2:], e},
				"three, independent": Independent{Domain{0, 2}, c.unit, three, e},
				"one by recursion":   Approximate{Domain{0, 2}, c.unit, half, e, false},
				"three by recursion": Approximate{Domain{0, 2}, c.unit, three, e, false},
				"three, for squares": Approximate{Domain{0, 2}, c.unit, three, e, true},
				"four, unevenly":     Approximate{Domain{0, 2}, c.unit, four, e, len(text) > 1},
			} {
				loss, delta := m.BoundedRange().ZCDP()
				rho, _ := loss.Rat().Float64()
				if !delta.IsZero() || rho > limit*limit/8 {
					t.Fatalf("%s: the loss is %s", name, m.BoundedRange())
				}
				known := map[string]map[string]float64{}
				masses := func(data []int64) map[string]float64 {
					key := fmt.Sprint(data)
					if known[key] == nil {
						known[key] = m.masses(t, data)
					}
					return known[key]
				}
				worst, worstRenyi := 0.0, 0.0 // the second as a share of αρ
				for _, data := range mechtest.Multisets(3, c.rows) {
					p := masses(data)
					for _, other := range neighboursOf(data, 3, c.unit) {
						q := masses(other)
						for out := range p {
							worst = max(worst, math.Abs(math.Log(p[out]/q[out])))
						}
						for _, alpha := range []float64{1.0001, 1.1, 2, 5, 16, 64} {
							worstRenyi = max(worstRenyi, renyi(alpha, p, q)/(alpha*rho), renyi(alpha, q, p)/(alpha*rho))
						}
					}
				}
				if worst > limit+1e-9 || worstRenyi > 1+1e-9 {
					t.Errorf("%s at ε = %s under %v: a loss of %g, and %g of αρ", name, text, c.unit, worst, worstRenyi)
				}
				t.Logf("%v, ε = %s, %-19s the largest loss is %.4f, the largest Rényi divergence %.4f·αρ", c.unit, text,
					name+":", worst, worstRenyi)
			}
		}
	}
}

// TestTreesOfRanksArePrivate is the same for two to five random ranks, whose trees of cuts are of all forms and shares:
// three levels among them, and ends of the domain.
func TestTreesOfRanksArePrivate(t *testing.T) {
	r, worst, worstRenyi := rand.New(rand.NewPCG(19, 20)), 0.0, 0.0
	units := append(slices.Clone(relations), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 2},
		mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 2})
	for trial := range 24 {
		den, chosen := int64(10), map[int64]bool{}
		if trial%3 == 0 {
			den = 100
		}
		for len(chosen) < 2+trial%4 {
			chosen[r.Int64N(den+1)] = true
		}
		text := []string{"1/2", "2", "8"}[r.IntN(3)]
		m := Approximate{Domain{0, 2}, units[r.IntN(len(units))], nil, mechtest.Epsilon(t, text), r.IntN(2) == 0}
		for _, at := range slices.Sorted(maps.Keys(chosen)) {
			m.Ranks = append(m.Ranks, big.NewRat(at, den))
		}
		limit, _ := m.Epsilon.Rat().Float64()
		loss, _ := m.BoundedRange().ZCDP()
		rho, _ := loss.Rat().Float64()
		known := map[string]map[string]float64{}
		masses := func(data []int64) map[string]float64 {
			key := fmt.Sprint(data)
			if known[key] == nil {
				known[key] = m.masses(t, data)
			}
			return known[key]
		}
		for _, data := range mechtest.Multisets(3, 3) {
			p := masses(data)
			for _, other := range neighboursOf(data, 3, m.Unit) {
				q := masses(other)
				for out := range p {
					loss := math.Abs(math.Log(p[out] / q[out]))
					if worst = max(worst, loss/limit); loss > limit+1e-9 {
						t.Fatalf("%v at ε = %s under %v, squares %v: a loss of %g between %v and %v", m.Ranks, text,
							m.Unit, m.Squares, loss, data, other)
					}
				}
				for _, alpha := range []float64{1.0001, 2, 16} {
					share := renyi(alpha, p, q) / (alpha * rho)
					if worstRenyi = max(worstRenyi, share); share > 1+1e-9 {
						t.Fatalf("%v at ε = %s under %v, squares %v: a Rényi divergence of %g·αρ between %v and %v",
							m.Ranks, text, m.Unit, m.Squares, share, data, other)
					}
				}
			}
		}
	}
	t.Logf("the largest loss is %.3f of ε, the largest Rényi divergence %.3f·αρ", worst, worstRenyi)
}
