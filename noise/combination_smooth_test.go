package noise

import (
	"math"
	"math/big"
	"testing"
)

// What decays is the characteristic function: Σ P(x)·cos(tx), of masses that are computed otherwise; and of a
// combination the product of its parts'.
func TestDecay(t *testing.T) {
	var all []Distribution
	for _, of := range []*big.Rat{
		big.NewRat(1, 30), big.NewRat(1, 2), big.NewRat(999, 1000), big.NewRat(1, 1),
		big.NewRat(3, 2), big.NewRat(5, 1), big.NewRat(80, 1), big.NewRat(900, 1),
	} {
		all = append(all, gaussianOf(t, of))
		if of.Cmp(big.NewRat(20, 1)) < 0 {
			all = append(all, laplaceOf(t, of))
		}
	}
	direct := func(d Distribution, at float64) float64 {
		sum := d.Mass(new(big.Int))
		for x := int64(1); x <= 600; x++ {
			sum += 2 * d.Mass(big.NewInt(x)) * math.Cos(at*float64(x))
		}
		return sum
	}
	for _, d := range all {
		decay := decayOf(d)
		for _, at := range []float64{1e-9, 0.003, 0.1, 0.7, 1, 2, 3, math.Pi, 3.2, 6, 2 * math.Pi, 9, 40, 1000.5} {
			if got, want := math.Exp(-decay(at)), direct(d, at); math.Abs(got-want) > 1e-11 {
				t.Errorf("%T of standard deviation %g at %g: %g, want %g", d, d.StdDev(), at, got, want)
			}
			if decay(at) < 0 || math.IsNaN(decay(at)) {
				t.Errorf("%T of standard deviation %g at %g: %g", d, d.StdDev(), at, decay(at))
			}
		}
	}
	c := combine([]part{{0.3, all[1], 4}, {1, all[4], 2}, {0.01, all[len(all)-1], 30}})
	decay := c.decay()
	for _, at := range []float64{0.01, 0.5, 2, 7, 30} {
		want := 1.0
		for _, p := range c.terms {
			want *= math.Pow(direct(p.noise, p.coefficient*at), p.times)
		}
		if got := math.Exp(-decay(at)); math.Abs(got-want) > 1e-11 {
			t.Errorf("a combination at %g: %g, want %g", at, got, want)
		}
	}
}
