package noise_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
	"dither/noise"
)

const precision = 300

func wide() *big.Float { return new(big.Float).SetPrec(precision) }

// bigExp is e^(−r) for r ≥ 0 to some 250 bits, by Taylor's series at r/2⁶⁴ and squarings; 0 if it is below
// e^(−10⁶).
func bigExp(r *big.Rat) *big.Float {
	if r.Cmp(big.NewRat(1_000_000, 1)) > 0 {
		return wide()
	}
	y := wide().SetPrec(precision + 100).SetRat(r)
	y.Neg(y).SetMantExp(y, -64)
	sum, term := wide().SetPrec(precision+100).SetInt64(1), wide().SetPrec(precision+100).SetInt64(1)
	for k := int64(1); k < 12; k++ {
		term.Mul(term, y)
		term.Quo(term, wide().SetInt64(k))
		sum.Add(sum, term)
	}
	for range 64 {
		sum.Mul(sum, sum)
	}
	return sum
}

// realTail is P(|X| > k) = 2p^(k+1)/(1 + p).
func realTail(scale *big.Rat, k *big.Int) *big.Float {
	rate := new(big.Rat).Inv(scale)
	exponent := new(big.Rat).SetInt(new(big.Int).Add(k, big.NewInt(1)))
	tail := bigExp(exponent.Mul(exponent, rate))
	tail.Mul(tail, wide().SetInt64(2))
	return tail.Quo(tail, wide().Add(wide().SetInt64(1), bigExp(rate)))
}

// scales draws fractions from 1/500 to 2¹⁰⁰.
func scales() *rapid.Generator[*big.Rat] {
	return rapid.Custom(func(t *rapid.T) *big.Rat {
		numerator := new(big.Int).Lsh(big.NewInt(rapid.Int64Range(1, 1<<20).Draw(t, "numerator")),
			rapid.UintRange(0, 80).Draw(t, "shift"))
		r := new(big.Rat).SetFrac(numerator, big.NewInt(rapid.Int64Range(1, 500).Draw(t, "denominator")))
		return r
	})
}

func mustLaplace(t *rapid.T, scale *big.Rat) noise.DiscreteLaplace {
	d, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTailIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := scales().Draw(t, "scale")
		widths := rapid.Float64Range(0, 700).Draw(t, "widths")
		k := exact.FloorRat(new(big.Rat).Mul(scale, new(big.Rat).SetFloat64(widths)))
		got := mustLaplace(t, scale).Tail(k)
		want := realTail(scale, k)
		if wide().SetFloat64(got).Cmp(want) < 0 {
			t.Fatalf("Tail(%s) at %s = %g is below %s", k, scale, got, want.Text('g', 20))
		}
		if f, _ := want.Float64(); got > f*(1+1e-12)+1e-321 {
			t.Fatalf("Tail(%s) at %s = %g is far above %g", k, scale, got, f)
		}
	})
	d := laplace(t, "2")
	if d.Tail(big.NewInt(-1)) != 1 || d.Tail(big.NewInt(-100)) != 1 {
		t.Error("below 0")
	}
	if tail := d.Tail(new(big.Int).Lsh(big.NewInt(1), 300)); !(tail > 0 && tail < 1e-300) {
		t.Errorf("far out: %g", tail)
	}
}

func TestQuantileIsCertifiedAndLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := scales().Draw(t, "scale")
		alpha := rapid.OneOf(rapid.Float64Range(1e-9, 1),
			rapid.SampledFrom([]float64{0.05, 0.01, 0.1, 0.5, 1e-300, 5e-324, 1 - 0x1p-53, 0.999999})).Draw(t, "alpha")
		k := mustLaplace(t, scale).Quantile(alpha)
		if k.Sign() < 0 || realTail(scale, k).Cmp(wide().SetFloat64(alpha)) > 0 {
			t.Fatalf("P(|X| > %s) = %s is beyond %g at scale %s", k, realTail(scale, k).Text('g', 20), alpha, scale)
		}
		less := new(big.Int).Sub(k, big.NewInt(1))
		if less.Sign() < 0 {
			return
		}
		if tail := realTail(scale, less); tail.Mul(tail,
			wide().SetFloat64(1+2e-12)).Cmp(wide().SetFloat64(alpha)) <= 0 {
			t.Fatalf("at scale %s and %g %s would do for %s", scale, alpha, less, k)
		}
	})
}

func TestQuantileValues(t *testing.T) {
	for _, c := range []struct {
		scale string
		alpha float64
		want  int64
	}{
		{"1", 1, 0},
		{"1", 2, 0},
		{"1", 0.6, 0},
		{"0.05", 0.05, 0},
		{"0.05", 1e-9, 1},
		{"100", 0.05, 300},
		{"10", 0.05, 30},
		{"1", 0.05, 3}, // P(|X| > 2) = .0728, P(|X| > 3) = .0268
		{"1", 0.5378, 1},
		{"1", 0.5379, 0}, // P(|X| > 0) = 2/(1 + e) = .53788…
	} {
		if k := laplace(t, c.scale).Quantile(c.alpha); k.Int64() != c.want {
			t.Errorf("scale %s, α = %g: got %s, want %d", c.scale, c.alpha, k, c.want)
		}
	}
	for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		if k := laplace(t, "1").Quantile(alpha); k != nil {
			t.Errorf("α = %g: got %s", alpha, k)
		}
	}
}
