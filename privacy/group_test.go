package privacy_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// TestGroupPrivacy: k people together are promised kε, k²ρ, and (kε, δ·Σ e^{iε}).
func TestGroupPrivacy(t *testing.T) {
	if got := epsilon(t, "0.3").Group(4).String(); got != "1.2" {
		t.Errorf("4 people under ε = 0.3: %s", got)
	}
	if got := rho(t, "0.045").Group(4).String(); got != "0.72" {
		t.Errorf("4 people under ρ = 0.045: %s", got)
	}
	// ε of the group and ρ of the group agree with the pure loss being zCDP.
	if g := epsilon(t, "0.3").Group(4); g.Rho().Cmp(epsilon(t, "0.3").Rho().Group(4)) != 0 {
		t.Error("(kε)²/2 is not k²·ε²/2")
	}
	for _, c := range []struct {
		delta, epsilon string
		k              int64
		want           string // by mpmath
	}{
		{"1e-6", "1", 1, "1e-6"},
		{"1e-6", "1", 2, "3.7182818284590452354e-6"},
		{"1e-6", "1", 10, "0.01281830805052460421"},
		{"1e-9", "0.1", 60, "3.8264265526642549833e-6"},
		{"1e-64", "1e-64", 3, "3e-64"},
		{"1e-9", "1", 25, "1"},
		{"1e-9", "1000", 1 << 60, "1"},
		{"1e-30", "0.001", 50000, "5.1821136078815657758e-6"},
	} {
		got := delta(t, c.delta).Group(c.k, epsilon(t, c.epsilon))
		if x := over(got.Rat(), mustRat(t, c.want)); x < -1e-19 || x > 1e-15 {
			t.Errorf("%d people at (%s, %s): δ = %s, want %s", c.k, c.epsilon, c.delta, got, c.want)
		}
	}
	if d := delta(t, "0.1").Group(0, epsilon(t, "1")); !d.IsZero() {
		t.Errorf("nobody: %s", d)
	}
	if d := delta(t, "0.1").Group(-5, epsilon(t, "1")); !d.IsZero() {
		t.Errorf("fewer: %s", d)
	}
	if d := delta(t, "0.25").Group(3, privacy.Epsilon{}); d.String() != "0.75" {
		t.Errorf("3 at ε = 0: %s", d)
	}
	if d := (privacy.Delta{}).Group(3, epsilon(t, "1")); !d.IsZero() {
		t.Errorf("3 at δ = 0: %s", d)
	}
	if d := ratDelta(t, "1e-3000").Group(900, epsilon(t, "2")); d.Rat().Cmp(mustRat(t, "1e-1000")) < 0 ||
		d.Rat().Cmp(mustRat(t, "1e-200")) > 0 {
		t.Errorf("a tiny δ: %s", d)
	}
}

// TestGroupDeltaIsTheHybridSum follows the proof, one step after another, δ_{i+1} = e^ε·δ_i + δ, in exact
// rationals at e^ε = 1 + 1/n.
func TestGroupDeltaIsTheHybridSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(2, 1000).Draw(t, "n")
		k := rapid.Int64Range(1, 40).Draw(t, "k")
		d := deltas().Draw(t, "δ")
		// ln(1 + 1/n) lies between its alternating series to 39 terms and to 40.
		up, power := new(big.Rat), big.NewRat(-1, 1)
		for i := int64(1); i < 40; i++ {
			power.Mul(power, big.NewRat(-1, n))
			up.Add(up, new(big.Rat).Quo(power, big.NewRat(i, 1)))
		}
		down := new(big.Rat).Sub(up, new(big.Rat).Quo(power, big.NewRat(40*n, 1)))
		ratio, sum := new(big.Rat).Add(big.NewRat(1, 1), big.NewRat(1, n)), new(big.Rat)
		for range k {
			sum.Add(sum.Mul(sum, ratio), d.Rat())
		}
		if one := big.NewRat(1, 1); sum.Cmp(one) > 0 {
			sum = one
		}
		if g := d.Group(k, epsilonOf(t, up)); g.Rat().Cmp(sum) < 0 {
			t.Fatalf("%d at (ln(1+1/%d), %s): %s is below %s", k, n, d, g, sum.FloatString(30))
		}
		if g := d.Group(k, epsilonOf(t, down)); over(g.Rat(), sum) > 1e-9 {
			t.Fatalf("%d at (ln(1+1/%d), %s): %s is far above %s", k, n, d, g, sum.FloatString(30))
		}
	})
}

// TestEqualSplitRhoScales: k Gaussian answers at an equal split of one ρ have √k times the deviation, k times the
// σ², where k Laplace answers at an equal split of one ε have k times the scale (TestEqualSplitScales).
func TestEqualSplitRhoScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := big.NewInt(rapid.Int64Range(1, 1<<60).Draw(t, "units²"))
		k := rapid.Int64Range(1, 1000).Draw(t, "k")
		r := rhos().Filter(func(r privacy.Rho) bool { return !r.IsZero() }).Draw(t, "ρ")
		whole, err := privacy.GaussianSigma2(units, r)
		if err != nil {
			t.Fatal(err)
		}
		part, err := privacy.GaussianSigma2(units, r.Share(1, k))
		if err != nil || part.Cmp(new(big.Rat).Mul(whole, big.NewRat(k, 1))) != 0 {
			t.Fatalf("a %dth of ρ = %s has σ² = %s, %v", k, r, part, err)
		}
		// The defining equation: Δ²/(2σ²) = ρ.
		back := new(big.Rat).SetInt(units)
		if back.Quo(back, whole.Mul(whole, big.NewRat(2, 1))).Cmp(r.Rat()) != 0 {
			t.Fatalf("σ² = %s loses %s, not %s", whole, back, r)
		}
	})
}

func TestGaussianSigma2(t *testing.T) {
	for _, c := range []struct {
		units     int64
		rho, want string
	}{{1, "0.5", "1"}, {1, "0.02", "25"}, {3, "0.7", "15/7"}, {1 << 62, "1e-3", "2305843009213693952000"}} {
		sigma2, err := privacy.GaussianSigma2(big.NewInt(c.units), rho(t, c.rho))
		if err != nil || sigma2.RatString() != c.want {
			t.Errorf("%d at ρ = %s: %v, %v; want %s", c.units, c.rho, sigma2, err, c.want)
		}
	}
	for _, units := range []*big.Int{nil, new(big.Int), big.NewInt(-3)} {
		if s, err := privacy.GaussianSigma2(units, rho(t, "1")); !errors.Is(err, privacy.ErrSensitivity) || s != nil {
			t.Errorf("%v: %v, %v", units, s, err)
		}
	}
	if s, err := privacy.GaussianSigma2(big.NewInt(1), privacy.Rho{}); !errors.Is(err, privacy.ErrSensitivity) ||
		!errors.Is(err, privacy.ErrRho) || s != nil {
		t.Errorf("no loss: %v, %v", s, err)
	}
}
