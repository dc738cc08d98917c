package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
	"dither/privacy"
)

// The noise on the diagonal is that of σ², and off it of σ²/2, matrix by matrix, drawn in the order of the entries.
func TestSymmetricGaussianDraws(t *testing.T) {
	m := SymmetricGaussian{Dimension: 3, L2Squared: big.NewInt(50), Rho: mechtest.RhoRatio(t, 1, 2)}
	const matrices = 4000
	x := make([]Exact, 6*matrices)
	for i := range x {
		x[i] = NewExact(big.NewInt(int64(1000 * i)))
	}
	got, err := m.Measure(x)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := got.Noise.(noise.DiscreteGaussian); !ok || d.Sigma2().Cmp(big.NewRat(50, 1)) != 0 {
		t.Errorf("the diagonal's noise is %v", got.Noise)
	}
	if d, ok := got.OffDiagonal.(noise.DiscreteGaussian); !ok || d.Sigma2().Cmp(big.NewRat(25, 1)) != 0 {
		t.Errorf("the noise off the diagonal is %v", got.OffDiagonal)
	}
	if r, _ := got.Loss.ZCDP(); r.Cmp(m.Rho) != 0 {
		t.Errorf("it costs %s", got.Loss)
	}
	squares := map[bool]float64{}
	for i, v := range got.Values {
		z := float64(new(big.Int).Sub(v, big.NewInt(int64(1000*i))).Int64())
		squares[i%6 == 0 || i%6 == 3 || i%6 == 5] += z * z
	}
	// Of 12,000 squares of normals of variance s the mean has the deviation s√(2/12000) = .0129 s: within 5.3 of them,
	// but for 1.2e-7 each.
	for diagonal, want := range map[bool]float64{true: 50, false: 25} {
		if mean := squares[diagonal] / (3 * matrices); math.Abs(mean-want) > 5.3*.0130*want {
			t.Errorf("diagonal %t: variance %g, want %g", diagonal, mean, want)
		}
	}
}

// The Rényi divergences between the exact laws at neighbours are at most αρ, and attain it: D_α of two discrete
// Gaussians that are shifted by an integer, summed over the integers that matter, adds up over entries; with doubled
// squares off the diagonal the bound is the same for diagonal differences, for others and for mixtures.
func TestSymmetricGaussianRenyi(t *testing.T) {
	divergence := func(sigma2 float64, shift int, alpha float64) float64 {
		sum, all := 0.0, 0.0
		for z := -400; z <= 400; z++ {
			x := float64(z)
			all += math.Exp(-x * x / (2 * sigma2))
			sum += math.Exp((-alpha*(x-float64(shift))*(x-float64(shift)) - (1-alpha)*x*x) / (2 * sigma2))
		}
		return math.Log(sum/all) / (alpha - 1)
	}
	m := SymmetricGaussian{Dimension: 2, L2Squared: big.NewInt(36), Rho: mechtest.RhoRatio(t, 9, 10)} // σ² = 20
	sigma2, err := Gaussian{L2Squared: m.L2Squared, Rho: m.Rho}.Sigma2()
	if err != nil || sigma2.Cmp(big.NewRat(20, 1)) != 0 {
		t.Fatal(sigma2, err)
	}
	for _, alpha := range []float64{1.01, 1.5, 2, 5, 16} {
		attained := false
		for a := -6; a <= 6; a++ { // the difference ((a, b), (b, c))
			for b := -6; b <= 6; b++ {
				for c := -6; c <= 6; c++ {
					frobenius := a*a + 2*b*b + c*c
					if frobenius > 36 {
						continue
					}
					d := divergence(20, a, alpha) + divergence(10, b, alpha) + divergence(20, c, alpha)
					if most := alpha * .9; d > most*(1+1e-9) {
						t.Fatalf("α = %g: %d %d %d: %g, more than %g", alpha, a, b, c, d, most)
					} else if d > most*(1-1e-6) {
						attained = true
					}
				}
			}
		}
		if !attained {
			t.Errorf("α = %g: nothing comes near the bound", alpha)
		}
	}
}

// A small case by the law of its output: of one entry of each kind, with the planned σ².
func TestSymmetricGaussianLaw(t *testing.T) {
	// σ² = 2, and 1 off the diagonal
	m := SymmetricGaussian{Dimension: 2, L2Squared: big.NewInt(4), Rho: mechtest.RhoRatio(t, 1, 1)}
	counts := [3]map[int64]int{{}, {}, {}}
	source := entropy.System()
	defer source.Wipe()
	const n = 20_000
	got, err := m.measure(source, make([]Exact, 3*n))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Values {
		counts[i%3][v.Int64()]++
	}
	for i, sigma2 := range []float64{2, 1, 2} {
		all := 0.0
		for z := -60.0; z <= 60; z++ {
			all += math.Exp(-z * z / (2 * sigma2))
		}
		var observed []int
		var expected []float64
		rest, left := n, 1.0
		for z := int64(-4); z <= 4; z++ {
			p := math.Exp(-float64(z*z)/(2*sigma2)) / all
			observed, expected = append(observed, counts[i][z]), append(expected, p)
			rest, left = rest-counts[i][z], left-p
		}
		check := stattest.ChiSquared{
			Observed: append(observed, rest), Expected: append(expected, left),
			FalseAlarm: 1e-6,
		}
		if err := check.Check(); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
}

// Bad parameters are refused, whatever the data.
func TestSymmetricGaussianRefuses(t *testing.T) {
	good := SymmetricGaussian{Dimension: 2, L2Squared: big.NewInt(1), Rho: mechtest.RhoRatio(t, 1, 1)}
	for name, c := range map[string]struct {
		change func(*SymmetricGaussian)
		n      int
	}{
		"no dimension":     {func(m *SymmetricGaussian) { m.Dimension = 0 }, 3},
		"a negative one":   {func(m *SymmetricGaussian) { m.Dimension = -3 }, 3},
		"a huge one":       {func(m *SymmetricGaussian) { m.Dimension = math.MaxInt }, 3},
		"no triangle":      {func(*SymmetricGaussian) {}, 4},
		"no sensitivity":   {func(m *SymmetricGaussian) { m.L2Squared = nil }, 3},
		"of zero":          {func(m *SymmetricGaussian) { m.L2Squared = new(big.Int) }, 3},
		"a negative norm":  {func(m *SymmetricGaussian) { m.L2Squared = big.NewInt(-4) }, 3},
		"no price":         {func(m *SymmetricGaussian) { m.Rho = privacy.Rho{} }, 3},
		"none of anything": {func(m *SymmetricGaussian) { *m = SymmetricGaussian{} }, 0},
	} {
		m := good
		c.change(&m)
		if _, err := m.Measure(make([]Exact, c.n)); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := good.Measure(nil); err != nil || len(got.Values) != 0 {
		t.Errorf("no matrices: %v, %v", got.Values, err)
	}
}
