package sample

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
)

// The norm of a vector of k coordinates is the scale times a gamma variable of shape k, and its first coordinate has
// the density that the norm's implies: with one coordinate, a Laplace variable. The false-alarm rate is 1e-9 for each
// check.
func TestRealCube(t *testing.T) {
	scale := big.NewRat(1<<40, 7)
	s, _ := scale.Float64()
	src := entropy.System()
	for k, tail := range map[int]func(x float64) float64{ // P(norm > x·scale)
		1: func(x float64) float64 { return math.Exp(-x) },
		3: func(x float64) float64 { return math.Exp(-x) * (1 + x + x*x/2) },
	} {
		z := make([]*big.Int, k)
		for i := range z {
			z[i] = new(big.Int)
		}
		var norms, signed []float64
		for range 20_000 {
			RealCube(src, scale, z)
			most := 0.0
			for _, x := range z {
				f, _ := new(big.Float).SetInt(x).Float64()
				most = max(most, math.Abs(f))
			}
			f, _ := new(big.Float).SetInt(z[0]).Float64()
			norms, signed = append(norms, most/s), append(signed, f/s)
		}
		if err := (stattest.Kolmogorov{Sample: norms, CDF: func(x float64) float64 { return 1 - tail(x) }, FalseAlarm: 1e-9}).Check(); err != nil {
			t.Errorf("%d coordinates: %v", k, err)
		}
		// given a gamma variable r of shape k + 1, a coordinate is uniform on ±r
		cdf := func(x float64) float64 {
			beyond := math.Exp(-math.Abs(x)) / 2
			if k == 3 { // ∫ over r > x of (1 − x/r)/2·r³e⁻ʳ/6
				a := math.Abs(x)
				beyond = math.Exp(-a) * (a*a*a + 3*a*a + 6*a + 6 - a*(a*a+2*a+2)) / 12
			}
			if x > 0 {
				return 1 - beyond
			}
			return beyond
		}
		if err := (stattest.Kolmogorov{Sample: signed, CDF: cdf, FalseAlarm: 1e-9}).Check(); err != nil {
			t.Errorf("the first of %d coordinates: %v", k, err)
		}
	}
}

// Scales far below and far above 1 give integers, and a scale of 0 panics.
func TestRealCubeScales(t *testing.T) {
	z := []*big.Int{new(big.Int), new(big.Int)}
	src := entropy.System()
	RealCube(src, big.NewRat(1, 1<<60), z)
	if z[0].CmpAbs(bigOne) > 0 || z[1].CmpAbs(bigOne) > 0 { // within 1 of numbers below 1e-15
		t.Errorf("%v at a tiny scale", z)
	}
	RealCube(src, new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, 500)), z)
	if z[0].BitLen() < 400 || z[0].BitLen() > 520 { // with a probability of 1 − 1e-29
		t.Errorf("%d bits at a huge scale", z[0].BitLen())
	}
	defer func() {
		if recover() == nil {
			t.Error("a scale of 0 is accepted")
		}
	}()
	RealCube(src, new(big.Rat), z)
}
