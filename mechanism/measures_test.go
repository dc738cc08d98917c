package mechanism_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/analytic"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/partition"
	"dither/mechanism/stream"
	"dither/noise"
)

// measuresFalseAlarm is the rate of each check of the two tests here: below 1e-6 of all together.
const measuresFalseAlarm = 1e-8

const measureDraws = 4000

// drawnBy is what a mechanism added in many measurements, and the noise that it declared.
type drawnBy func(t *testing.T) ([]*big.Int, noise.Distribution)

// once measures a vector of zeros.
func once(measure func([]mechanism.Exact) (mechanism.Measurement, error)) drawnBy {
	return func(t *testing.T) ([]*big.Int, noise.Distribution) {
		m := made(measure(make([]mechanism.Exact, measureDraws)))(t)
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

// Each public method that adds noise adds the noise that it declares: of the distribution, and with the parameter, that
// its definition has, which is typed here.
func TestMeasuresDrawWhatTheyDeclare(t *testing.T) {
	half, two, half2, delta := mechtest.Epsilon(t, "0.5"), mechtest.Epsilon(t, "2"), mechtest.Rho(t, "0.5"),
		mechtest.Delta(t, "0.01")
	three, nine := big.NewInt(3), big.NewInt(9)
	laplace := func(scale int64) noise.Distribution { return made(noise.NewDiscreteLaplace(big.NewRat(scale, 1)))(t) }
	gaussian := func(sigma2 int64) noise.Distribution {
		return made(noise.NewDiscreteGaussian(big.NewRat(sigma2, 1)))(t)
	}
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	curve := func(sigma float64) float64 { // Balle and Wang's, of a sensitivity of 3 and ε = 2
		return phi(3/(2*sigma)-2*sigma/3) - math.Exp(2)*phi(-3/(2*sigma)-2*sigma/3)
	}
	low, high := 0.1, 100.0 // the least σ by bisection of that curve
	for range 60 {
		if middle := (low + high) / 2; curve(middle) > 0.01 {
			low = middle
		} else {
			high = middle
		}
	}
	rounded := made(noise.NewRoundedGaussian(new(big.Rat).SetFloat64(high * high)))(t)

	staircase := func(squared bool) drawnBy {
		m := mechanism.Staircase{Sensitivity: big.NewInt(20), Epsilon: two, Squared: squared}
		return again(func() (mechanism.Measurement, error) { return m.Measure(make([]mechanism.Exact, 1)) },
			func(out mechanism.Measurement) (*big.Int, noise.Distribution) {
				return out.Values[0], out.Noise
			})
	}
	stairs := func(best func(*big.Int, *big.Rat) (*big.Int, error)) noise.Distribution {
		length, e := big.NewInt(20), big.NewRat(2, 1)
		return made(noise.NewStaircase(length, made(best(length, e))(t), e))(t)
	}
	const far = 1 << 20 // above every threshold
	thresholded := func(measure func([]mechanism.Partition) (partition.ThresholdRelease, error)) drawnBy {
		x := []mechanism.Partition{mechanism.NewPartition("key", mechtest.Exacts(far)[0])}
		return again(func() (partition.ThresholdRelease, error) { return measure(x) },
			func(out partition.ThresholdRelease) (*big.Int, noise.Distribution) {
				return new(big.Int).Sub(out.Kept[0].Value, big.NewInt(far)), out.Noise
			})
	}
	counted := func(begin func() (*stream.Counter, error)) drawnBy { // the first sum
		return again(func() (*big.Int, error) {
			c, err := begin()
			if err != nil {
				return nil, err
			}
			return c.Next(mechanism.Exact{})
		}, func(v *big.Int) (*big.Int, noise.Distribution) { return v, nil })
	}
	at, tree := partition.Threshold{MaxPerCell: big.NewInt(1), Keys: 3, Delta: delta},
		stream.CountingTree{Steps: 5, Sensitivity: big.NewInt(2)}
	for name, s := range map[string]struct {
		by   drawnBy
		want noise.Distribution
	}{
		"Laplace": {once(mechanism.Laplace{Sensitivity: three, Epsilon: half}.Measure), laplace(6)}, // Δ/ε
		// Δ₂²/(2ρ)
		"Gaussian":          {once(mechanism.Gaussian{L2Squared: nine, Rho: half2}.Measure), gaussian(9)},
		"analytic.Gaussian": {once(made(analytic.NewGaussian(nine, two, delta))(t).Measure), rounded},
		"ThresholdLaplace": {thresholded(partition.ThresholdLaplace{Laplace: mechanism.Laplace{
			Sensitivity: three,
			Epsilon:     half,
		}, Threshold: at}.Measure), laplace(6)},
		"ThresholdGaussian": {thresholded(partition.ThresholdGaussian{Gaussian: mechanism.Gaussian{
			L2Squared: nine,
			Rho:       half2,
		}, Threshold: at}.Measure), gaussian(9)},
		"Staircase":          {staircase(false), stairs(noise.AbsoluteStep)},
		"Staircase, squared": {staircase(true), stairs(noise.SquaredStep)},
		// LΔ/ε, L = 3
		"CountingTree": {counted(func() (*stream.Counter, error) { return tree.Laplace(half) }), laplace(12)},
		// LΔ²/(2ρ)
		"CountingTree, ρ": {counted(func() (*stream.Counter, error) { return tree.Gaussian(half2) }), gaussian(12)},
		// One step's noise is the rounding of a variable that is nearly normal, of σ² = Δ²/(2ρ): its units are
		// 2⁻³⁰.
		"CountingFactorization": {
			counted(stream.CountingFactorization{Steps: 1, Sensitivity: three, Rho: half2}.Begin),
			made(noise.NewRoundedGaussian(big.NewRat(9, 1)))(t),
		},
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

// follows is the χ² test of integers against a distribution: each value within reach is a cell, and so is what is
// beyond on either side.
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
		m := mechanism.Tulap{Epsilon: mechtest.Epsilon(t, "0.5"), Delta: mechtest.Delta(t, delta)}
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
			x, _ := made(m.Measure(mechanism.Exact{}))(t).Value.Float64()
			observed[min(max(int(4*x+cells/2), 0), cells-1)]++
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: measuresFalseAlarm,
		}).Check(); err != nil {
			t.Errorf("at δ = %s: %v", delta, err)
		}
	}
}
