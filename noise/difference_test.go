package noise_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/noise"
)

// closedForm is (a²e^(−y/a) − c²e^(−y/c))/(a² − c²) to some 200 bits, or (1 + y/(2a))e^(−y/a) where a =
// c.
func closedForm(a, c, y float64) *big.Float {
	rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	part := func(s float64) *big.Float { // s²e^(−y/s)
		if s == 0 {
			return wide()
		}
		e := bigExp(new(big.Rat).Quo(rat(y), rat(s)))
		return e.Mul(e, wide().SetRat(new(big.Rat).Mul(rat(s), rat(s))))
	}
	if a == c {
		e := bigExp(new(big.Rat).Quo(rat(y), rat(a)))
		half := new(big.Rat).Quo(rat(y), rat(2*a))
		return e.Mul(e, wide().SetRat(half.Add(half, big.NewRat(1, 1))))
	}
	square := new(big.Rat).Sub(new(big.Rat).Mul(rat(a), rat(a)), new(big.Rat).Mul(rat(c), rat(c)))
	d := wide().Sub(part(a), part(c))
	return d.Quo(d, wide().SetRat(square))
}

func TestLaplaceDifferenceTailBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "a"), rapid.IntRange(-30, 60).Draw(t, "e"))
		ratio := rapid.OneOf(rapid.Float64Range(0, 1.5),
			rapid.SampledFrom([]float64{0, 1, 1 + 0x1p-52, 1 - 0x1p-53, 1 + 0x1p-40, 1e-9, 1e-3, 1e6})).Draw(t, "c/a")
		c := a * ratio
		y := max(a, c) * rapid.OneOf(rapid.Float64Range(0, 5), rapid.Float64Range(0, 600)).Draw(t, "y")
		got, want := noise.LaplaceDifferenceTail(a, c, y), closedForm(a, c, y)
		if noise.LaplaceDifferenceTail(c, a, y) != got {
			t.Fatal("not symmetric")
		}
		if one := wide().SetInt64(1); want.Cmp(one) > 0 { // by the reference's own cancellation, in its last digits
			want = one
		}
		if got > 1 || wide().SetFloat64(got).Cmp(want) < 0 {
			t.Fatalf("P(|A − C| > %g) at %g, %g: %g is below %s", y, a, c, got, want.Text('g', 20))
		}
		if f, _ := want.Float64(); got > f*(1+1e-12)+1e-321 {
			t.Fatalf("P(|A − C| > %g) at %g, %g: %g is far above %g", y, a, c, got, f)
		}
	})
}

// integral is P(|A − C| > y) = ∫ f_C(z)·P(|A − z| > y) dz, by Simpson's rule between the kinks 0 and ±y: it
// knows nothing of the closed form.
func integral(a, c, y float64) float64 {
	integrand := func(z float64) float64 {
		density := math.Exp(-math.Abs(z)/c) / (2 * c)
		upper := func(x float64) float64 { // P(A > x)
			if x < 0 {
				return 1 - math.Exp(x/a)/2
			}
			return math.Exp(-x/a) / 2
		}
		return density * (upper(y+z) + upper(y-z))
	}
	simpson := func(from, to float64) float64 {
		const n = 20_000
		h := (to - from) / n
		sum := integrand(from) + integrand(to)
		for i := 1; i < n; i++ {
			sum += integrand(from+float64(i)*h) * float64(2+2*(i%2))
		}
		return sum * h / 3
	}
	total := simpson(y, y+60*c)
	if y > 0 {
		total += simpson(0, y)
	}
	return 2 * total
}

func TestLaplaceDifferenceTailIntegrates(t *testing.T) {
	for _, a := range []float64{0.1, 1, 3, 1000} {
		for _, r := range []float64{0.01, 0.5, 0.999999, 1, 1.000001, 2, 50} {
			for _, w := range []float64{0, 0.1, 1, 3, 10} {
				c, y := a*r, w*max(a, a*r)
				got, want := noise.LaplaceDifferenceTail(a, c, y), integral(a, c, y)
				if !near(got, want, 1e-6) {
					t.Errorf("P(|A − C| > %g) at %g, %g: %g, want %g", y, a, c, got, want)
				}
			}
		}
	}
}

func TestLaplaceDifferenceTailEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, pair := range map[string][2]float64{
		"y = 0":          {noise.LaplaceDifferenceTail(2, 1, 0), 1},
		"y < 0":          {noise.LaplaceDifferenceTail(2, 1, -1), 1},
		"y NaN":          {noise.LaplaceDifferenceTail(2, 1, nan), 1},
		"a NaN":          {noise.LaplaceDifferenceTail(nan, 1, 1), 1},
		"c NaN":          {noise.LaplaceDifferenceTail(1, nan, 1), 1},
		"c < 0":          {noise.LaplaceDifferenceTail(1, -1, 100), 1},
		"a infinite":     {noise.LaplaceDifferenceTail(inf, 1, 100), 1},
		"y infinite":     {noise.LaplaceDifferenceTail(3, 1, inf), 0},
		"no noise":       {noise.LaplaceDifferenceTail(0, 0, 1), 0},
		"no noise, at 0": {noise.LaplaceDifferenceTail(0, 0, 0), 0},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %g, want %g", name, pair[0], pair[1])
		}
	}
	for _, args := range [][3]float64{
		{1e-300, 1e-300, 1e300},
		{5e-324, 5e-324, 1},
		{1, 5e-324, 1e6},
		{1e308, 1e308, 1e-308},
		{1e308, 5e-324, 1},
		{5e-324, 5e-324, 5e-324},
	} {
		if p := noise.LaplaceDifferenceTail(args[0], args[1], args[2]); !(p > 0 && p <= 1) {
			t.Errorf("%g: got %g", args, p)
		}
	}
	if p := noise.LaplaceDifferenceTail(1e-300, 1e-300, 1e300); p > 1e-300 {
		t.Errorf("far out: %g", p)
	}
}
