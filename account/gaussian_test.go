package account_test

import (
	"bufio"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"dither/account"
	"dither/privacy"
)

func rational(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return r
}

func epsilonOf(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.EpsilonOf(rational(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func deltaOf(t testing.TB, text string) privacy.Delta {
	t.Helper()
	d, err := privacy.DeltaOf(rational(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// unhurried reports that time is no matter.
func unhurried() bool { return os.Getenv("DITHER_LONG") == "1" }

// cases are where parameters are drawn from, always the same, and how many to try.
func cases() (random *rand.Rand, count int) {
	if unhurried() {
		return rand.New(rand.NewPCG(3, 4)), 1000
	}
	return rand.New(rand.NewPCG(1, 2)), 15
}

// vectors calls check with the fields of each line of a file of test vectors, of every sixth where it is not to be
// long, and counts the lines.
func vectors(t *testing.T, name string, check func(f []string)) int {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for ; lines.Scan(); n++ {
		if n%6 == 0 || unhurried() {
			check(strings.Split(lines.Text(), "\t"))
		}
	}
	return n
}

// between checks that the floats enclose a real number and are within so many floats of one another.
func between(t testing.TB, what string, lower, upper float64, want *big.Rat, floats int) {
	t.Helper()
	if !math.IsInf(upper, 1) && new(big.Rat).SetFloat64(upper).Cmp(want) < 0 ||
		new(big.Rat).SetFloat64(lower).Cmp(want) > 0 {
		near, _ := want.Float64()
		t.Errorf("%s: [%v, %v] does not hold %v", what, lower, upper, near)
	}
	for f := lower; f < upper; f = math.Nextafter(f, upper) {
		if floats--; floats < 0 {
			t.Errorf("%s: [%v, %v] is too wide", what, lower, upper)
			return
		}
	}
}

// TestGaussianAgainstMPMath compares with testdata/gaussian.py, which evaluates the theorem as it is printed.
func TestGaussianAgainstMPMath(t *testing.T) {
	n := vectors(t, "gaussian.tsv", func(f []string) {
		want := rational(t, f[3])
		switch what := strings.Join(f[:3], " "); f[0] {
		case "delta":
			lower, upper := account.GaussianDelta(rational(t, f[1]), epsilonOf(t, f[2]))
			between(t, what, lower, upper, want, 1)
		case "epsilon":
			lower, upper := account.GaussianEpsilon(rational(t, f[1]), deltaOf(t, f[2]))
			between(t, what, lower, upper, want, 3)
		case "sigma2":
			got, err := account.GaussianSigma2(big.NewInt(1), epsilonOf(t, f[1]), deltaOf(t, f[2]))
			if err != nil {
				t.Fatal(what, err)
			}
			over := new(big.Rat).Sub(got, want)
			if over.Quo(over, want); over.Sign() < 0 || over.Cmp(big.NewRat(1, 1e15)) > 0 {
				t.Errorf("%s: σ² = %s", what, got.FloatString(20))
			}
		}
	})
	if n != 132 {
		t.Errorf("%d vectors", n)
	}
}

// TestGaussianFigures are values in print: the first two of the tests of Google's differential privacy library, the
// second at ε = ln 3.
func TestGaussianFigures(t *testing.T) {
	for _, c := range []struct {
		mu2, epsilon string
		delta        float64
	}{
		{"0.01", "0.1", 0.008751768145809594},
		{"0.25", "1.0986122886681096913952452369225", 0.0041597422340007868},
		{"1", "1", 0.12693673750664395},
	} {
		lower, upper := account.GaussianDelta(rational(t, c.mu2), epsilonOf(t, c.epsilon))
		if math.Abs(lower-c.delta) > 3e-16*c.delta || math.Abs(upper-c.delta) > 3e-16*c.delta {
			t.Errorf("μ² = %s, ε = %s: δ in [%v, %v]", c.mu2, c.epsilon, lower, upper)
		}
	}
	for _, c := range []struct {
		epsilon, delta string
		sigma          float64
	}{{"1", "1e-5", 3.7306316348159418}, {"1", "1e-6", 4.2246788893268353}, {"10", "1e-5", 0.49988861970900851}} {
		sigma2, err := account.GaussianSigma2(big.NewInt(1), epsilonOf(t, c.epsilon), deltaOf(t, c.delta))
		if err != nil {
			t.Fatal(err)
		}
		f, _ := sigma2.Float64()
		if math.Abs(math.Sqrt(f)-c.sigma) > 4e-16*c.sigma {
			t.Errorf("(%s, %s): σ = %v, want %v", c.epsilon, c.delta, math.Sqrt(f), c.sigma)
		}
	}
	if lower, upper := account.GaussianEpsilon(big.NewRat(1, 1),
		deltaOf(t, "1e-5")); math.Abs(lower-4.3771780956812246) > 1e-15 || upper-lower > 2e-15 {
		t.Errorf("ε in [%v, %v]", lower, upper)
	}
}

// TestGaussianSigma2IsCertifiedAndLeast takes what is calibrated back through the curve: its δ is at most the one
// asked for, and with one digit less of noise it is above.
func TestGaussianSigma2IsCertifiedAndLeast(t *testing.T) {
	random, count := cases()
	for range count {
		e, _ := privacy.EpsilonOf(big.NewRat(random.Int64N(1e6), 1e4))
		d, _ := privacy.DeltaOf(big.NewRat(1+random.Int64N(1e9-1), int64(math.Pow10(9+random.IntN(10)))))
		l2 := big.NewInt(1 + random.Int64N(math.MaxInt64))
		sigma2, err := account.GaussianSigma2(l2, e, d)
		if err != nil {
			t.Fatal(err)
		}
		aim := d.Rat()
		if _, upper := account.GaussianDelta(new(big.Rat).Quo(new(big.Rat).SetInt(l2), sigma2),
			e); new(big.Rat).SetFloat64(math.Nextafter(upper, 0)).Cmp(aim) > 0 {
			t.Fatalf("σ² = %s: δ is up to %g", sigma2, upper)
		}
		less := new(big.Rat).Mul(sigma2, big.NewRat(1e15-2, 1e15))
		if lower, _ := account.GaussianDelta(new(big.Rat).Quo(new(big.Rat).SetInt(l2), less),
			e); new(big.Rat).SetFloat64(math.Nextafter(lower, 1)).Cmp(aim) < 0 {
			t.Fatalf("σ² = %s: δ is only %g at less", sigma2, lower)
		}
	}
}

// nearOne is 1 − 10^−digits.
func nearOne(digits int) string { return "0." + strings.Repeat("9", digits) }

// TestGaussianExtremes are the ends of every parameter: certified, or refused, and in bounded time.
func TestGaussianExtremes(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		mu2, epsilon string
		low, high    float64 // within which both bounds lie
	}{
		{"0", "0", 0, 0},
		{"1", "1000000", 0, 5e-324},
		{"2000000", "1000000", 0.499, 0.5},
		{"1e-300", "0", 3.98e-151, 3.99e-151},
		{"1e-700", "0", 0, 5e-324},
		{"1e300", "5", math.Nextafter(1, 0), 1},
		{"1e300", "1e305", 0, 5e-324},
	} {
		lower, upper := account.GaussianDelta(rational(t, c.mu2), epsilonOf(t, c.epsilon))
		if lower < c.low || upper > c.high || lower > upper {
			t.Errorf("μ² = %s, ε = %s: δ in [%v, %v]", c.mu2, c.epsilon, lower, upper)
		}
	}
	for _, c := range []struct {
		mu2, delta string
		low, high  float64
	}{
		{"0", "0", 0, 0},
		{"1", "0", inf, inf},
		{"1", "1", 0, 0},
		{"1", "0.39", 0, 0},
		{"1", "1e-300", 37.4, 37.5},
		{"1", "1e-2000", 68.2, 96.5},
		{"1e300", "1e-5", 4.99e299, 5.01e299},
		{"1e700", "1e-3", math.MaxFloat64, inf},
		{"1", nearOne(100), 0, 0},
		{"1e300", nearOne(100), 0, 1e300}, // sound, and at once: no float tells it
	} {
		lower, upper := account.GaussianEpsilon(rational(t, c.mu2), deltaOf(t, c.delta))
		if lower < c.low || upper > c.high || lower > upper {
			t.Errorf("μ² = %s, δ = %s: ε in [%v, %v]", c.mu2, c.delta, lower, upper)
		}
	}
	for _, c := range []struct {
		l2             *big.Int
		epsilon, delta string
		want           error
	}{
		{nil, "1", "1e-5", privacy.ErrSensitivity},
		{new(big.Int), "1", "1e-5", privacy.ErrSensitivity},
		{big.NewInt(-1), "1", "1e-5", privacy.ErrSensitivity},
		{big.NewInt(1), "0", "0", privacy.ErrDelta},
		{big.NewInt(1), "1", "1", privacy.ErrDelta},
		{big.NewInt(1), "1", "1e-1001", privacy.ErrDelta},
		{big.NewInt(1), "1000000", "1e-300", nil},
		{new(big.Int).Lsh(big.NewInt(1), 400), "1e-9", "1e-30", nil},
		{big.NewInt(1), "1", "0.99999999999999999999", nil},
		{big.NewInt(1), "0", "0.99999999999999999999", nil},
		{big.NewInt(1), "1e-300", "0.99999999999999999999", nil},
		{big.NewInt(1), "1000000", "0.99999999999999999999", nil},
		{big.NewInt(1), "1", "0.999999999999999999991", privacy.ErrDelta},
		{big.NewInt(1), "1", nearOne(50), privacy.ErrDelta},
		{big.NewInt(1), "1", nearOne(100), privacy.ErrDelta},
		{big.NewInt(1), "1", nearOne(1000), privacy.ErrDelta},
	} {
		if _, err := account.GaussianSigma2(c.l2, epsilonOf(t, c.epsilon),
			deltaOf(t, c.delta)); !errors.Is(err, c.want) {
			t.Errorf("Δ² = %v, ε = %s, δ = %s: %v", c.l2, c.epsilon, c.delta, err)
		}
	}
	if lower, upper := account.GaussianDelta(nil, privacy.Epsilon{}); lower != 0 || upper != 1 {
		t.Error("nil promises something")
	}
	if lower, upper := account.GaussianEpsilon(big.NewRat(-1, 1), deltaOf(t, "0.1")); lower != 0 || upper != inf {
		t.Error("a negative μ² promises something")
	}
}

func BenchmarkGaussian(b *testing.B) {
	e, d := epsilonOf(b, "1"), deltaOf(b, "1e-6")
	b.Run("delta", func(b *testing.B) {
		for b.Loop() {
			account.GaussianDelta(big.NewRat(1, 4), e)
		}
	})
	b.Run("epsilon", func(b *testing.B) {
		for b.Loop() {
			account.GaussianEpsilon(big.NewRat(1, 4), d)
		}
	})
	b.Run("sigma2", func(b *testing.B) {
		for b.Loop() {
			if _, err := account.GaussianSigma2(big.NewInt(1), e, d); err != nil {
				b.Fatal(err)
			}
		}
	})
}
