package account_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

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
		{1, "3", "0.01", "0.01", 3, 1e-15},
		{7, "0", "0.01", "0.5", 0, 0},
		{20, "0.25", "1e-7", "1e-5", 4.4742591761956803, 1e-15},
		{64, "0.5", "0", "1e-12", 30.542128933762258, 1e-15},
		{200, "0.03", "1e-9", "1e-6", 1.8881156480057758, 1e-15},
		{9, "2", "0.001", "0.01", 17.996718557685202, 1e-15},
	} {
		lower, upper := optimal(t, c.k, promise(t, c.epsilon, c.delta)).Epsilon(promise(t, "0", c.at).Delta)
		brackets(t, c.epsilon+" composed", lower, upper, c.want, c.last)
	}
	lower, upper := optimal(t, 30, promise(t, "1", "0")).Delta(promise(t, "22", "0").Epsilon)
	brackets(t, "δ of 30 × 1 at 22", lower, upper, 0.020276245549846, 1e-15)
}

// TestOptimalIsTheSum compares with the terms themselves, in floats, where there are few.
func TestOptimalIsTheSum(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.Int64Range(1, 40).Draw(r, "k")
		e0 := big.NewRat(rapid.Int64Range(1, 3000).Draw(r, "ε₀/1000"), 1000)
		d0 := big.NewRat(rapid.Int64Range(0, 100).Draw(r, "δ₀/10⁶"), 1_000_000)
		e := new(big.Rat).Mul(e0, big.NewRat(rapid.Int64Range(0, 4*k).Draw(r, "4ε/ε₀"), 4))
		epsilon0, _ := e0.Float64()
		delta0, _ := d0.Float64()
		at, _ := e.Float64()
		p, sum := 1/(1+math.Exp(-epsilon0)), 0.0
		for j := range k + 1 {
			n, _ := new(big.Float).SetInt(new(big.Int).Binomial(k, j)).Float64()
			loss := float64(2*j-k) * epsilon0
			sum += n * math.Pow(p, float64(j)) * math.Pow(1-p, float64(k-j)) * max(0, -math.Expm1(at-loss))
		}
		want := 1 - math.Pow(1-delta0, float64(k))*(1-sum)
		o := optimal(t, k, promise(t, e0.RatString(), d0.RatString()))
		lower, upper := o.Delta(epsilonRat(t, e))
		if !(lower <= upper) || upper-lower > 1e-14*upper || math.Abs(want-upper) > 1e-12 {
			r.Fatalf("%d × (%s, %s): δ(%s) is in [%.17g, %.17g], want %.15g", k, e0, d0, e, lower, upper, want)
		}
		// There and back: ε at a δ just above is not above, at one just below not below.
		if lower > 0 && upper < 1 {
			_, back := o.Epsilon(deltaRat(t, new(big.Rat).SetFloat64(math.Nextafter(upper, 2))))
			if back > at*(1+1e-13)+1e-13 {
				r.Fatalf("%d × (%s, %s): ε at δ(%s) is %.17g", k, e0, d0, e, back)
			}
			back, _ = o.Epsilon(deltaRat(t, new(big.Rat).SetFloat64(math.Nextafter(lower, 0))))
			if back < at*(1-1e-13)-1e-13 {
				r.Fatalf("%d × (%s, %s): ε at δ(%s) is at least %.17g", k, e0, d0, e, back)
			}
		}
	})
}

func epsilonRat(t testing.TB, r *big.Rat) privacy.Epsilon {
	t.Helper()
	e, err := privacy.EpsilonOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func deltaRat(t testing.TB, r *big.Rat) privacy.Delta {
	t.Helper()
	d, err := privacy.DeltaOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A million mechanisms, tiny and huge ε, and δ of 1e-300: δ(ε(δ)) comes back to δ from below, and the losses'
// ends hold.
func TestOptimalExtremes(t *testing.T) {
	for _, c := range []struct {
		k                  int64
		epsilon, own, goal string
	}{
		{1_000_000, "0.001", "0", "1e-6"},
		{1_000_000, "0.001", "1e-20", "1e-6"},
		{1_000_000, "0.001", "0", "1e-300"},
		{1_000_000, "1e-5", "0", "1e-20"},
		{1000, "3", "1e-30", "1e-9"},
		{3, "700", "0", "1e-9"},
	} {
		if c.k > 1000 && !long {
			c.k = 20_000
		}
		o := optimal(t, c.k, promise(t, c.epsilon, c.own))
		lower, upper := o.Epsilon(promise(t, "0", c.goal).Delta)
		want, _ := rat(t, c.goal).Float64()
		_, there := o.Delta(epsilonRat(t, new(big.Rat).SetFloat64(upper)))
		before, _ := o.Delta(epsilonRat(t, new(big.Rat).SetFloat64(lower*(1-1e-9))))
		if !(lower <= upper) || upper-lower > 1e-12*upper || there > want || before < want {
			t.Errorf("%v: ε is in [%.17g, %.17g], where δ is at most %g, and before it at least %g",
				c, lower, upper, there, before)
		}
	}
	for _, c := range []struct {
		k              int64
		epsilon, own   string
		goal           string
		lowest, utmost float64 // of ε
	}{
		{k: 1_000_000, epsilon: "1e-60", own: "0", goal: "1e-9", lowest: 0, utmost: 0},
		{k: 1 << 20, epsilon: "512", own: "0", goal: "1e-9", lowest: 512 * (1<<20 - 1), utmost: 1 << 29},
		{k: 5, epsilon: "1", own: "0", goal: "0", lowest: 5, utmost: 5},
		{k: 5, epsilon: "1", own: "1e-3", goal: "1e-3", lowest: math.Inf(1), utmost: math.Inf(1)},
		{k: 5, epsilon: "1", own: "1", goal: "0.5", lowest: math.Inf(1), utmost: math.Inf(1)},
		{k: 5, epsilon: "1", own: "0.5", goal: "1", lowest: 0, utmost: 0},
	} {
		if c.k > 1000 && !long {
			continue
		}
		lower, upper := optimal(t, c.k, promise(t, c.epsilon, c.own)).Epsilon(promise(t, "0", c.goal).Delta)
		if !(lower <= upper && c.lowest <= lower && upper <= c.utmost) {
			t.Errorf("%v: ε is in [%g, %g]", c, lower, upper)
		}
	}
	for _, k := range []int64{0, -1, account.MostRepeated + 1} {
		if _, err := account.NewOptimal(k, promise(t, "1", "0")); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%d mechanisms: %v", k, err)
		}
	}
	if _, err := account.NewOptimal(1<<20, promise(t, "513", "0")); !errors.Is(err, account.ErrParameter) {
		t.Error("an ε beyond 2²⁹ is summed")
	}
}

func BenchmarkOptimal(b *testing.B) {
	d := promise(b, "0", "1e-6").Delta
	for _, k := range []int64{100, 10_000, 1_000_000} {
		b.Run(big.NewInt(k).String(), func(b *testing.B) {
			for b.Loop() {
				optimal(b, k, promise(b, "0.001", "0")).Epsilon(d)
			}
		})
	}
}
