package privacy_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

func rho(t testing.TB, text string) privacy.Rho {
	t.Helper()
	var r privacy.Rho
	var err error
	if r, err = privacy.ParseRho(text); err != nil {
		t.Fatal(err)
	}
	return r
}

func delta(t testing.TB, text string) privacy.Delta {
	t.Helper()
	d, err := privacy.ParseDelta(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParseRho(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "0.02": "0.02", "1e-3": "0.001", "1e6": "1000000",
		"0.12345678901234567890": "0.1234567890123456789",
	} {
		if got := rho(t, text).String(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{
		"", "0", "-0", "-1", "1000000.0000001", "1e999999999", "1e65", "1e-65", "NaN", "+Inf",
		"0x1", "1_0", "1/2", " 1", strings.Repeat("1", 70),
	} {
		if r, err := privacy.ParseRho(text); !errors.Is(err, privacy.ErrRho) || errors.Is(err, privacy.ErrEpsilon) ||
			!r.IsZero() {
			t.Errorf("%q: got %s, %v", text, r, err)
		}
	}
	for _, r := range []*big.Rat{nil, big.NewRat(-1, 1000)} {
		if _, err := privacy.RhoOf(r); !errors.Is(err, privacy.ErrRho) {
			t.Errorf("%v: %v", r, err)
		}
	}
}

func rhos() *rapid.Generator[privacy.Rho] {
	return rapid.Map(epsilons(), func(e privacy.Epsilon) privacy.Rho {
		r, err := privacy.RhoOf(e.Rat())
		if err != nil {
			panic(err)
		}
		return r
	})
}

func TestRhoArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := rhos().Draw(t, "r"), rhos().Draw(t, "s")
		k := rapid.Int64Range(1, 60).Draw(t, "k")
		if r.Plus(s).Minus(s).Cmp(r) != 0 || r.Plus(s).Cmp(s.Plus(r)) != 0 || r.Cmp(s) <= 0 != r.Minus(s).IsZero() {
			t.Fatal("Plus and Minus disagree")
		}
		if r.Share(1, k).Times(k).Cmp(r) != 0 || r.Times(k).Times(k).Cmp(r.Group(k)) != 0 || !r.Times(-k).IsZero() ||
			!r.Group(-k).IsZero() {
			t.Fatal("Share, Times and Group disagree")
		}
		text, err := r.MarshalText()
		var back privacy.Rho
		if err != nil || back.UnmarshalText(text) != nil || back.Cmp(r) != 0 {
			t.Fatalf("%s was written %q and read as %s", r, text, back)
		}
		if err := back.UnmarshalText([]byte("-1/2")); !errors.Is(err, privacy.ErrRho) || back.Cmp(r) != 0 {
			t.Fatalf("a negative loss was read: %v, %s", err, back)
		}
		r.Rat().SetInt64(-5)
		if r.String() != string(text) {
			t.Fatal("a loss was changed")
		}
	})
}

// TestPureIsZCDP: ε costs ε²/2, and the largest pure loss within a ρ is √(2ρ), from below.
func TestPureIsZCDP(t *testing.T) {
	if got := epsilon(t, "0.3").Rho().String(); got != "0.045" {
		t.Errorf("ε = 0.3 costs ρ = %s", got)
	}
	if got := rho(t, "0.045").Pure().String(); got != "0.3" {
		t.Errorf("ρ = 0.045 covers ε = %s", got)
	}
	if got := (privacy.Rho{}).Pure(); !got.IsZero() {
		t.Errorf("no loss covers ε = %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rhos().Draw(t, "r")
		if r.IsZero() {
			return
		}
		e := r.Pure()
		above := epsilonOf(t, new(big.Rat).Mul(e.Rat(), new(big.Rat).Add(big.NewRat(1, 1), big.NewRat(1, 1e15))))
		if e.Rho().Cmp(r) > 0 || above.Rho().Cmp(r) <= 0 {
			t.Fatalf("ρ = %s covers ε = %s", r, e)
		}
	})
}

func TestDeltaArithmetic(t *testing.T) {
	half, third := delta(t, "0.5"), privacy.Delta{}
	if err := third.UnmarshalText([]byte("1/3")); err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]string{
		"1/2+1/3":      {half.Plus(third).String(), "5/6"},
		"1/2−1/3":      {half.Minus(third).String(), "1/6"},
		"1/3−1/2":      {third.Minus(half).String(), "0"},
		"1/2+1/2+1/2":  {half.Plus(half).Plus(half).String(), "1"},
		"a third":      {half.Share(1, 3).String(), "1/6"},
		"three halves": {half.Share(3, 1).String(), "1"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %s, want %s", name, pair[0], pair[1])
		}
	}
	if _, err := privacy.DeltaOf(big.NewRat(1, 1)); err != nil {
		t.Errorf("1: %v", err)
	}
	for _, r := range []*big.Rat{nil, big.NewRat(-1, 9), big.NewRat(10, 9)} {
		if d, err := privacy.DeltaOf(r); !errors.Is(err, privacy.ErrDelta) || !d.IsZero() {
			t.Errorf("%v: %s, %v", r, d, err)
		}
	}
}

// FuzzParseLosses checks that what the parsers accept is in range, small, and read back from its written form.
func FuzzParseLosses(f *testing.F) {
	for _, text := range []string{
		"1", "0.5", "1e999999999", "NaN", "-0", "12345678901234567890", "1e-64", "1e64", "0",
		"1/3", "1000", "1e6", "0.99999999999999999999",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := privacy.ParseRho(text); err == nil {
			var back privacy.Rho
			if err := back.UnmarshalText([]byte(r.String())); err != nil || back.Cmp(r) != 0 || r.IsZero() ||
				r.Rat().Cmp(big.NewRat(privacy.MaxRho, 1)) > 0 || len(r.String()) > 200 {
				t.Fatalf("%q was read as %s, and that as %s, %v", text, r, back, err)
			}
		} else if !errors.Is(err, privacy.ErrRho) || !r.IsZero() {
			t.Fatalf("%q: %s, %v", text, r, err)
		}
		if e, err := privacy.ParseEpsilon(text); err == nil {
			var back privacy.Epsilon
			if err := back.UnmarshalText([]byte(e.String())); err != nil || back.Cmp(e) != 0 || e.IsZero() ||
				e.Rat().Cmp(big.NewRat(privacy.MaxEpsilon, 1)) > 0 {
				t.Fatalf("%q was read as %s, and that as %s, %v", text, e, back, err)
			}
		} else if !errors.Is(err, privacy.ErrEpsilon) || !e.IsZero() {
			t.Fatalf("%q: %s, %v", text, e, err)
		}
		if d, err := privacy.ParseDelta(text); err == nil {
			var back privacy.Delta
			if err := back.UnmarshalText([]byte(d.String())); err != nil || back.Cmp(d) != 0 ||
				d.Rat().Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("%q was read as %s, and that as %s, %v", text, d, back, err)
			}
		} else if !errors.Is(err, privacy.ErrDelta) || !d.IsZero() {
			t.Fatalf("%q: %s, %v", text, d, err)
		}
	})
}
