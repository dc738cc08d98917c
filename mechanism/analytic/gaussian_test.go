package analytic

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
	"dither/privacy"
)

func calibrated(t testing.TB, l2 int64, epsilon, delta string) Gaussian {
	t.Helper()
	m, err := NewGaussian(big.NewInt(l2), mechtest.Epsilon(t, epsilon), mechtest.Delta(t, delta))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func sigmaOf(t testing.TB, m Gaussian) float64 {
	t.Helper()
	dist, err := m.Noise()
	if err != nil {
		t.Fatal(err)
	}
	f, _ := dist.Sigma2().Float64()
	return math.Sqrt(f)
}

// continuousDelta is Balle and Wang's curve, in floats.
func continuousDelta(sensitivity, sigma, epsilon float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(sensitivity/(2*sigma)-epsilon*sigma/sensitivity) - math.Exp(epsilon)*phi(
		-sensitivity/(2*sigma)-epsilon*sigma/sensitivity)
}

// TestAnalyticFigures: the least σ, by mpmath, and beside the classical √(2 ln(1.25/δ))·Δ/ε [Dwork & Roth 2014,
// Theorem 3.22]: at most that wherever it is proved, at ε ≤ 1, and above it at (10, 1e-5), where it is .48448 and
// not private.
func TestAnalyticFigures(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		sigma          float64
	}{
		{"1", "0.00001", 3.7306316348159418},
		{"1", "0.000001", 4.2246788893268353},
		{"10", "0.00001", 0.49988861970900851},
	} {
		if s := sigmaOf(t, calibrated(t, 1, c.epsilon, c.delta)); math.Abs(s-c.sigma) > 1e-14*s {
			t.Errorf("%v: σ = %.17g, want %.17g", c, s, c.sigma)
		}
	}
	classical := func(epsilon, delta float64) float64 { return math.Sqrt(2*math.Log(1.25/delta)) / epsilon }
	for _, epsilon := range []string{"1/100", "1"} {
		for _, delta := range []string{"1/10", "1/1000000"} {
			m := calibrated(t, 1, epsilon, delta)
			e, _ := m.epsilon.Rat().Float64()
			d, _ := m.delta.Rat().Float64()
			s := sigmaOf(t, m)
			if s > classical(e, d) {
				t.Errorf("(%s, %s): σ = %g, the classical %g", epsilon, delta, s, classical(e, d))
			}
			if at := continuousDelta(1, s, e); math.Abs(at-d) > 1e-9*d+1e-15 {
				t.Errorf("(%s, %s): δ = %g at σ = %g", epsilon, delta, at, s)
			}
		}
	}
	if c := classical(10, 1e-5); c > sigmaOf(t, calibrated(t, 1, "10", "0.00001")) ||
		continuousDelta(1, c, 10) <= 1e-5 {
		t.Errorf("the classical σ at (10, 1e-5) is %g, and its δ %g", c, continuousDelta(1, c, 10))
	}
	if one, ten := sigmaOf(t, calibrated(t, 1, "1", "0.001")),
		sigmaOf(t, calibrated(t, 100, "1", "0.001")); math.Abs(ten-10*one) > 1e-14*ten {
		t.Errorf("σ at a sensitivity of 10 is %g, at 1 %g", ten, one)
	}
}

// shiftDelta is the least δ at ε of integer noise and of the same noise moved by a shift: Σ_y max(0, P(y) −
// e^ε·P(y − shift)).
func shiftDelta(dist noise.Distribution, epsilon float64, shift, reach int64) float64 {
	delta := 0.0
	for y := -reach; y <= reach; y++ {
		delta += max(0, dist.Mass(big.NewInt(y))-math.Exp(epsilon)*dist.Mass(big.NewInt(y-shift)))
	}
	return delta
}

// TestAnalyticIsPrivate sums over all integers: what is released keeps δ for each shift up to the sensitivity. The
// discrete Gaussian of the same σ² does not, where σ is small.
func TestAnalyticIsPrivate(t *testing.T) {
	for _, c := range []struct {
		l2             int64
		epsilon, delta string
	}{
		{1, "1", "0.1269367375066440"},
		{1, "1", "0.00001"},
		{1, "10", "0.00001"},
		{1, "1/2", "1/10"},
		{9, "2", "1/1000"},
		{1, "4", "1/1000000"},
	} {
		m := calibrated(t, c.l2, c.epsilon, c.delta)
		out, err := m.Measure(nil)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := m.epsilon.Rat().Float64()
		d, _ := m.delta.Rat().Float64()
		for shift := int64(1); shift*shift <= c.l2; shift++ {
			if at := shiftDelta(out.Noise, e, shift, 200); at > d*(1+1e-9) {
				t.Errorf("%v, shift %d: δ = %.15g", c, shift, at)
			}
		}
	}
	// At σ = 1 and ε = 1: continuous and, its worst event being one of integers, rounded .12694, discrete .14135.
	one := big.NewRat(1, 1)
	rounded, err := noise.NewRoundedGaussian(one)
	if err != nil {
		t.Fatal(err)
	}
	discrete, err := noise.NewDiscreteGaussian(one)
	if err != nil {
		t.Fatal(err)
	}
	r, d := shiftDelta(rounded, 1, 1, 60), shiftDelta(discrete, 1, 1, 60)
	if math.Abs(r-0.12693673750664395) > 1e-13 || math.Abs(d-0.14135133940562) > 1e-13 ||
		math.Abs(continuousDelta(1, 1, 1)-0.12693673750664395) > 1e-13 {
		t.Errorf("rounded %.15g, discrete %.15g, continuous %.15g", r, d, continuousDelta(1, 1, 1))
	}
}

// TestAnalyticIsZCDP sums the Rényi divergence of the released integers at shifts up to the sensitivity: at most αρ,
// for the ρ of the loss.
func TestAnalyticIsZCDP(t *testing.T) {
	for _, c := range []struct {
		l2             int64
		epsilon, delta string
	}{{1, "1", "1/100"}, {4, "3", "1/1000"}, {1, "10", "0.00001"}} {
		out, err := calibrated(t, c.l2, c.epsilon, c.delta).Measure(nil)
		if err != nil {
			t.Fatal(err)
		}
		loss, d := out.Loss.ZCDP()
		rho, _ := loss.Rat().Float64()
		twice := out.Noise.(noise.RoundedGaussian).Sigma2()
		twice.Add(twice, twice)
		if twice.Mul(twice, loss.Rat()).Cmp(big.NewRat(c.l2, 1)) != 0 {
			t.Errorf("%v: ρ = %s", c, loss)
		}
		if !d.IsZero() || out.Loss.Accountant() != privacy.ZCDP {
			t.Errorf("loss %s", out.Loss)
		}
		for shift := int64(1); shift*shift <= c.l2; shift++ {
			for _, alpha := range []float64{1.01, 1.5, 2, 4, 8} {
				sum := 0.0
				for y := int64(-40); y <= 40; y++ {
					p, q := out.Noise.Mass(big.NewInt(y)), out.Noise.Mass(big.NewInt(y-shift))
					if p > 1e-280 && q > 1e-280 {
						sum += p * math.Pow(p/q, alpha-1)
					}
				}
				if divergence := math.Log(sum) / (alpha - 1); divergence > alpha*rho*(1+1e-9)+1e-12 {
					t.Errorf("%v, shift %d: D_%g = %g, αρ = %g", c, shift, alpha, divergence, alpha*rho)
				}
			}
		}
	}
}

// TestAnalyticMeasures: at σ = .5 the rounded and the discrete Gaussian are far apart, with .683 and .787 of 0.
func TestAnalyticMeasures(t *testing.T) {
	m := calibrated(t, 1, "10", "0.00001")
	x := make([]mechanism.Exact, 20_000)
	for i := range x {
		x[i] = mechtest.Exacts(77)[0]
	}
	out, err := m.Measure(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range out.Values {
		v.Sub(v, big.NewInt(77))
	}
	if err := (stattest.KolmogorovIntegers{
		Sample: out.Values, CDF: out.Noise.CDF,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
	if e, d := m.Guarantee(); e.Cmp(mechtest.Epsilon(t, "10")) != 0 || d.Cmp(mechtest.Delta(t, "0.00001")) != 0 {
		t.Errorf("(%s, %s)", e, d)
	}
}

func TestAnalyticRefuses(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 100_000)
	// below 10⁻¹⁰⁰⁰
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 3900)).RatString()
	tinier := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100_000)).RatString()
	one, good := big.NewInt(1), mechtest.Epsilon(t, "1")
	for name, c := range map[string]struct {
		l2      *big.Int
		epsilon privacy.Epsilon
		delta   privacy.Delta
	}{
		"nothing": {}, "nil": {nil, good, mechtest.Delta(t, "0.1")},
		"sensitivity 0": {new(big.Int), good, mechtest.Delta(t, "0.1")},
		"negative":      {big.NewInt(-1), good, mechtest.Delta(t, "0.1")}, "huge": {huge, good, mechtest.Delta(t, "0.1")},
		"ε 0":     {one, mechtest.Epsilon(t, "0"), mechtest.Delta(t, "0.1")},
		"ε large": {one, mechtest.Epsilon(t, "1001"), mechtest.Delta(t, "0.1")},
		"δ 0":     {one, good, mechtest.Delta(t, "0")}, "δ 1": {one, good, mechtest.Delta(t, "1")},
		"δ tiny": {one, good, mechtest.Delta(t, tiny)}, "δ tinier": {one, good, mechtest.Delta(t, tinier)},
	} {
		m, err := NewGaussian(c.l2, c.epsilon, c.delta)
		if !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Measure(mechtest.Exacts(1)); !errors.Is(err, mechanism.ErrParameter) { // the zero value
			t.Errorf("%s: measured all the same, %v", name, err)
		}
		if _, err := m.Noise(); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: noise all the same, %v", name, err)
		}
	}
	small := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200)).RatString()
	for _, m := range []Gaussian{
		calibrated(t, 1, "1000", "0.5"), calibrated(t, 1, small, "0.000001"),
		calibrated(t, math.MaxInt64, "1", "0.000001"),
	} {
		if out, err := m.Measure(mechtest.Exacts(1)); err != nil || len(out.Values) != 1 {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// TestAnalyticIsImmutable: what was given, and what is handed out, may be changed without harm.
func TestAnalyticIsImmutable(t *testing.T) {
	l2 := big.NewInt(4)
	m, err := NewGaussian(l2, mechtest.Epsilon(t, "1"), mechtest.Delta(t, "0.001"))
	if err != nil {
		t.Fatal(err)
	}
	before := sigmaOf(t, m)
	l2.SetInt64(0)
	dist, err := m.Noise()
	if err != nil {
		t.Fatal(err)
	}
	dist.Sigma2().SetInt64(0)
	out, err := m.Measure(nil)
	if err != nil || sigmaOf(t, m) != before || out.Noise.(noise.RoundedGaussian).Sigma2().Cmp(dist.Sigma2()) != 0 {
		t.Errorf("σ was %g and is %g, %v", before, sigmaOf(t, m), err)
	}
}

func BenchmarkNewGaussian(b *testing.B) {
	for b.Loop() {
		calibrated(b, 1, "1", "0.00001")
	}
}

func BenchmarkAnalyticMeasure(b *testing.B) {
	m := calibrated(b, 1, "1", "0.00001")
	for b.Loop() {
		if _, err := m.Measure(mechtest.Exacts(1)); err != nil {
			b.Fatal(err)
		}
	}
}
