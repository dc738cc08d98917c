package noise_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
	"dither/noise"
)

func gaussian(t testing.TB, sigma2 *big.Rat) noise.DiscreteGaussian {
	t.Helper()
	d, err := noise.NewDiscreteGaussian(sigma2)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// reference holds the masses of a discrete Gaussian to some 250 bits: f(x + 1) = f(x)·step(x), step(x + 1) =
// step(x)·e^(−1/σ²).
type reference struct {
	tails    []*big.Float // P(|X| > k)
	masses   []*big.Float // P(X = x), x ≥ 0
	variance *big.Float
}

func newReference(sigma2 *big.Rat, terms int) reference {
	rate := new(big.Rat).Inv(sigma2)
	ratio, step := bigExp(rate), bigExp(rate.Quo(rate, big.NewRat(2, 1)))
	r := reference{variance: wide()}
	f, total := wide().SetInt64(1), wide().SetInt64(-1)
	for x := range terms {
		r.masses = append(r.masses, f)
		total.Add(total, wide().Mul(f, wide().SetInt64(2)))
		square := wide().Mul(f, wide().SetInt64(2*int64(x)*int64(x)))
		r.variance.Add(r.variance, square)
		f = wide().Mul(f, step)
		step = wide().Mul(step, ratio)
	}
	r.variance.Quo(r.variance, total)
	inverse := wide().Quo(wide().SetInt64(1), total)
	r.tails = make([]*big.Float, terms)
	tail := wide()
	for x := terms - 1; x >= 0; x-- {
		r.masses[x].Mul(r.masses[x], inverse)
		r.tails[x] = wide().Set(tail)
		tail.Add(tail, wide().Mul(r.masses[x], wide().SetInt64(2)))
	}
	return r
}

// sigma2s draws fractions from 1/1000 to 2¹⁸.
func sigma2s() *rapid.Generator[*big.Rat] {
	return rapid.Custom(func(t *rapid.T) *big.Rat {
		f := math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "fraction"), rapid.IntRange(-10, 17).Draw(t, "exponent"))
		return new(big.Rat).SetFloat64(f)
	})
}

func TestGaussianAgreesWithSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma2 := rapid.OneOf(sigma2s(),
			rapid.SampledFrom([]*big.Rat{
				big.NewRat(1, 1), big.NewRat(1, 1000), big.NewRat(999, 1000),
				big.NewRat(1<<16, 1), big.NewRat(1<<16+1, 1),
			})).Draw(t, "σ²")
		d, err := noise.NewDiscreteGaussian(sigma2)
		if err != nil {
			t.Fatal(err)
		}
		s2, _ := sigma2.Float64()
		terms := int(45*math.Sqrt(s2)) + 45
		r := newReference(sigma2, terms)
		// σ² itself is the variance but for less than the reference's digits from σ = 6 on
		if v, _ := r.variance.Float64(); !(d.Variance() <= v*(1+2e-12)+3e-320) || d.Variance() < v*(1-1e-15) ||
			d.Variance() > s2 {
			t.Fatalf("variance %g, want %g", d.Variance(), v)
		}
		if d.StdDev()*d.StdDev() < d.Variance()*(1-1e-15) {
			t.Fatalf("deviation %g", d.StdDev())
		}
		for range 20 {
			k := rapid.IntRange(0, int(38*math.Sqrt(s2))+2).Draw(t, "k")
			x, z := big.NewInt(int64(k)), float64(k)/math.Sqrt(s2)
			share := 2e-12
			if s2 > 1<<16 {
				share += (z*z + 2) / 24 / s2
			}
			got := d.Tail(x)
			want, _ := r.tails[k].Float64()
			if wide().SetFloat64(got).Cmp(r.tails[k]) < 0 || got > want*(1+share)+3e-320 {
				t.Fatalf("Tail(%d) = %g, want %g", k, got, want)
			}
			if mass, _ := r.masses[k].Float64(); math.Abs(d.Mass(x)-mass) > mass*1e-12+1e-320 ||
				d.Mass(x) != d.Mass(new(big.Int).Neg(x)) {
				t.Fatalf("Mass(%d) = %g, want %g", k, d.Mass(x), mass)
			}
			tolerance := 1e-12
			if z > 10 {
				tolerance = 1e-9
			}
			upper := want / 2
			if f := d.CDF(new(big.Int).Not(x)); !near(f, upper, tolerance) && math.Abs(f-upper) > 1e-319 { // −k − 1
				t.Fatalf("CDF(%d) = %g, want %g", -k-1, f, upper)
			}
			if f := d.CDF(x); !near(f, 1-upper, 1e-12) {
				t.Fatalf("CDF(%d) = %g, want %g", k, f, 1-upper)
			}
		}
		alpha := rapid.OneOf(rapid.Float64Range(1e-9, 1),
			rapid.SampledFrom([]float64{0.05, 0.01, 0.5, 1e-300, 5e-324, 1 - 0x1p-53})).Draw(t, "alpha")
		k := int(d.Quantile(alpha).Int64())
		if r.tails[k].Cmp(wide().SetFloat64(alpha)) > 0 {
			t.Fatalf("P(|X| > %d) = %s is beyond %g", k, r.tails[k].Text('g', 20), alpha)
		}
		if k > 0 && alpha > 1e-310 { // below, the floats give out, and the subgaussian bound holds
			less, _ := r.tails[k-1].Float64()
			if less*(1+2e-12+1500/24/max(s2, 1<<16)) <= alpha {
				t.Fatalf("%d would do for %d: %g, %g", k-1, k, less, alpha)
			}
		}
	})
}

// TestGaussianPrivacyFigure computes δ(ε) = Σ_x max(0, P(x) − e^ε·P(x − 1)) at σ² = 1, ε = 1 from the
// masses.
func TestGaussianPrivacyFigure(t *testing.T) {
	d := gaussian(t, big.NewRat(1, 1))
	delta := 0.0
	for x := int64(-60); x <= 60; x++ {
		delta += max(0, d.Mass(big.NewInt(x))-math.E*d.Mass(big.NewInt(x-1)))
	}
	if math.Abs(delta-0.14135133940562) > 1e-13 {
		t.Errorf("δ(1) = %.15g", delta)
	}
}

func TestGaussianQuantileValues(t *testing.T) {
	// P(|X| > 1) = 1 − (1 + 2e^(−½))/Z = .1171…, P(|X| > 2) = .0091… at σ² = 1
	for _, c := range []struct {
		sigma2 string
		alpha  float64
		want   int64
	}{
		{"1", 0.05, 2},
		{"1", 0.118, 1},
		{"1", 0.117, 2},
		{"1", 1, 0},
		{"1", 0.602, 0},
		{"1", 0.601, 1},
		{"1/1000", 1e-9, 0},
		{"1/1000", 1e-300, 1},
		{"100", 0.05, 20},
		{"65537", 0.05, 502},
	} {
		if k := gaussian(t, rational(c.sigma2)).Quantile(c.alpha); k.Int64() != c.want {
			t.Errorf("σ² = %s, α = %g: got %s, want %d", c.sigma2, c.alpha, k, c.want)
		}
	}
	for _, alpha := range []float64{0, -1, math.NaN()} {
		if k := gaussian(t, big.NewRat(1, 1)).Quantile(alpha); k != nil {
			t.Errorf("α = %g: got %s", alpha, k)
		}
	}
	for n := uint(17); n <= 400; n++ { // the normal quantile, where the integers are fine
		d := gaussian(t, new(big.Rat).SetInt(power(n)))
		k, _ := new(big.Float).SetInt(d.Quantile(0.05)).Float64()
		if z := k / math.Exp2(float64(n)/2); math.Abs(z-1.959963984540054) > 1/math.Exp2(float64(n)/2)+1e-11 {
			t.Errorf("2^%d: %g", n, z)
		}
		if !near(d.Variance(), math.Exp2(float64(n)), 2e-12) || d.Variance() > math.Exp2(float64(n)) {
			t.Errorf("2^%d: variance %g", n, d.Variance())
		}
		half, _ := new(big.Float).SetInt(new(big.Int).Rsh(power(n), n/2)).Int(nil)
		if m := d.Mass(half); !(m > 0 && m < 1) {
			t.Errorf("2^%d: mass %g", n, m)
		}
	}
}

func TestGaussianRefuses(t *testing.T) {
	tooFine := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Add(power(2048), big.NewInt(1)))
	tooWide := new(big.Rat).SetFrac(new(big.Int).Add(power(401), big.NewInt(1)), big.NewInt(2))
	for name, sigma2 := range map[string]*big.Rat{
		"nil": nil, "0": new(big.Rat), "negative": big.NewRat(-1, 2),
		"too fine": tooFine, "too wide": tooWide,
	} {
		if _, err := noise.NewDiscreteGaussian(sigma2); !errors.Is(err, noise.ErrScale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := gaussian(t, new(big.Rat).SetFrac(big.NewInt(1), power(2048)))
	zero, one := new(big.Int), big.NewInt(1)
	if d.Mass(zero) != 1 || d.Mass(one) != 0 || d.CDF(zero) != 1 || d.CDF(big.NewInt(-1)) != 0 ||
		d.Variance() > 1e-319 || d.Quantile(0.05).Sign() != 0 || d.Draw().Sign() != 0 {
		t.Error("the least σ² is not a point")
	}
	if tail := d.Tail(zero); !(tail > 0 && tail < 1e-319) || d.Tail(big.NewInt(-1)) != 1 {
		t.Errorf("the least σ²: tail %g", tail)
	}
	for _, n := range []uint{0, 30} {
		d = gaussian(t, new(big.Rat).SetInt(power(n)))
		if tail := d.Tail(power(500)); !(tail > 0 && tail < 1e-319) {
			t.Errorf("far out: %g", tail)
		}
	}
	given := big.NewRat(5, 2)
	d = gaussian(t, given)
	given.SetInt64(7)
	d.Sigma2().SetInt64(9)
	if d.Sigma2().Cmp(big.NewRat(5, 2)) != 0 {
		t.Errorf("σ² became %s", d.Sigma2())
	}
}

// TestGaussianDraws has draws follow CDF, and their tails Tail and Quantile.
func TestGaussianDraws(t *testing.T) {
	for _, text := range []string{
		"1/1000", "1/4", "1", "7/3", "12345.678", "65536", "65537", "4294967296",
		"1237940039285380274899124224",
	} {
		sigma2 := rational(text)
		d, prepared, source := gaussian(t, sigma2), sample.NewGaussian(sigma2), entropy.System()
		sampled := make([]*big.Int, 100_000)
		for i := range sampled {
			sampled[i] = new(big.Int)
		}
		prepared.Fill(source, sampled[1:])
		sampled[0] = d.Draw()
		if err := (stattest.KolmogorovIntegers{
			Sample: sampled, CDF: d.CDF,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Errorf("σ² = %s: %v", text, err)
		}
		outside := func(k *big.Int) int {
			n := 0
			for _, x := range sampled {
				if x.CmpAbs(k) > 0 {
					n++
				}
			}
			return n
		}
		root := new(big.Int).Sqrt(new(big.Int).Quo(sigma2.Num(), sigma2.Denom()))
		for deviations := range int64(5) { // within a share of 1e-4 at σ = 256 and 4σ, which no such sample sees
			k := new(big.Int).Mul(root, big.NewInt(deviations))
			of := stattest.Binomial{Trials: len(sampled), Probability: d.Tail(k)}
			if err := (stattest.Proportion{Successes: outside(k), Of: of, FalseAlarm: falseAlarm}).Check(); err != nil {
				t.Errorf("σ² = %s: beyond %dσ: %v", text, deviations, err)
			}
		}
		of := stattest.Binomial{Trials: len(sampled), Probability: 0.95}
		if err := (stattest.Proportion{
			Successes: len(sampled) - outside(d.Quantile(0.05)), Of: of,
			FalseAlarm: falseAlarm,
		}).CheckAtLeast(); err != nil {
			t.Errorf("σ² = %s: %v", text, err)
		}
	}
}

func BenchmarkGaussianQuantile(b *testing.B) {
	for _, text := range []string{"1", "65536", "65537", "1237940039285380274899124224"} {
		d := gaussian(b, rational(text))
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				d.Quantile(0.05)
			}
		})
	}
}
