package account_test

import (
	"math"
	"math/big"
	"testing"

	"dither/account"
	"dither/privacy"
)

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return r
}

func promise(t testing.TB, epsilon, delta string) account.Approximate {
	t.Helper()
	e, err := privacy.EpsilonOf(rat(t, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	d, err := privacy.DeltaOf(rat(t, delta))
	if err != nil {
		t.Fatal(err)
	}
	return account.Approximate{Epsilon: e, Delta: d}
}

func optimal(t testing.TB, k int64, a account.Approximate) *account.Optimal {
	t.Helper()
	o, err := account.NewOptimal(k, a)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// brackets checks that a certified pair holds want, which is rounded in its last digit, and is narrow.
func brackets(t *testing.T, what string, lower, upper, want, last float64) {
	t.Helper()
	if !(lower <= upper) || lower > want+last || upper < want-last || upper-lower > 1e-14*want {
		t.Errorf("%s is in [%.17g, %.17g], want %.15g", what, lower, upper, want)
	}
}

// The figures are sums of the binomial terms by mpmath, at 60 digits.
func TestOptimalFigures(t *testing.T) {
	for _, c := range []struct {
		k              int64
		epsilon, delta string
		at             string
		want, last     float64
	}{
		{100, "0.1", "0", "1e-6", 4.774567588108, 1e-12},
		{10, "0.1", "0", "1e-5", 0.99369117675934, 1e-14},
	} {
		lower, upper := optimal(t, c.k, promise(t, c.epsilon, c.delta)).Epsilon(promise(t, "0", c.at).Delta)
		brackets(t, c.epsilon+" composed", lower, upper, c.want, c.last)
	}
	lower, upper := optimal(t, 30, promise(t, "1", "0")).Delta(promise(t, "22", "0").Epsilon)
	brackets(t, "δ of 30 × 1 at 22", lower, upper, 0.020276245549846, 1e-15)
}

func TestOptimalLarge(t *testing.T) {
	for _, c := range []struct {
		k       int64
		epsilon string
		delta   string
	}{{1e6, "0.001", "1e-6"}, {1e6, "0.001", "1e-300"}, {1e6, "1", "1e-6"}, {1 << 20, "500", "1e-9"}, {1e6, "1e-60", "1e-9"}, {1e6, "1e-5", "1e-20"}} {
		o := optimal(t, c.k, promise(t, c.epsilon, "0"))
		lower, upper := o.Epsilon(promise(t, "0", c.delta).Delta)
		t.Log(c, lower, upper)
		e, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(upper))
		if err != nil {
			t.Fatal(err)
		}
		dl, du := o.Delta(e)
		t.Log(dl, du)
		_ = math.Pi
	}
}
