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

func staircase(t testing.TB, length, step int64, epsilon string) noise.Staircase {
	t.Helper()
	d, err := noise.NewStaircase(big.NewInt(length), big.NewInt(step), rational(epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var stairs = []struct {
	length, step int64
	epsilon      string
}{{1, 1, "1"}, {2, 1, "1/2"}, {3, 2, "1"}, {10, 4, "0.5"}, {10, 1, "4"}, {10, 10, "1"}, {7, 3, "1/30"}, {50, 5, "10"}}

// TestStaircaseIsPrivate: over all pairs at most Δ apart the largest ratio of masses is exp(ε), and it is one of
// neighbouring stairs.
func TestStaircaseIsPrivate(t *testing.T) {
	for _, c := range stairs {
		d, worst := staircase(t, c.length, c.step, c.epsilon), 0.0
		e, _ := rational(c.epsilon).Float64()
		for x := -4 * c.length; x <= 4*c.length; x++ {
			for y := x - c.length; y <= x+c.length; y++ {
				worst = max(worst, d.Mass(big.NewInt(x))/d.Mass(big.NewInt(y)))
			}
		}
		if !near(worst, math.Exp(e), 1e-12) {
			t.Errorf("%+v: e^ε = %.15g, the largest ratio %.15g", c, math.Exp(e), worst)
		}
		beyond := d.Mass(big.NewInt(0)) / d.Mass(big.NewInt(c.step+c.length))
		if !near(beyond, math.Exp(2*e), 1e-12) {
			t.Errorf("%+v: one more than Δ apart the ratio is %g", c, beyond)
		}
	}
}

// TestStaircaseAgreesWithSums holds all figures against sums of masses.
func TestStaircaseAgreesWithSums(t *testing.T) {
	for _, c := range stairs {
		d := staircase(t, c.length, c.step, c.epsilon)
		e, _ := rational(c.epsilon).Float64()
		reach := int64(40/e+4) * c.length
		total, square, absolute := 0.0, 0.0, 0.0
		sums := map[int64]float64{}
		for x := -reach; x <= reach; x++ {
			m := d.Mass(big.NewInt(x))
			total, square, absolute = total+m, square+float64(x*x)*m, absolute+math.Abs(float64(x))*m
			sums[x] = total
		}
		if !near(total, 1, 1e-12) || !near(d.Variance(), square, 1e-11) || !near(d.MeanAbs(), absolute, 1e-11) ||
			d.StdDev() != math.Sqrt(d.Variance()) {
			t.Errorf("%+v: total %.15g, variance %g (%g), mean %g (%g)",
				c, total, d.Variance(), square, d.MeanAbs(), absolute)
		}
		for x := -3 * c.length; x <= 3*c.length; x++ {
			if f := d.CDF(big.NewInt(x)); !near(f, sums[x], 1e-11) {
				t.Errorf("%+v: CDF(%d) = %g, want %g", c, x, f, sums[x])
			}
			if x < 0 {
				continue
			}
			want := 2 * sums[-x-1]
			if p := d.Tail(big.NewInt(x)); p < want*(1-1e-11) || p > want*(1+1e-11) {
				t.Errorf("%+v: Tail(%d) = %g, want %g", c, x, p, want)
			}
		}
		for _, alpha := range []float64{0.9, 0.5, 0.05, 1e-3, 1e-9, 1e-300, 5e-324} {
			k := d.Quantile(alpha)
			if alpha > 1e-310 && d.Tail(k) > alpha || k.Sign() > 0 &&
				d.Tail(new(big.Int).Sub(k, big.NewInt(1))) <= alpha {
				t.Errorf("%+v: Quantile(%g) = %s is not the least", c, alpha, k)
			}
		}
	}
}

// TestStaircaseTailBounds compares Tail with its formula at some 200 bits.
func TestStaircaseTailBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.Int64Range(1, 1<<40).Draw(t, "Δ")
		step := rapid.Int64Range(1, length).Draw(t, "r")
		epsilon := big.NewRat(rapid.Int64Range(1, 1<<20).Draw(t, "num"), rapid.Int64Range(1<<15, 1<<30).Draw(t, "den"))
		d, err := noise.NewStaircase(big.NewInt(length), big.NewInt(step), epsilon)
		if err != nil {
			t.Fatal(err)
		}
		s := rapid.Int64Range(0, 20).Draw(t, "s")
		j := rapid.Int64Range(0, length-1).Draw(t, "j")
		a := s*length + j - length + step // the (s, j)-th integer
		if a < 1 {
			return
		}
		b := bigExp(epsilon)
		power := wide().SetInt64(1)
		for range s {
			power.Mul(power, b)
		}
		left := wide().Add(wide().SetInt64(length-j), wide().Mul(b, wide().SetInt64(j)))
		divisor := wide().Add(wide().SetInt64(2*step-1), wide().Mul(b, wide().SetInt64(2*(length-step)+1)))
		want := wide().Quo(power.Mul(power, left), divisor)
		want.Mul(want, wide().SetInt64(2))
		got := d.Tail(big.NewInt(a - 1))
		if f, _ := want.Float64(); got < 1 && wide().SetFloat64(got).Cmp(want) < 0 || got > f*(1+1e-12)+1e-321 {
			t.Fatalf("Tail(%d) = %.17g, want %.17g", a-1, got, f)
		}
	})
}

// TestStaircaseOfLengthOne is the discrete Laplace.
func TestStaircaseOfLengthOne(t *testing.T) {
	d, l := staircase(t, 1, 1, "3/10"), laplace(t, "10/3")
	for x := int64(-20); x <= 20; x++ {
		if !near(d.Mass(big.NewInt(x)), l.Mass(big.NewInt(x)), 1e-13) {
			t.Errorf("P(%d) = %g and %g", x, d.Mass(big.NewInt(x)), l.Mass(big.NewInt(x)))
		}
	}
}

// TestStaircaseSteps has every step tried, and the absolute one near Geng and Viswanath's 1/(1 + exp(ε/2)) of the
// length.
func TestStaircaseSteps(t *testing.T) {
	for _, epsilon := range []string{"1/100", "1/2", "1", "2", "4", "10", "30"} {
		for _, length := range []int64{1, 2, 3, 10, 61} {
			absolute, err := noise.AbsoluteStep(big.NewInt(length), rational(epsilon))
			squared, err2 := noise.SquaredStep(big.NewInt(length), rational(epsilon))
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			a, s := staircase(t, length, absolute.Int64(), epsilon), staircase(t, length, squared.Int64(), epsilon)
			for r := int64(1); r <= length; r++ {
				other := staircase(t, length, r, epsilon)
				if other.MeanAbs() < a.MeanAbs()*(1-1e-12) || other.Variance() < s.Variance()*(1-1e-12) {
					t.Errorf("Δ = %d, ε = %s: %d is better than %s or %s", length, epsilon, r, absolute, squared)
				}
			}
			e, _ := rational(epsilon).Float64()
			if near := float64(length) / (1 + math.Exp(e/2)); math.Abs(intOf(absolute)-near) > 1.5 {
				t.Errorf("Δ = %d, ε = %s: step %s, and about %g by the continuous formula",
					length, epsilon, absolute, near)
			}
		}
	}
	r, err := noise.AbsoluteStep(power(150), big.NewRat(3, 1))
	if err != nil || !near(intOf(r), math.Exp2(150)/(1+math.Exp(1.5)), 1e-12) {
		t.Errorf("Δ = 2^150: %s, %v", r, err)
	}
}

func intOf(x *big.Int) float64 { f, _ := new(big.Float).SetInt(x).Float64(); return f }

// TestStaircaseBesideLaplace is E|error| of one integer of sensitivity 10, beside the discrete Laplace of scale 10/ε:
// by mpmath, the least over r of Σ|x|·P(x), and 2p/(1 − p²).
func TestStaircaseBesideLaplace(t *testing.T) {
	for _, c := range []struct {
		epsilon            string
		step               int64
		staircase, laplace float64
	}{
		{"0.5", 5, 19.787271, 19.991669},
		{"1", 4, 9.5858306, 9.9833528},
		{"4", 2, 1.332606, 2.4345571},
		{"10", 1, 0.0049901001, 0.85091813},
	} {
		r, err := noise.AbsoluteStep(big.NewInt(10), rational(c.epsilon))
		if err != nil {
			t.Fatal(err)
		}
		scale := rational(c.epsilon)
		scale.Quo(big.NewRat(10, 1), scale)
		p := math.Exp(-1 / ratOf(scale))
		l := 2 * p / (1 - p*p)
		if s := staircase(t, 10, r.Int64(), c.epsilon).MeanAbs(); r.Int64() != c.step || !near(s, c.staircase, 1e-7) ||
			!near(l, c.laplace, 1e-7) {
			t.Errorf("ε = %s: step %s, %.6g beside %.6g", c.epsilon, r, s, l)
		}
	}
}

func ratOf(x *big.Rat) float64 { f, _ := x.Float64(); return f }

func TestStaircaseDraws(t *testing.T) {
	for _, c := range append(stairs, stairs[0]) {
		d := staircase(t, c.length, c.step, c.epsilon)
		prepared, source := sample.NewStaircase(big.NewInt(c.length), big.NewInt(c.step), rational(c.epsilon)),
			entropy.System()
		const n, k = 10_000, 100
		expected, observed := make([]float64, 2*k+1), make([]int, 2*k+1)
		expected[0], expected[2*k] = d.CDF(big.NewInt(-k)), d.CDF(big.NewInt(-k))
		for x := int64(1 - k); x < k; x++ {
			expected[x+k] = d.Mass(big.NewInt(x))
		}
		z := d.Draw()
		for range n {
			observed[max(-k, min(k, z.Int64()))+k]++
			prepared.Draw(source, z)
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestStaircaseRefuses(t *testing.T) {
	one, e := big.NewInt(1), big.NewRat(1, 2)
	for name, c := range map[string]struct {
		length, step *big.Int
		epsilon      *big.Rat
	}{
		"nil length": {nil, one, e}, "nil step": {one, nil, e}, "nil ε": {one, one, nil},
		"zero":   {new(big.Int), new(big.Int), e},
		"step 0": {one, new(big.Int), e}, "step beyond": {one, big.NewInt(2), e}, "negative": {big.NewInt(-3), one, e},
		"ε 0": {one, one, new(big.Rat)}, "ε negative": {one, one, big.NewRat(-1, 1)},
		"ε large":  {one, one, big.NewRat(1025, 1)},
		"too wide": {power(199), one, big.NewRat(1, 4)}, "too long": {power(5000), one, e},
		"too fine": {one, one, new(big.Rat).SetFrac(one, power(201))},
	} {
		if _, err := noise.NewStaircase(c.length, c.step, c.epsilon); !errors.Is(err, noise.ErrScale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := noise.AbsoluteStep(nil, e); !errors.Is(err, noise.ErrScale) {
		t.Errorf("no length: %v", err)
	}
	if _, err := noise.SquaredStep(one, nil); !errors.Is(err, noise.ErrScale) {
		t.Errorf("no ε: %v", err)
	}
	for _, c := range []struct {
		length  *big.Int
		epsilon *big.Rat
	}{
		{one, big.NewRat(1024, 1)},
		{power(199), big.NewRat(1, 2)},
		{power(200), big.NewRat(1024, 1)},
		{one, new(big.Rat).SetFrac(one, power(200))},
	} {
		r, err := noise.SquaredStep(c.length, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		d, err := noise.NewStaircase(c.length, r, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if v, q := d.Variance(), d.Quantile(1e-9); !(v >= 0 && v < math.Inf(1)) || d.Tail(q) > 1e-9 || d.Draw() == nil {
			t.Errorf("Δ = %s, ε = %s: variance %g, quantile %s", c.length, c.epsilon, v, q)
		}
	}
}
