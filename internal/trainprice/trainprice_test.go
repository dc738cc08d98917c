package trainprice

import (
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/account"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/privacy"
)

func training(rate, multiplier *big.Rat) learning.NoisyGradient {
	return learning.NoisyGradient{
		Model: learning.NewModel("linear", 1, 0, 0, ""), Clip: big.NewRat(1, 1), Rate: rate, Multiplier: multiplier,
	}
}

func delta(t *testing.T, text string) privacy.Delta {
	t.Helper()
	d, err := privacy.ParseDelta(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The job is priced at the very multiplier that is sampled, however many digits it has.
func TestJobHasTheExactMultiplier(t *testing.T) {
	long := new(big.Rat).SetFrac64(1_000_000_000_000_000_001, 1_000_000_000_000_000_000) // no float64
	for _, z := range []*big.Rat{big.NewRat(11, 10), big.NewRat(2, 3), long} {
		m := training(big.NewRat(1, 3), z)
		written, _, _ := strings.Cut(strings.TrimPrefix(text(m, 7), "gaussian sigma="), " ")
		read, err := account.ParseNumber(written)
		if err != nil || read.Cmp(z) != 0 {
			t.Errorf("%s is accounted as %s: %v", z, written, err)
		}
	}
}

// The price is never below the accountant's figure for the multiplier, also where a search in floats found the multiplier; and such
// a multiplier costs about what was asked for.
func TestPriceIsAtLeastTheFigure(t *testing.T) {
	d := delta(t, "1e-5")
	for _, c := range []struct {
		rate    *big.Rat
		steps   int64
		epsilon string
	}{{big.NewRat(1, 1), 1, "1"}, {big.NewRat(1, 10), 10, "3"}} {
		e, err := privacy.ParseEpsilon(c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		m := training(c.rate, nil)
		if m.Multiplier, err = Multiplier(t.Context(), m, c.steps, e, d); err != nil {
			t.Fatal(err)
		}
		for i, z := range []*big.Rat{m.Multiplier, big.NewRat(1000001, 1000000)} {
			m.Multiplier = z
			price, err := Epsilon(m, c.steps, d)
			if err != nil {
				t.Fatal(err)
			}
			j, err := job(m, c.steps)
			if err != nil {
				t.Fatal(err)
			}
			figure, _, err := j.LeastEpsilon(d)
			if err != nil {
				t.Fatal(err)
			}
			least := new(big.Rat).SetFloat64(figure.Value)
			most := new(big.Rat).Mul(least, big.NewRat(10_000_001, 10_000_000))
			if price.Cmp(least) < 0 || price.Cmp(most) > 0 {
				t.Errorf("%v at %s: charged %s, and the figure is %g", c, z, price.FloatString(12), figure.Value)
			}
			if f, _ := price.Float64(); i == 0 && math.Abs(f-exactly(e)) > 1e-3*exactly(e) {
				t.Errorf("%v: the multiplier %s, which was sought for it, costs %g", c, z, f)
			}
		}
	}
}

func exactly(e privacy.Epsilon) float64 { f, _ := e.Rat().Float64(); return f }

// The published parameters for MNIST have the published ε.
func TestPriceOfMNIST(t *testing.T) {
	if os.Getenv("DITHER_LONG") != "1" {
		t.Skip("DITHER_LONG=1; the curator's test of the price has it too")
	}
	price, err := Epsilon(training(big.NewRat(256, 60000), big.NewRat(11, 10)), 14062, delta(t, "1e-5"))
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := price.Float64(); math.Abs(f-2.381686) > 2e-4 {
		t.Errorf("%g", f)
	}
}

// Trainings that make no sense are refused, and one without enough noise has no price.
func TestPriceRefuses(t *testing.T) {
	d := delta(t, "1e-5")
	half := big.NewRat(1, 2)
	for name, c := range map[string]struct {
		m     learning.NoisyGradient
		steps int64
	}{
		"no steps": {training(half, half), 0}, "negative steps": {training(half, half), -1}, "no noise": {training(half, nil), 1},
		"no rate": {training(nil, half), 1}, "a rate above 1": {training(big.NewRat(3, 2), half), 1},
	} {
		if _, err := Epsilon(c.m, c.steps, d); !errors.Is(err, mechanism.ErrParameter) && !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Epsilon(training(big.NewRat(1, 1), big.NewRat(1, 100_000)), 1000, d); !errors.Is(err, ErrNone) {
		t.Errorf("hardly any noise: %v", err)
	}
	e, err := privacy.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Multiplier(ended, training(big.NewRat(1, 100), nil), 100, e, d); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was given up: %v", err)
	}
}
