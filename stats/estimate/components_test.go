package estimate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// Without noise the components are those of the correlations, as numpy.linalg.eigh has them.
func TestComponentsOfKnownCorrelations(t *testing.T) {
	c := components([][]float64{{4, 1.2, 0.2}, {1.2, 1, 0.3}, {0.2, 0.3, 9}})
	want := principal{
		[]float64{0.53816941, 0.32973939, 0.13209119},
		[][]float64{{0.694694, 0.70304253, 0.15209026}, {-0.16327252, -0.0518005, 0.98522017}, {-0.70053003, 0.70925871, -0.07880203}},
	}
	for k := range want.share {
		sign := math.Copysign(1, dot(c.loading[k], want.loading[k]))
		if math.Abs(c.share[k]-want.share[k]) > 1e-6 {
			t.Errorf("component %d: share %v, not %v", k+1, c.share[k], want.share[k])
		}
		for i, x := range want.loading[k] {
			if math.Abs(sign*c.loading[k][i]-x) > 1e-6 {
				t.Errorf("component %d: loadings %v, not %v", k+1, c.loading[k], want.loading[k])
			}
		}
	}
	for _, bad := range [][][]float64{{{1, 0}, {0, 0}}, {{-1, 0}, {0, 1}}, {{1, math.NaN()}, {math.NaN(), 1}}, {{1, math.Inf(1)}, {math.Inf(1), 1}}} {
		if got := components(bad); got != nil {
			t.Errorf("%v: %+v", bad, got)
		}
	}
}

// Intervals of shares and of loadings contain those of the rows, and with Population those of the population, for 500
// to
// 20,000 rows of a normal distribution whose components differ clearly, with as much noise as ρ = .002 to 5 has.
func TestComponentsCover(t *testing.T) {
	long := os.Getenv("DITHER_LONG") != ""
	trials := 12
	if long {
		trials = 150
	}
	r := rand.New(rand.NewPCG(44, 1))
	l := [][]float64{{.3}, {.2, .2}, {.05, .1, .25}}
	truth := components([][]float64{{.09, .06, .015}, {.06, .08, .03}, {.015, .03, .075}})
	s := Sample{Columns: []string{"a", "b", "c"}}
	forms := plainForms(make([]float64, 3), []float64{1, 1, 1})
	sim := newSimulator()
	var shares, loadings [2]statstest.Covers
	for _, c := range []struct {
		n   int
		rho float64
	}{{500, 5}, {2000, .1}, {20_000, .002}} {
		for range trials {
			rows := gaussianRows(r, c.n, make([]float64, 3), l)
			sums, err := pressing(sim, rows, c.rho, []float64{1}, true)(0, forms, 1.5)
			if err != nil {
				t.Fatal(err)
			}
			p := &pressed{sums: sums, forms: forms}
			exact := components(rowCovariances(rows))
			for population := range 2 {
				s.Population = population == 1
				of := exact
				if s.Population {
					of = truth
				}
				values, note := componentValues(p, s, nil, nil, .05, func(int) bool { return true })
				if note != "" {
					t.Fatal(note)
				}
				for k := range 3 {
					cover(&shares[population], values[4*k], of.share[k])
					for i := range 3 {
						sign := math.Copysign(1, dot(of.loading[k], truth.loading[k]))
						cover(&loadings[population], values[4*k+1+i], sign*of.loading[k][i])
					}
				}
			}
		}
		if what := fmt.Sprintf("n = %d, ρ = %g", c.n, c.rho); long {
			for population := range 2 {
				shares[population].Check(t, fmt.Sprintf("%s, population %d, shares", what, population))
				loadings[population].Check(t, fmt.Sprintf("%s, population %d, loadings", what, population))
			}
			shares, loadings = [2]statstest.Covers{}, [2]statstest.Covers{}
		}
	}
	if !long {
		for population := range 2 {
			shares[population].Check(t, fmt.Sprintf("population %d, shares", population))
			loadings[population].Check(t, fmt.Sprintf("population %d, loadings", population))
		}
	}
}

func rowCovariances(rows [][]float64) [][]float64 {
	d, n := len(rows[0]), float64(len(rows))
	mean, out := make([]float64, d), pressZero(d)
	for _, r := range rows {
		for i, x := range r {
			mean[i] += x / n
		}
	}
	for _, r := range rows {
		for i := range d {
			for j := range d {
				out[i][j] += (r[i] - mean[i]) * (r[j] - mean[j]) / (n - 1)
			}
		}
	}
	return out
}

// What has no components is refused before anything is paid, and a count that is too small has none.
func TestDifficultComponents(t *testing.T) {
	for _, columns := range [][]string{nil, {"a"}, make([]string, 21)} {
		if _, err := PlanComponents(context.Background(), nil, Sample{Table: "t", Columns: columns}); err == nil {
			t.Errorf("%d columns: no error", len(columns))
		}
	}
	if _, err := PlanComponents(context.Background(), nil, Sample{
		Request: curator.Request{}, Table: "t", Columns: []string{"a", "b"}, Method: MethodCoinPress,
	}); err == nil {
		t.Error("coinpress is not refused")
	}
	p := &pressed{sums: &pressSums{count: 1, first: [][]float64{{0, 0}}, products: [][][]float64{pressZero(2)}}}
	p.sums.law = vectorLaw{first: make([]noiseLaw, 1), products: make([]noiseLaw, 1), off: make([]noiseLaw, 1)}
	p.forms = plainForms([]float64{0, 0}, []float64{1, 1})
	values, note := componentValues(p, Sample{Columns: []string{"a", "b"}}, nil, nil, .05, func(int) bool { return true })
	if note == "" || values[0].Value != nil {
		t.Errorf("%q, %+v", note, values[0])
	}
}
