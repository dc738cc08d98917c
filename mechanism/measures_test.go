package mechanism

import (
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// measuresFalseAlarm is the rate of each check of the two tests here: below 1e-6 of all together.
const measuresFalseAlarm = 1e-8

const measureDraws = 4000

// drawnBy is what a mechanism added in many measurements, and the noise that it declared.
type drawnBy func(t *testing.T) ([]*big.Int, noise.Distribution)

// once measures a vector of zeros.
func once(measure func([]Exact) (Measurement, error)) drawnBy {
	return func(t *testing.T) ([]*big.Int, noise.Distribution) {
		m := made(measure(make([]Exact, measureDraws)))(t)
		return m.Values, m.Noise
	}
}

// again measures one number again and again.
func again[M any](measure func() (M, error), read func(M) (*big.Int, noise.Distribution)) drawnBy {
	return func(t *testing.T) (out []*big.Int, dist noise.Distribution) {
		for range measureDraws {
			v, d := read(made(measure())(t))
			out, dist = append(out, v), d
		}
		return out, dist
	}
}

// made is a value that no error comes with.
func made[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Each public method that adds noise adds the noise that it declares: of the distribution, and with the parameter, that its
// definition has, which is typed here.
func TestMeasuresDrawWhatTheyDeclare(t *testing.T) {
	half, two, half2, delta := epsilonOf(t, "0.5"), epsilonOf(t, "2"), rhoOf(t, "0.5"), deltaOf(t, "0.01")
	three, nine := big.NewInt(3), big.NewInt(9)
	laplace := func(scale int64) noise.Distribution { return made(noise.NewDiscreteLaplace(big.NewRat(scale, 1)))(t) }
	gaussian := func(sigma2 int64) noise.Distribution {
		return made(noise.NewDiscreteGaussian(big.NewRat(sigma2, 1)))(t)
	}
	low, high := 0.1, 100.0 // the least σ by bisection of Balle and Wang's curve
	for range 60 {
		if middle := (low + high) / 2; continuousDelta(3, middle, 2) > 0.01 {
			low = middle
		} else {
			high = middle
		}
	}
	rounded := made(noise.NewRoundedGaussian(new(big.Rat).SetFloat64(high * high)))(t)

	staircase := func(squared bool) drawnBy {
		m := Staircase{Sensitivity: big.NewInt(20), Epsilon: two, Squared: squared}
		return again(func() (Measurement, error) { return m.Measure(make([]Exact, 1)) }, func(out Measurement) (*big.Int, noise.Distribution) {
			return out.Values[0], out.Noise
		})
	}
	stairs := func(best func(*big.Int, *big.Rat) (*big.Int, error)) noise.Distribution {
		length, e := big.NewInt(20), big.NewRat(2, 1)
		return made(noise.NewStaircase(length, made(best(length, e))(t), e))(t)
	}
	const far = 1 << 20 // above every threshold
	thresholded := func(measure func([]Partition) (ThresholdRelease, error)) drawnBy {
		x := []Partition{NewPartition("key", ints(far)[0])}
		return again(func() (ThresholdRelease, error) { return measure(x) }, func(out ThresholdRelease) (*big.Int, noise.Distribution) {
			return new(big.Int).Sub(out.Kept[0].Value, big.NewInt(far)), out.Noise
		})
	}
	counted := func(begin func() (*Counter, error)) drawnBy { // the first sum
		return again(func() (*big.Int, error) {
			c, err := begin()
			if err != nil {
				return nil, err
			}
			return c.Next(Exact{})
		}, func(v *big.Int) (*big.Int, noise.Distribution) { return v, nil })
	}
	at, tree := Threshold{MaxPerCell: big.NewInt(1), Keys: 3, Delta: delta}, CountingTree{Steps: 5, Sensitivity: big.NewInt(2)}
	for name, s := range map[string]struct {
		by   drawnBy
		want noise.Distribution
	}{
		"Laplace":            {once(Laplace{Sensitivity: three, Epsilon: half}.Measure), laplace(6)}, // Δ/ε
		"Gaussian":           {once(Gaussian{L2Squared: nine, Rho: half2}.Measure), gaussian(9)},     // Δ₂²/(2ρ)
		"AnalyticGaussian":   {once(analytic(t, 9, "2", "0.01").Measure), rounded},
		"ThresholdLaplace":   {thresholded(ThresholdLaplace{Laplace{Sensitivity: three, Epsilon: half}, at}.Measure), laplace(6)},
		"ThresholdGaussian":  {thresholded(ThresholdGaussian{Gaussian{L2Squared: nine, Rho: half2}, at}.Measure), gaussian(9)},
		"Staircase":          {staircase(false), stairs(noise.AbsoluteStep)},
		"Staircase, squared": {staircase(true), stairs(noise.SquaredStep)},
		"CountingTree":       {counted(func() (*Counter, error) { return tree.Laplace(half) }), laplace(12)},    // LΔ/ε, L = 3
		"CountingTree, ρ":    {counted(func() (*Counter, error) { return tree.Gaussian(half2) }), gaussian(12)}, // LΔ²/(2ρ)
		// One step's noise is the rounding of a variable that is nearly normal, of σ² = Δ²/(2ρ): its units are 2⁻³⁰.
		"CountingFactorization": {counted(CountingFactorization{Steps: 1, Sensitivity: three, Rho: half2}.Begin), made(noise.NewRoundedGaussian(big.NewRat(9, 1)))(t)},
	} {
		drawn, declared := s.by(t)
		if err := follows(drawn, s.want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if declared == nil {
			continue
		}
		if a, b := declared.StdDev(), s.want.StdDev(); a < b*(1-1e-9) || a > b*(1+1e-9) {
			t.Errorf("%s declares noise of the standard deviation %g, want %g", name, a, b)
		}
	}
}

// follows is the χ² test of integers against a distribution: each value within reach is a cell, and so is what is beyond on
// either side.
func follows(drawn []*big.Int, want noise.Distribution) error {
	const reach = 200
	observed, expected := make([]int, 2*reach+1), make([]float64, 2*reach+1)
	rest := 1.0
	for x := 1 - reach; x < reach; x++ {
		expected[x+reach] = want.Mass(big.NewInt(int64(x)))
		rest -= expected[x+reach]
	}
	expected[0], expected[2*reach] = max(rest, 0)/2, max(rest, 0)/2
	for _, v := range drawn {
		observed[min(max(v.Int64(), -reach), reach)+reach]++
	}
	return stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: measuresFalseAlarm}.Check()
}

// Tulap's noise is of the distribution that it declares, in cells of a quarter.
func TestTulapDrawsWhatItDeclares(t *testing.T) {
	for _, delta := range []string{"0", "0.01"} {
		m := Tulap{Epsilon: epsilonOf(t, "0.5"), Delta: deltaOf(t, delta)}
		want := made(noise.NewTulap(m.Epsilon.Rat(), m.Delta.Rat()))(t)
		const cells = 80
		observed, expected := make([]int, cells), make([]float64, cells)
		for i := range expected {
			low, high := 0.0, 1.0
			if i > 0 {
				low = want.CDF(float64(i-cells/2) / 4)
			}
			if i < cells-1 {
				high = want.CDF(float64(i+1-cells/2) / 4)
			}
			expected[i] = high - low
		}
		for range measureDraws {
			x, _ := made(m.Measure(Exact{}))(t).Value.Float64()
			observed[min(max(int(4*x+cells/2), 0), cells-1)]++
		}
		if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: measuresFalseAlarm}).Check(); err != nil {
			t.Errorf("at δ = %s: %v", delta, err)
		}
	}
}
