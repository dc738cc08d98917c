package noise_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/internal/stattest"
	"dither/noise"
)

func tulap(t testing.TB, epsilon, delta string) noise.Tulap {
	t.Helper()
	d, err := noise.NewTulap(rational(epsilon), rational(delta))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var tulaps = []struct{ epsilon, delta string }{
	{"1/2", "1/10000000"}, {"1", "0"}, {"1", "1/10"}, {"1/10", "1/100"}, {"3", "1/1000"}, {"1/100", "1/5"}, {"1/1000000", "1/10"}, {"2", "9/10"}, {"6", "1/1000000000000"},
}

// TestTulapFigures are of Awan and Slavković's distribution, to seven digits.
func TestTulapFigures(t *testing.T) {
	d := tulap(t, "1/2", "1/10000000")
	for x, want := range map[float64]float64{-1: .3032653, -0.5: .3775406, 0: .5, 0.5: .6224594, 1: .6967347} {
		if f := d.CDF(x); math.Abs(f-want) > 6e-8 {
			t.Errorf("F(%g) = %.9f, want %.7f", x, f, want)
		}
	}
}

// TestTulapCDFAgreesWithItsDefinition computes F of the sum as a mean of discrete Laplace distribution functions,
// P(G₁ − G₂ ≤ ⌊x − u⌋) over u, and conditions it.
func TestTulapCDFAgreesWithItsDefinition(t *testing.T) {
	for _, c := range tulaps {
		d, e := tulap(t, c.epsilon, c.delta), rational(c.epsilon)
		l, delta := laplace(t, new(big.Rat).Inv(e).RatString()), ratOf(rational(c.delta))
		b := math.Exp(-ratOf(e))
		q := 2 * delta * b / (-math.Expm1(-ratOf(e)) + 2*delta*b)
		sum := func(x float64) float64 { // P(G₁ − G₂ ≤ x − u) is a step in u at x − ½ + …: between, a share
			n := math.Floor(x + 0.5)
			share := x + 0.5 - n // of the u, those below share − ½ leave room for n
			return share*l.CDF(big.NewInt(int64(n))) + (1-share)*l.CDF(big.NewInt(int64(n)-1))
		}
		for x := -12.0; x <= 12; x += 0.0625 {
			want := (min(max(sum(x), q/2), 1-q/2) - q/2) / (1 - q)
			if f := d.CDF(x); math.Abs(f-want) > 1e-14/(1-q) {
				t.Errorf("%v: F(%g) = %.15g, want %.15g", c, x, f, want)
			}
		}
	}
}

// TestTulapIsPrivate: P(N ≤ x) − e^ε·P(N ≤ x − 1) is at most δ, for every x, and δ where the support of the
// other begins; and as likelihood ratios are monotone, those are the events that matter.
func TestTulapIsPrivate(t *testing.T) {
	for _, c := range tulaps {
		d, e, delta := tulap(t, c.epsilon, c.delta), ratOf(rational(c.epsilon)), ratOf(rational(c.delta))
		worst := 0.0
		for x := -30.0; x <= 30; x += 0.0117 {
			worst = max(worst, d.CDF(x)-math.Exp(e)*d.CDF(x-1))
		}
		if worst > delta+1e-12 {
			t.Errorf("%v: δ = %.15g", c, worst)
		}
		if delta > 0 {
			end := d.Quantile(0)
			if at := d.CDF(end+1) - math.Exp(e)*d.CDF(end); math.Abs(at-delta) > 1e-12+delta*1e-9 {
				t.Errorf("%v: δ = %.15g at the end of the support, %g", c, at, end)
			}
		}
	}
}

func TestTulapQuantile(t *testing.T) {
	for _, c := range tulaps {
		d := tulap(t, c.epsilon, c.delta)
		for _, p := range []float64{1e-9, 1e-3, 0.05, 0.2, 0.37754, 0.5, 0.6, 0.9, 0.999} {
			if f := d.CDF(d.Quantile(p)); math.Abs(f-p) > 1e-12 {
				t.Errorf("%v: F(%g) = %.15g, want %g", c, d.Quantile(p), f, p)
			}
		}
		if low, high := d.Quantile(0), d.Quantile(1); low != -high || d.CDF(low) > 1e-12 {
			t.Errorf("%v: support from %g to %g, F = %g", c, low, high, d.CDF(low))
		} else if reach := d.Reach(); reach == nil != math.IsInf(high, 1) || reach != nil &&
			(high > ratOf(reach)+1e-6 || high < ratOf(reach)-1-1e-6) {
			t.Errorf("%v: support to %g, reach %v", c, high, reach)
		}
		for _, p := range []float64{-1, 2, math.NaN()} {
			if x := d.Quantile(p); !math.IsNaN(x) {
				t.Errorf("%v: Quantile(%g) = %g", c, p, x)
			}
		}
		if !math.IsNaN(d.CDF(math.NaN())) || d.CDF(math.Inf(-1)) != 0 || d.CDF(math.Inf(1)) != 1 {
			t.Errorf("%v: F at the ends is %g, %g, %g", c, d.CDF(math.NaN()), d.CDF(math.Inf(-1)), d.CDF(math.Inf(1)))
		}
	}
}

// TestTulapDraws has draws follow CDF: their whole distribution, and the fractions alone, which are uniform but for the
// ends.
func TestTulapDraws(t *testing.T) {
	for _, c := range tulaps {
		d := tulap(t, c.epsilon, c.delta)
		sampled, square := make([]float64, 4_000), 0.0
		prepared, source, reach := sample.NewTulap(d.Epsilon(), d.Delta()), entropy.System(), d.Reach()
		for i := range sampled {
			z := new(big.Rat).SetFrac(prepared.Draw(source, new(big.Int)), power(64))
			if i == 0 {
				z = d.Draw()
			}
			if z.Denom().BitLen() > 65 {
				t.Fatalf("%v: drew %s", c, z)
			}
			if reach != nil && new(big.Rat).Abs(z).Cmp(reach) > 0 {
				t.Fatalf("%v: drew %s, beyond %s", c, z, reach)
			}
			sampled[i], _ = z.Float64()
			square += sampled[i] * sampled[i] / float64(len(sampled))
		}
		if err := (stattest.Kolmogorov{Sample: sampled, CDF: d.CDF, FalseAlarm: falseAlarm}).Check(); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		if square > 1.6*d.Variance() { // of a kurtosis of 6 or less: 38 standard deviations
			t.Errorf("%v: mean square %g, variance at most %g", c, square, d.Variance())
		}
		if s := d.StdDev(); s*s > d.Variance()*(1+1e-12) {
			t.Errorf("%v: deviation %g", c, s)
		}
	}
}

// TestTulapVariance compares with the variance at δ = 0 in intervals of 400 bits.
func TestTulapVariance(t *testing.T) {
	const bits = 400
	of := func(r *big.Rat) exact.Interval { return exact.IntervalOf(r, bits) }
	for _, epsilon := range []string{
		"1024", "750", "100", "7", "3", "2", "1", "1/2", "1/3", "1/7", "1/10", "1/100",
		"0.0001", "1/1000000007", new(big.Rat).SetFrac(big.NewInt(1), power(150)).RatString(),
	} {
		b := of(new(big.Rat).Neg(rational(epsilon))).Exp()
		drop := of(big.NewRat(1, 1)).Sub(b)
		variance := of(big.NewRat(2, 1)).Mul(b).Quo(drop.Mul(drop)).Add(of(big.NewRat(1, 12)))
		for name, c := range map[string]struct {
			bound float64
			real  exact.Interval
		}{
			"variance":  {tulap(t, epsilon, "0").Variance(), variance},
			"deviation": {tulap(t, epsilon, "0").StdDev(), variance.Sqrt()},
		} {
			f := new(big.Float).SetFloat64(c.bound)
			if f.Cmp(c.real.Hi()) < 0 {
				t.Errorf("ε = %s: a %s of at most %v, and it is %s", epsilon, name, c.bound, c.real.Lo().Text('g', 20))
			}
			if most := c.real.Lo(); f.Cmp(most.Mul(most, big.NewFloat(1+1e-12))) > 0 {
				t.Errorf("ε = %s: a %s of %v, far above %s", epsilon, name, c.bound, c.real.Hi().Text('g', 20))
			}
		}
		if cut := tulap(t, epsilon, "1/3").Variance(); cut != tulap(t, epsilon, "0").Variance() {
			t.Errorf("ε = %s: a bound of %v where the tails are cut off", epsilon, cut)
		}
	}
}

func TestTulapRefuses(t *testing.T) {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	tiny := new(big.Rat).SetFrac(big.NewInt(1), power(2049))
	for name, c := range map[string][2]*big.Rat{
		"nil ε": {nil, half}, "nil δ": {one, nil}, "ε 0": {new(big.Rat), half}, "δ 1": {one, one},
		"δ negative": {one, big.NewRat(-1, 2)},
		"ε large":    {big.NewRat(1025, 1), half}, "ε tiny": {tiny, half}, "δ tiny": {one, tiny},
	} {
		if _, err := noise.NewTulap(c[0], c[1]); !errors.Is(err, noise.ErrScale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range [][2]string{
		{"1024", "1/3"},
		{"1024", "0"},
		{new(big.Rat).SetFrac(big.NewInt(1), power(200)).RatString(), "1/3"},
		{new(big.Rat).SetFrac(big.NewInt(1), power(200)).RatString(), "0"},
		{"1", new(big.Rat).SetFrac(big.NewInt(1), power(2048)).RatString()},
	} {
		d := tulap(t, c[0], c[1])
		if d.Draw() == nil || math.Abs(d.CDF(d.Quantile(0.25))-0.25) > 1e-9 {
			t.Errorf("%v: F(%g) = %g", c, d.Quantile(0.25), d.CDF(d.Quantile(0.25)))
		}
	}
}
