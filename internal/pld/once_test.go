package pld

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// TestOneUseIsTight compares the bounds of one use with closed forms. Where nearly all mass has the largest loss, a
// lattice gave lower bounds of 0.
func TestOneUseIsTight(t *testing.T) {
	rat := func(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }
	const delta = 1e-6
	// P of the largest loss e is top, and Q is top·e^(−e). Above the second largest loss, δ(ε) = top·(1 − e^(ε−e)).
	near := func(e, top float64) float64 { return e + math.Log1p(-delta/top) }
	for _, c := range []struct {
		pair func() (Pair, error)
		want float64
	}{
		{func() (Pair, error) { return RandomizedResponse(rat("0.3121"), 3) }, near(0.3121, math.Exp(0.3121)/(math.Exp(0.3121)+2))},
		{func() (Pair, error) { return RandomizedResponse(rat("8"), 1000) }, near(8, math.Exp(8)/(math.Exp(8)+999))},
		{func() (Pair, error) { return DiscreteLaplace(1, rat("0.01")) }, near(100, 1)},
		{func() (Pair, error) { return DiscreteLaplace(1, rat("0.00001")) }, near(1e5, 1)},
		{func() (Pair, error) { return DiscreteLaplace(7, rat("20")) }, near(0.35, 1/(1+math.Exp(-0.05)))},
	} {
		pair, err := c.pair()
		if err != nil {
			t.Fatal(err)
		}
		composed, err := Compose([]Step{{pair, 1}})
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := composed.Epsilon(delta)
		if !(lower <= c.want*(1+1e-12) && c.want*(1-1e-12) <= upper && upper-lower <= 1e-8*upper) {
			t.Errorf("%s: ε from %v to %v, not around %v", pair.key, lower, upper, c.want)
		}
		if low, high := composed.Delta(c.want / 2); !(low <= high && high-low <= 1e-9 && low > 0) {
			t.Errorf("%s: δ(%v) from %v to %v", pair.key, c.want/2, low, high)
		}
	}
}

// TestOneUseAgreesWithTwo holds the curve of one use between those of the lattice, which two uses need: a use together
// with one that loses nothing has the same curve.
func TestOneUseAgreesWithTwo(t *testing.T) {
	laplace, _ := DiscreteLaplace(3, big.NewRat(2, 1))
	gaussian, _ := DiscreteGaussian(big.NewRat(4, 1))
	response, _ := RandomizedResponse(big.NewRat(2, 1), 5)
	idle, _ := Approximate(new(big.Rat), new(big.Rat))
	for _, pair := range []Pair{laplace, gaussian, response} {
		sampled, err := Subsample(pair, big.NewRat(1, 3))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Pair{pair, sampled} {
			alone, err := Compose([]Step{{p, 1}})
			if err != nil || alone.once == nil {
				t.Fatalf("%s: %v", p.key, err)
			}
			beside, err := Compose([]Step{{p, 1}, {idle, 1}})
			if err != nil || beside.once != nil {
				t.Fatalf("%s: %v", p.key, err)
			}
			for _, epsilon := range []float64{0, 0.1, 0.5, 1, 1.9} {
				t.Run(fmt.Sprint(p.key, " at ", epsilon), func(t *testing.T) {
					low, high := alone.Delta(epsilon)
					under, over := beside.Delta(epsilon)
					if !(low <= over && under <= high && high-low <= over-under+1e-12) {
						t.Errorf("alone from %v to %v, on the lattice from %v to %v", low, high, under, over)
					}
				})
			}
		}
	}
}
