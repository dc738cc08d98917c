package privacy_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

func TestLaplaceScaleRefuses(t *testing.T) {
	one := epsilon(t, "1")
	for _, units := range []*big.Int{nil, new(big.Int), big.NewInt(-3)} {
		if scale, err := privacy.LaplaceScale(units, one); !errors.Is(err, privacy.ErrSensitivity) || scale != nil {
			t.Errorf("%v: %v, %v", units, scale, err)
		}
	}
	if scale, err := privacy.LaplaceScale(big.NewInt(1), privacy.Epsilon{}); !errors.Is(err, privacy.ErrSensitivity) ||
		!errors.Is(err, privacy.ErrEpsilon) || scale != nil {
		t.Errorf("no loss: %v, %v", scale, err)
	}
}

func TestLaplaceScale(t *testing.T) {
	for _, c := range []struct {
		units         int64
		epsilon, want string
	}{
		{1, "1", "1"}, {1, "0.1", "10"}, {3, "0.7", "30/7"}, {1 << 62, "1e-3", "4611686018427387904000"},
	} {
		scale, err := privacy.LaplaceScale(big.NewInt(c.units), epsilon(t, c.epsilon))
		if err != nil || scale.RatString() != c.want {
			t.Errorf("%d at ε = %s: %v, %v; want %s", c.units, c.epsilon, scale, err, c.want)
		}
	}
}

// TestEqualSplitScales: k answers at an equal split of one ε have k times the scale, and lose ε together.
func TestEqualSplitScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := big.NewInt(rapid.Int64Range(1, 1<<60).Draw(t, "units"))
		k := rapid.Int64Range(1, 1000).Draw(t, "k")
		e := epsilonOf(t, big.NewRat(rapid.Int64Range(1, 1000).Draw(t, "n"), rapid.Int64Range(1, 1000).Draw(t, "d")))
		whole, err := privacy.LaplaceScale(units, e)
		if err != nil {
			t.Fatal(err)
		}
		part, err := privacy.LaplaceScale(units, e.Share(1, k))
		if err != nil {
			t.Fatal(err)
		}
		if part.Cmp(whole.Mul(whole, new(big.Rat).SetInt64(k))) != 0 {
			t.Fatalf("a %dth of ε = %s has scale %s, not %s", k, e, part, whole)
		}
		if e.Share(1, k).Times(k).Cmp(e) != 0 {
			t.Fatal("the parts are not the whole")
		}
	})
}

func TestDelta(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "1e-6": "0.000001", "0.999": "0.999", "-0": "0", ".5": "0.5"} {
		d, err := privacy.ParseDelta(text)
		if err != nil || d.String() != want || d.IsZero() != (want == "0") {
			t.Errorf("%q: %s, %v; want %s", text, d, err, want)
		}
		written, err := d.MarshalText()
		var back privacy.Delta
		if err != nil || back.UnmarshalText(written) != nil || back.Cmp(d) != 0 {
			t.Errorf("%s was written %q and read as %s", d, written, back)
		}
	}
	for _, text := range []string{
		"", "1", "1.0", "2", "-1e-9", "NaN", "Inf", "1e-65", "1e999999999", "1/2",
		"0x0", "1e-6 ",
	} {
		if d, err := privacy.ParseDelta(text); !errors.Is(err, privacy.ErrDelta) || !d.IsZero() {
			t.Errorf("%q: %s, %v", text, d, err)
		}
	}
	var third privacy.Delta
	if err := third.UnmarshalText([]byte("1/3")); err != nil || third.String() != "1/3" {
		t.Errorf("1/3: %s, %v", third, err)
	}
	for _, text := range []string{"4/3", "-1/3", "x"} {
		if err := third.UnmarshalText([]byte(text)); !errors.Is(err, privacy.ErrDelta) || third.String() != "1/3" {
			t.Errorf("%q: %s, %v", text, third, err)
		}
	}
}
