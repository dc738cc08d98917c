package privacy_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

func epsilon(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestParseEpsilon(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "0.1": "0.1", "1e-3": "0.001", "+.5": "0.5", "1000": "1000",
		"1e-64": "0." + strings.Repeat("0", 63) + "1",
	} {
		if got := epsilon(t, text).String(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{
		"", "0", "0.0", "-1", "-0", "1000.0000001", "1e400", "1e999999999", "NaN", "Inf",
		"0x1", "1_0", "1/2", " 1", "1e-65", strings.Repeat("1", 70),
	} {
		if e, err := privacy.ParseEpsilon(text); !errors.Is(err, privacy.ErrEpsilon) || !e.IsZero() {
			t.Errorf("%q: got %s, %v", text, e, err)
		}
	}
	if _, err := privacy.EpsilonOf(nil); !errors.Is(err, privacy.ErrEpsilon) {
		t.Errorf("nil: %v", err)
	}
	if _, err := privacy.EpsilonOf(big.NewRat(-1, 1000)); !errors.Is(err, privacy.ErrEpsilon) {
		t.Errorf("negative: %v", err)
	}
}

// epsilons draws fractions with large and unlike denominators.
func epsilons() *rapid.Generator[privacy.Epsilon] {
	return rapid.Custom(func(t *rapid.T) privacy.Epsilon {
		e, err := privacy.EpsilonOf(big.NewRat(rapid.Int64Range(0, 1<<40).Draw(t, "numerator"),
			rapid.Int64Range(1, 1<<40).Draw(t, "denominator")))
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

func TestEpsilonArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, f := epsilons().Draw(t, "e"), epsilons().Draw(t, "f")
		k := rapid.Int64Range(1, 60).Draw(t, "k")
		before := e.String() + f.String()
		if e.Plus(f).Minus(f).Cmp(e) != 0 || e.Plus(f).Cmp(f.Plus(e)) != 0 {
			t.Fatal("Plus and Minus disagree")
		}
		if d := e.Minus(f); e.Cmp(f) <= 0 != d.IsZero() {
			t.Fatalf("%s − %s = %s", e, f, d)
		}
		if e.Share(1, k).Times(k).Cmp(e) != 0 {
			t.Fatal("k shares of one in k are not the whole")
		}
		sum := privacy.Epsilon{}
		for range k { // composing k times against a loop
			sum = sum.Plus(e)
		}
		if e.Times(k).Cmp(sum) != 0 {
			t.Fatalf("%d times %s is %s, not %s", k, e, e.Times(k), sum)
		}
		text, err := e.MarshalText()
		var back privacy.Epsilon
		if err != nil || back.UnmarshalText(text) != nil || back.Cmp(e) != 0 {
			t.Fatalf("%s was written %q and read as %s", e, text, back)
		}
		e.Rat().SetInt64(5)
		if e.String()+f.String() != before {
			t.Fatal("a loss was changed")
		}
	})
}

func TestEpsilonTimesIsGroupPrivacy(t *testing.T) {
	if got := epsilon(t, "0.3").Times(4); got.String() != "1.2" {
		t.Errorf("4 people under ε = 0.3: %s", got)
	}
	if got := epsilon(t, "0.3").Times(0); !got.IsZero() {
		t.Errorf("nobody: %s", got)
	}
}

func TestEpsilonZeroValue(t *testing.T) {
	var e privacy.Epsilon
	if !e.IsZero() || e.String() != "0" || !e.Plus(e).IsZero() || e.Cmp(epsilon(t, "1")) >= 0 {
		t.Error("the zero value is not no loss")
	}
	if err := json.Unmarshal([]byte(`"-1/2"`), &e); !errors.Is(err, privacy.ErrEpsilon) {
		t.Errorf("a negative loss was read: %v", err)
	}
}

func TestNeighbours(t *testing.T) {
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		text, err := n.MarshalText()
		var back privacy.Neighbours
		if err != nil || back.UnmarshalText(text) != nil || back != n {
			t.Errorf("%v was written %q and read as %v", n, text, back)
		}
	}
	for _, text := range []string{"", "Add-Remove", "add_remove", "bounded", "0"} {
		if n, err := privacy.ParseNeighbours(text); !errors.Is(err, privacy.ErrNeighbours) || n != 0 {
			t.Errorf("%q: %v, %v", text, n, err)
		}
	}
	if s := privacy.Neighbours(0).String(); s != "Neighbours(0)" {
		t.Errorf("the zero value is called %s", s)
	}
}
