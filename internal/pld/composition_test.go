package pld_test

import (
	"errors"
	"math"
	"math/big"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/internal/pld"
)

// oneOf holds for about one of n draws, and for all where tests may be long: an honest case takes a second under the
// race detector.
func oneOf(t *rapid.T, n int) bool {
	return os.Getenv("DITHER_LONG") != "" || rapid.IntRange(1, n).Draw(t, "part") == n
}

// TestMetamorphic: n steps are n single ones; the upper bound falls in ε; lower is never above upper; more noise or a
// lower sampling rate is never proved to be worse.
func TestMetamorphic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if !oneOf(t, 40) {
			return
		}
		must := func(p pld.Pair, err error) pld.Pair {
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		delta := func(epsilon float64, steps ...pld.Step) (lower, upper float64) {
			c, err := pld.Compose(steps)
			if err != nil {
				t.Fatal(err)
			}
			lower, upper = c.Delta(epsilon)
			if !(0 <= lower && lower <= upper && upper <= 1) {
				t.Fatalf("[%g, %g]", lower, upper)
			}
			return lower, upper
		}
		ratio := big.NewRat(rapid.Int64Range(1, 2000).Draw(t, "ratio"), 1000)
		rate := big.NewRat(rapid.Int64Range(1, 99).Draw(t, "rate"), 100)
		twice := new(big.Rat).Mul(ratio, big.NewRat(5, 4))
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		make := func(ratio, rate *big.Rat) pld.Pair {
			switch kind {
			case 0:
				return must(pld.Subsample(must(pld.Laplace(ratio)), rate))
			case 1:
				return must(pld.Subsample(must(pld.Gaussian(ratio)), rate))
			}
			return must(pld.Laplace(ratio))
		}
		p, other := make(ratio, rate), must(pld.Pure(big.NewRat(1, 10)))
		n := rapid.Int64Range(1, 12).Draw(t, "n")
		epsilon := rapid.Float64Range(0, 5).Draw(t, "ε")
		lower, upper := delta(epsilon, pld.Step{Pair: p, Count: n}, pld.Step{Pair: other, Count: 1})
		steps := []pld.Step{{Pair: other, Count: 1}}
		for range n {
			steps = append(steps, pld.Step{Pair: p, Count: 1})
		}
		if l, u := delta(epsilon, steps...); l > upper || lower > u {
			t.Fatalf("%d at once: [%g, %g], one by one: [%g, %g]", n, lower, upper, l, u)
		}
		if l, _ := delta(epsilon+0.1, pld.Step{Pair: p, Count: n}, pld.Step{Pair: other, Count: 1}); l > upper {
			t.Fatalf("δ rose in ε to %g from %g", l, upper)
		}
		if _, u := delta(epsilon, pld.Step{Pair: make(twice, rate), Count: n},
			pld.Step{Pair: other, Count: 1}); u < lower {
			t.Fatalf("less noise: δ fell to %g from %g", u, lower)
		}
		if _, u := delta(epsilon, pld.Step{Pair: make(ratio, big.NewRat(1, 1)), Count: n},
			pld.Step{Pair: other, Count: 1}); u < lower {
			t.Fatalf("no sampling: δ fell to %g from %g", u, lower)
		}
		if _, u := delta(epsilon, pld.Step{Pair: p, Count: n + 1}, pld.Step{Pair: other, Count: 1}); u < lower {
			t.Fatalf("one more: δ fell to %g from %g", u, lower)
		}
	})
}

// TestExtremes asks for an answer, and a quick one, to whatever is asked.
func TestExtremes(t *testing.T) {
	get := pair(t)
	numbers := []string{"1e-600", "1e-6", "1e3", "1e600"}
	if os.Getenv("DITHER_LONG") != "" {
		numbers = append(numbers, "1e-30", "1e-3", "1", "30", "1e12", "1e15")
	}
	check := func(name string, steps ...pld.Step) {
		start := time.Now()
		c := compose(t, steps...)
		for _, delta := range []float64{0, 1e-6, 1} {
			if lower, upper := c.Epsilon(delta); !(0 <= lower && lower <= upper) {
				t.Errorf("%s: ε(%g) is [%g, %g]", name, delta, lower, upper)
			}
		}
		for _, epsilon := range []float64{0, 1, 1e5, math.MaxFloat64, math.Inf(1), math.NaN(), -1} {
			if lower, upper := c.Delta(epsilon); !(0 <= lower && lower <= upper && upper <= 1) {
				t.Errorf("%s: δ(%g) is [%g, %g]", name, epsilon, lower, upper)
			}
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	check("nothing")
	for _, x := range numbers {
		check("gaussian "+x, pld.Step{Pair: get(pld.Gaussian(rat(t, x))), Count: 1})
		check("laplace "+x, pld.Step{Pair: get(pld.Laplace(rat(t, x))), Count: 3})
		check("response "+x, pld.Step{Pair: get(pld.RandomizedResponse(rat(t, x), 5)), Count: 3})
		check("approximate "+x, pld.Step{Pair: get(pld.Approximate(rat(t, x), rat(t, "1e-30"))), Count: 3})
		check("sampled "+x, pld.Step{Pair: get(pld.Subsample(get(pld.Gaussian(rat(t, x))), rat(t, "1e-5"))), Count: 3})
	}
	check("10¹² pure", pld.Step{Pair: get(pld.Pure(rat(t, "1e-6"))), Count: 1e12})
	check("lost", pld.Step{Pair: get(pld.Approximate(new(big.Rat), big.NewRat(1, 1))), Count: 2})
	if os.Getenv("DITHER_LONG") == "" {
		return
	}
	check("far apart", pld.Step{Pair: get(pld.Gaussian(rat(t, "1e6"))), Count: 1},
		pld.Step{Pair: get(pld.Pure(rat(t, "1e-9"))), Count: 5})
}

func TestRefuses(t *testing.T) {
	one, minus, two := big.NewRat(1, 1), big.NewRat(-1, 1), big.NewRat(2, 1)
	first := func(_ pld.Pair, err error) error { return err }
	pure := pair(t)(pld.Pure(one))
	sampled := pair(t)(pld.Subsample(pure, big.NewRat(1, 2)))
	composed := func(steps ...pld.Step) error {
		_, err := pld.Compose(steps)
		return err
	}
	for name, err := range map[string]error{
		"gaussian nil":        first(pld.Gaussian(nil)),
		"gaussian 0":          first(pld.Gaussian(new(big.Rat))),
		"laplace −1":          first(pld.Laplace(minus)),
		"pure nil":            first(pld.Pure(nil)),
		"one answer":          first(pld.RandomizedResponse(one, 1)),
		"too many answers":    first(pld.RandomizedResponse(one, math.MaxInt64)),
		"approximate −1":      first(pld.Approximate(minus, one)),
		"approximate δ 2":     first(pld.Approximate(one, two)),
		"approximate nil":     first(pld.Approximate(nil, nil)),
		"no sensitivity":      first(pld.DiscreteLaplace(0, one)),
		"large sensitivity":   first(pld.DiscreteLaplace(math.MaxInt64, one)),
		"no scale":            first(pld.DiscreteLaplace(1, nil)),
		"discrete gaussian":   first(pld.DiscreteGaussian(rat(t, "1e30"))),
		"discrete gaussian 0": first(pld.DiscreteGaussian(new(big.Rat))),
		"rate 2":              first(pld.Subsample(pure, two)),
		"rate nil":            first(pld.Subsample(pure, nil)),
		"sampled twice":       first(pld.Subsample(sampled, one)),
		"sample of none":      first(pld.Subsample(pld.Pair{}, one)),
		"no pair":             composed(pld.Step{Count: 1}),
		"negative count":      composed(pld.Step{Pair: pure, Count: -1}),
		"too many":            composed(pld.Step{Pair: pure, Count: math.MaxInt64}),
		"too many in all": composed(pld.Step{Pair: pure, Count: 1 << 39},
			pld.Step{Pair: sampled, Count: 1<<39 + 1}),
		"two hundred per cent": first(pld.Subsample(pure, big.NewRat(201, 100))),
	} {
		if !errors.Is(err, pld.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
