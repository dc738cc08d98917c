package privacy_test

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

func zcdp(t testing.TB, r, d string) privacy.Loss {
	return privacy.ZCDPLoss(ratRho(t, r), ratDelta(t, d))
}

func pure(t testing.TB, e string) privacy.Loss { return privacy.PureLoss(epsilonRat(t, mustRat(t, e))) }

func ratRho(t testing.TB, text string) privacy.Rho {
	r, err := privacy.RhoOf(mustRat(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func losses() *rapid.Generator[privacy.Loss] {
	return rapid.Custom(func(t *rapid.T) privacy.Loss {
		if rapid.Bool().Draw(t, "pure") {
			return privacy.PureLoss(epsilons().Draw(t, "ε"))
		}
		d := privacy.Delta{}
		if rapid.Bool().Draw(t, "approximate") {
			d = deltas().Draw(t, "δ").Share(1, 3)
		}
		return privacy.ZCDPLoss(rhos().Draw(t, "ρ"), d)
	})
}

func same(l, m privacy.Loss) bool {
	return l.Accountant() == m.Accountant() && l.Within(m) && m.Within(l)
}

func TestAccountant(t *testing.T) {
	for _, a := range []privacy.Accountant{privacy.Pure, privacy.ZCDP} {
		text, err := a.MarshalText()
		var back privacy.Accountant
		if err != nil || back.UnmarshalText(text) != nil || back != a {
			t.Errorf("%v was written %q and read as %v", a, text, back)
		}
	}
	for _, text := range []string{"", "Pure", "zCDP", "renyi", "0"} {
		a := privacy.ZCDP
		if err := a.UnmarshalText([]byte(text)); !errors.Is(err, privacy.ErrAccountant) || a != privacy.ZCDP {
			t.Errorf("%q: %v, %v", text, a, err)
		}
	}
	if s := privacy.Accountant(0).String(); s != "Accountant(0)" {
		t.Errorf("the zero value is called %s", s)
	}
}

func TestLossConverts(t *testing.T) {
	if l, err := pure(t, "0.2").In(privacy.ZCDP); err != nil || l.String() != "ρ = 0.02" {
		t.Errorf("ε = 0.2 is %s, %v", l, err)
	}
	if l, err := pure(t, "0.2").In(privacy.Pure); err != nil || l.String() != "ε = 0.2" {
		t.Errorf("ε = 0.2 is %s, %v", l, err)
	}
	for _, l := range []privacy.Loss{zcdp(t, "0.02", "0"), zcdp(t, "0", "0")} {
		if e, err := l.In(privacy.Pure); !errors.Is(err, privacy.ErrAccountant) {
			t.Errorf("%s is %s, %v", l, e, err)
		}
		if _, ok := l.Pure(); ok || l.Within(pure(t, "1000")) || !pure(t, "5").Minus(l).IsZero() {
			t.Errorf("%s became pure", l)
		}
	}
	if _, err := pure(t, "1").In(0); !errors.Is(err, privacy.ErrAccountant) {
		t.Errorf("no accountant: %v", err)
	}
	if sum := pure(t, "0.2").Plus(zcdp(t, "0.01", "0.001")); sum.String() != "ρ = 0.03, δ = 0.001" {
		t.Errorf("0.2 and (0.01, 0.001): %s", sum)
	}
	if !(privacy.Loss{}).IsZero() || (privacy.Loss{}).Accountant() != privacy.Pure {
		t.Error("the zero value is not no pure loss")
	}
}

func TestLossArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, m := losses().Draw(t, "l"), losses().Draw(t, "m")
		sum, left := l.Plus(m), privacy.Min(l, m)
		if !same(sum, m.Plus(l)) || !l.Within(sum) && sum.Accountant() == privacy.ZCDP {
			t.Fatalf("%s and %s make %s", l, m, sum)
		}
		if sum.Accountant() == l.Accountant() && !same(sum.Minus(m), l) {
			t.Fatalf("%s and %s make %s, less the second %s", l, m, sum, sum.Minus(m))
		}
		if left.Accountant() == l.Accountant() && !left.Within(l) || left.Accountant() == m.Accountant() &&
			!left.Within(m) {
			t.Fatalf("the lesser of %s and %s is %s", l, m, left)
		}
		if third := l.Share(1, 3); !same(third.Plus(third).Plus(third), l) {
			t.Fatalf("three thirds of %s", l)
		}
		text, err := json.Marshal(l)
		var back privacy.Loss
		if err != nil || json.Unmarshal(text, &back) != nil || !same(back, l) || back.String() != l.String() {
			t.Fatalf("%s was written %s and read as %s", l, text, back)
		}
	})
}

// TestLossGroup: kε and k²ρ, and none with a δ.
func TestLossGroup(t *testing.T) {
	if l, err := pure(t, "0.3").Group(4); err != nil || !same(l, pure(t, "1.2")) {
		t.Errorf("pure: %s, %v", l, err)
	}
	if l, err := zcdp(t, "0.045", "0").Group(4); err != nil || !same(l, zcdp(t, "0.72", "0")) {
		t.Errorf("zCDP: %s, %v", l, err)
	}
	if l, err := zcdp(t, "0.045", "1e-9").Group(4); !errors.Is(err, privacy.ErrGroup) {
		t.Errorf("approximate zCDP: %s, %v", l, err)
	}
}

func TestLossEpsilonAt(t *testing.T) {
	d := delta(t, "1e-6")
	if e, err := pure(t, "0.3").EpsilonAt(privacy.Delta{}); err != nil || e.String() != "0.3" {
		t.Errorf("pure: %s, %v", e, err)
	}
	want, _ := rho(t, "0.1").EpsilonAt(d)
	if e, err := zcdp(t, "0.1", "0").EpsilonAt(d); err != nil || e.Cmp(want) != 0 {
		t.Errorf("zCDP: %s, %v", e, err)
	}
	// δ = 0.1 and a rest δ′ of 1e-6 come to 0.1 + 0.9·1e-6.
	if e, err := zcdp(t, "0.1", "0.1").EpsilonAt(delta(t, "0.1000009")); err != nil || e.Cmp(want) != 0 {
		t.Errorf("approximate: %s, %v", e, err)
	}
	for _, low := range []string{"0", "0.05", "0.1"} {
		if e, err := zcdp(t, "0.1", "0.1").EpsilonAt(delta(t, low)); !errors.Is(err, privacy.ErrDelta) {
			t.Errorf("approximate at %s: %s, %v", low, e, err)
		}
	}
	if e, err := zcdp(t, "0", "0.1").EpsilonAt(delta(t, "0.1")); err != nil || !e.IsZero() {
		t.Errorf("a δ alone: %s, %v", e, err)
	}
	if e, err := zcdp(t, "1", "1").EpsilonAt(ratDelta(t, "1")); err != nil || !e.IsZero() {
		t.Errorf("at δ = 1: %s, %v", e, err)
	}
}

func TestLossJSON(t *testing.T) {
	for text, want := range map[string]privacy.Loss{
		`{"epsilon":"0.5"}`: pure(t, "0.5"), `{"epsilon":"0"}`: {},
		` { "delta" : "0" , "rho" : "1/50" } `: zcdp(t, "0.02", "0"),
		`{"rho":"0.02","delta":"0.001"}`:       zcdp(t, "0.02", "0.001"),
	} {
		var l privacy.Loss
		if err := json.Unmarshal([]byte(text), &l); err != nil || !same(l, want) {
			t.Errorf("%s: %s, %v", text, l, err)
		}
	}
	if text, err := json.Marshal(zcdp(t, "0.02", "0")); err != nil || string(text) != `{"rho":"0.02","delta":"0"}` {
		t.Errorf("written %s, %v", text, err)
	}
	if text, err := json.Marshal(pure(t, "0.5")); err != nil || string(text) != `{"epsilon":"0.5"}` {
		t.Errorf("written %s, %v", text, err)
	}
	for _, text := range []string{
		`{}`, `null`, `"0.5"`, `0.5`, `[]`, `[{"epsilon":"1"}]`, `{"epsilon":0.5}`, `{"epsilon":null}`,
		`{"epsilon":"-1"}`, `{"epsilon":"1","epsilon":"2"}`,
		`{"Epsilon":"1"}`, `{"epsilon":"1","rho":"1"}`, `{"epsilon":"1","rho":"1","delta":"0"}`, `{"rho":"1"}`,
		`{"delta":"0"}`, `{"rho":"1","delta":"2"}`,
		`{"rho":"1","delta":"0","rho":"1"}`, `{"rho":"1","delta":"0","x":"1"}`, `{"epsilon":{"epsilon":"1"}}`,
		`{"epsilon":"1e5"}`, `{"epsilon":["1"]}`,
	} {
		l := pure(t, "7")
		if err := json.Unmarshal([]byte(text), &l); !errors.Is(err, privacy.ErrLoss) || !same(l, pure(t, "7")) {
			t.Errorf("%s: %s, %v", text, l, err)
		}
	}
	for _, text := range []string{``, `{`, `{"epsilon"`, `{"epsilon":"1"`, `{"epsilon":"1"}}`, `{"epsilon":"1"} 1`} {
		// not what package json hands on
		var l privacy.Loss
		if err := l.UnmarshalJSON([]byte(text)); !errors.Is(err, privacy.ErrLoss) {
			t.Errorf("%s: %s, %v", text, l, err)
		}
	}
}

func FuzzLossJSON(f *testing.F) {
	for _, text := range []string{
		`{"epsilon":"0.5"}`, `{"rho":"0.02","delta":"0"}`, `{"epsilon":"1","epsilon":"2"}`,
		`{"rho":"1e9","delta":"0"}`, `{"epsilon":["1"`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var l, back privacy.Loss
		if err := l.UnmarshalJSON([]byte(text)); err != nil {
			if !errors.Is(err, privacy.ErrLoss) || !l.IsZero() {
				t.Fatalf("%q: %s, %v", text, l, err)
			}
			return
		}
		written, err := l.MarshalJSON()
		if err != nil || back.UnmarshalJSON(written) != nil || !same(back, l) {
			t.Fatalf("%q is %s, written %s and read as %s", text, l, written, back)
		}
	})
}
