package privacy_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// sizes draws m·10ᵉ, 1 ≤ m < 10.
func sizes(least, most int) *rapid.Generator[*big.Rat] {
	return rapid.Custom(func(t *rapid.T) *big.Rat {
		exponent := rapid.IntRange(least, most).Draw(t, "exponent")
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil))
		if exponent < 0 {
			scale.Inv(scale)
		}
		return scale.Mul(scale, big.NewRat(rapid.Int64Range(1000, 9999).Draw(t, "m"), 1000))
	})
}

// deltas draws from 1e-300 to 1 − 1e-9.
func deltas() *rapid.Generator[privacy.Delta] {
	return rapid.Custom(func(t *rapid.T) privacy.Delta {
		r := sizes(-300, -2).Draw(t, "δ or 1−δ")
		if r.Cmp(big.NewRat(1, 1e9)) > 0 && rapid.Bool().Draw(t, "near 1") {
			r.Sub(big.NewRat(1, 1), r)
		}
		d, err := privacy.DeltaOf(r)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

func zcdps() *rapid.Generator[privacy.Rho] {
	return rapid.Custom(func(t *rapid.T) privacy.Rho {
		r, err := privacy.RhoOf(sizes(-30, 5).Draw(t, "ρ"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

// TestConversionsAreInverse: there and back never gains, and loses next to nothing.
func TestConversionsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := deltas().Draw(t, "δ")
		e := epsilonOf(t, sizes(-64, 3).Draw(t, "ε"))
		r, err := privacy.RhoFor(e, d)
		if err != nil {
			t.Fatal(err)
		}
		back, err := r.EpsilonAt(d)
		if err != nil || back.Cmp(e) > 0 || over(back.Rat(), e.Rat()) < -1e-15 {
			t.Fatalf("ε = %s at δ = %s is ρ = %s, and back ε = %s, %v", e, d, r, back, err)
		}
		// A larger ρ does not do: RhoFor is the largest but for rounding.
		larger, err := privacy.RhoOf(new(big.Rat).Mul(r.Rat(), big.NewRat(1e15+1, 1e15)))
		if err != nil {
			t.Fatal(err)
		}
		if past, err := larger.EpsilonAt(d); err != nil || past.Cmp(e) <= 0 {
			t.Fatalf("ρ = %s is converted to %s ≤ %s too, %v", larger, past, e, err)
		}
		if again := r.DeltaAt(back); over(again.Rat(), d.Rat()) > 1e-14 {
			t.Fatalf("ρ = %s at ε = %s is δ = %s, above %s", r, back, again, d)
		}
	})
}

// TestConversionsAreMonotone compares arguments at least a part in 10⁹ apart, over the whole ranges.
func TestConversionsAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := zcdps().Draw(t, "ρ"), deltas().Draw(t, "δ")
		e := epsilonOf(t, sizes(-20, 3).Draw(t, "ε"))
		more := big.NewRat(rapid.SampledFrom([]int64{1_000_000_001, 1_100_000_000, 7_000_000_000}).Draw(t, "factor"),
			1_000_000_000)
		r2, _ := privacy.RhoOf(new(big.Rat).Mul(r.Rat(), more))
		e2 := epsilonOf(t, new(big.Rat).Mul(e.Rat(), more))
		d2, err := privacy.DeltaOf(new(big.Rat).Mul(d.Rat(), more))
		if err != nil || d2.String() == "1" {
			d, d2 = d.Share(1, 7), d
		}
		at := func(r privacy.Rho, d privacy.Delta) privacy.Epsilon {
			e, err := r.EpsilonAt(d)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		inverse := func(e privacy.Epsilon, d privacy.Delta) privacy.Rho {
			r, err := privacy.RhoFor(e, d)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		switch {
		case at(r2, d).Cmp(at(r, d)) < 0, at(r, d2).Cmp(at(r, d)) > 0:
			t.Fatal("EpsilonAt")
		case r2.DeltaAt(e).Cmp(r.DeltaAt(e)) < 0, r.DeltaAt(e2).Cmp(r.DeltaAt(e)) > 0:
			t.Fatal("DeltaAt")
		case inverse(e2, d).Cmp(inverse(e, d)) < 0, inverse(e, d2).Cmp(inverse(e, d)) < 0:
			t.Fatal("RhoFor")
		}
	})
}

// TestConversionsBeatTheClassic: never above ρ + 2√(ρ ln 1/δ) [Bun & Steinke 2016, Proposition 1.3].
func TestConversionsBeatTheClassic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := zcdps().Draw(t, "ρ"), deltas().Draw(t, "δ")
		e, err := r.EpsilonAt(d)
		f, _ := r.Rat().Float64()
		got, _ := e.Rat().Float64()
		if classic := f + 2*math.Sqrt(f*-lnRat(d.Rat())); err != nil || got > classic*(1+1e-12) {
			t.Fatalf("ε = %s is above %g, %v", e, classic, err)
		}
	})
}

func TestConversionEdges(t *testing.T) {
	none, certain := privacy.Delta{}, ratDelta(t, "1")
	if e, err := rho(t, "1").EpsilonAt(none); !errors.Is(err, privacy.ErrDelta) || !e.IsZero() {
		t.Errorf("ρ = 1 at δ = 0: %s, %v", e, err)
	}
	if e, err := (privacy.Rho{}).EpsilonAt(none); err != nil || !e.IsZero() {
		t.Errorf("ρ = 0 at δ = 0: %s, %v", e, err)
	}
	if e, err := rho(t, "1").EpsilonAt(certain); err != nil || !e.IsZero() {
		t.Errorf("ρ = 1 at δ = 1: %s, %v", e, err)
	}
	for _, d := range []privacy.Delta{none, certain} {
		if r, err := privacy.RhoFor(epsilon(t, "1"), d); !errors.Is(err, privacy.ErrDelta) || !r.IsZero() {
			t.Errorf("ε = 1 at δ = %s: %s, %v", d, r, err)
		}
	}
	if d := (privacy.Rho{}).DeltaAt(privacy.Epsilon{}); !d.IsZero() {
		t.Errorf("ρ = 0 at ε = 0: %s", d)
	}
	r, err := privacy.RhoFor(privacy.Epsilon{}, delta(t, "0.01"))
	if err != nil || r.IsZero() {
		t.Fatalf("ε = 0 at δ = 0.01: %s, %v", r, err)
	}
	if e, err := r.EpsilonAt(delta(t, "0.01")); err != nil || !e.IsZero() {
		t.Errorf("and back: %s, %v", e, err)
	}
	// What no text of a policy can say, but a rational can: far beyond the floats, and still an answer.
	huge, tiny := mustRat(t, "1e3000"), mustRat(t, "1e-3000")
	for _, x := range []*big.Rat{huge, tiny} {
		r, _ := privacy.RhoOf(x)
		for _, y := range []string{"1e-3000", "0.5", "1e-9"} {
			d := ratDelta(t, y)
			e, err := r.EpsilonAt(d)
			if err != nil || x == huge && e.Rat().Cmp(huge) < 0 {
				t.Errorf("ρ = 1e±3000 at δ = %s: %v", y, err)
			}
			s, err := privacy.RhoFor(epsilonRat(t, x), d)
			if back, _ := s.EpsilonAt(d); err != nil || back.Rat().Cmp(x) > 0 {
				t.Errorf("ε = 1e±3000 at δ = %s: %v", y, err)
			}
			if d := r.DeltaAt(epsilonRat(t, mustRat(t, y))); d.IsZero() || x == huge && d.String() != "1" {
				t.Errorf("ρ = 1e±3000 at ε = %s: δ = %s", y, d)
			}
		}
	}
}
