package pld_test

import (
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"dither/internal/pld"
)

// TestExtremeRates: rates next to 1 and next to 0 get an answer, whatever is sampled.
func TestExtremeRates(t *testing.T) {
	get := pair(t)
	for name, p := range map[string]pld.Pair{
		"laplace":            get(pld.Laplace(rat(t, "60"))),
		"strong laplace":     get(pld.Laplace(rat(t, "1e5"))),
		"discrete laplace":   get(pld.DiscreteLaplace(1, rat(t, "1/50"))),
		"response":           get(pld.RandomizedResponse(rat(t, "50"), 5)),
		"strong response":    get(pld.RandomizedResponse(rat(t, "5000"), 2)),
		"discrete gaussian":  get(pld.DiscreteGaussian(rat(t, "1/10000"))),
		"approximate":        get(pld.Approximate(rat(t, "1"), rat(t, "1e-6"))),
		"strong approximate": get(pld.Approximate(rat(t, "1e700"), rat(t, "1e-6"))),
		"bounded range":      get(pld.BoundedRange(rat(t, "60"))),
		"gaussian":           get(pld.Gaussian(rat(t, "3600"))),
		"lost":               get(pld.Approximate(new(big.Rat), rat(t, "1"))),
	} {
		rates := []string{"0.9999999999999999"}
		if os.Getenv("DITHER_LONG") != "" {
			rates = append(rates, "0.99999999999999999999", "1e-199", "1e-201")
		}
		for _, rate := range rates {
			q := rat(t, rate)
			if rate == "1e-199" {
				q.Sub(big.NewRat(1, 1), q)
			}
			c := compose(t, pld.Step{Pair: get(pld.Subsample(p, q)), Count: 2})
			for _, epsilon := range []float64{1, math.Inf(1)} {
				if lower, upper := c.Delta(epsilon); !(0 <= lower && lower <= upper && upper <= 1) {
					t.Errorf("%s at %s: δ(%g) is [%g, %g]", name, rate, epsilon, lower, upper)
				}
			}
			for _, delta := range []float64{0} {
				if lower, upper := c.Epsilon(delta); !(0 <= lower && lower <= upper) {
					t.Errorf("%s at %s: ε(%g) is [%g, %g]", name, rate, delta, lower, upper)
				}
			}
		}
	}
}

// TestHardlySampled: what rarely runs keeps its own greatest loss, and its own rate.
func TestHardlySampled(t *testing.T) {
	get := pair(t)
	weak := get(pld.Subsample(get(pld.Pure(rat(t, "1/10"))), rat(t, "1e-300")))
	strong := get(pld.Subsample(get(pld.Gaussian(rat(t, "1e20"))), rat(t, "1e-250")))
	for _, steps := range [][]pld.Step{
		{{Pair: weak, Count: 1}, {Pair: strong, Count: 1}},
		{{Pair: strong, Count: 1}, {Pair: weak, Count: 1}},
	} {
		// δ(5) is that of the strong one, about 10⁻²⁵⁰.
		if lower, upper := compose(t, steps...).Delta(5); lower > 1e-250 || upper < 1e-250*(1-1e-6) ||
			upper > 1.01e-250 {
			t.Errorf("δ(5) is [%g, %g]", lower, upper)
		}
	}
	never := get(pld.Subsample(get(pld.Gaussian(rat(t, "1"))), new(big.Rat)))
	if _, upper := compose(t, pld.Step{Pair: never, Count: 3}).Epsilon(0); upper != 0 {
		t.Errorf("never: ε(0) ≤ %g", upper)
	}
}

// TestTooManyKinds: what would take minutes or much memory is refused at once.
func TestTooManyKinds(t *testing.T) {
	get := pair(t)
	one := func(n int64, kind func(i int64) pld.Pair) error {
		var steps []pld.Step
		for i := range n {
			steps = append(steps, pld.Step{Pair: kind(i), Count: 1})
		}
		_, err := pld.Compose(steps)
		return err
	}
	sampled := func(i int64) pld.Pair {
		return get(pld.Subsample(get(pld.Gaussian(big.NewRat(1, 1+i))), big.NewRat(1, 100)))
	}
	discrete := func(i int64) pld.Pair { return get(pld.DiscreteGaussian(big.NewRat(1<<24-i, 1))) }
	for name, err := range map[string]error{
		"257 sampled":           one(257, sampled),
		"30 discrete Gaussians": one(30, discrete),
		"2¹⁴ + 1 of ordinary":   one(1<<14+1, func(i int64) pld.Pair { return get(pld.Laplace(big.NewRat(1, 1+i))) }),
	} {
		if !errors.Is(err, pld.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := one(256, func(int64) pld.Pair { return sampled(0) }); err != nil {
		t.Errorf("256 alike: %v", err)
	}
}
