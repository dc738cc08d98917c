package account_test

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"testing"

	"dither/account"
	"dither/privacy"
)

func calibrate(t testing.TB, mechanism string, target account.Target) account.Calibration {
	t.Helper()
	c, err := account.Calibrate(mechanism, target)
	if err != nil {
		t.Fatalf("%s for %+v: %v", mechanism, target, err)
	}
	return c
}

// Analytic calibration, by mpmath; sensitivity and counts scale it exactly.
func TestCalibrateGaussian(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta, sensitivity string
		count                       int64
		want                        float64
	}{
		{"1", "1e-5", "1", 1, 3.7306316348159418},
		{"1", "1e-6", "1", 1, 4.2246788893268353},
		{"10", "1e-5", "1", 1, 0.49988861970900851},
		{"1", "1e-5", "2.5", 1, 2.5 * 3.7306316348159418},
		{"1", "1e-5", "1/3", 36, 2 * 3.7306316348159418},
		{"1", "1e-5", "1", 1_000_000, 1000 * 3.7306316348159418},
	} {
		p := promise(t, c.epsilon, c.delta)
		got := calibrate(t, "gaussian",
			account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Sensitivity: rat(t, c.sensitivity), Count: c.count})
		if got.Parameter != "sigma" || got.Value < c.want*(1-2e-16) || got.Value > c.want*(1+1e-15) {
			t.Errorf("%v: %+v", c, got)
		}
		checked(t, p, rat(t, c.sensitivity), c.count, got)
	}
}

// checked certifies a Gaussian calibration apart from it: the value fits, as a float and as a decimal, and too little
// does not.
func checked(t *testing.T, p account.Approximate, sensitivity *big.Rat, count int64, c account.Calibration) {
	t.Helper()
	delta := func(sigma *big.Rat) (lower, upper float64) {
		mu2 := new(big.Rat).Quo(sensitivity, sigma)
		mu2.Mul(mu2, mu2)
		return account.GaussianDelta(mu2.Mul(mu2, new(big.Rat).SetInt64(count)), p.Epsilon)
	}
	goal, _ := p.Delta.Rat().Float64()
	for _, sigma := range []*big.Rat{
		new(big.Rat).SetFloat64(c.Value),
		rat(t, strconv.FormatFloat(c.Value, 'g', -1, 64)),
	} {
		if _, upper := delta(sigma); upper > goal {
			t.Errorf("at %s δ is %g, more than %g", sigma.FloatString(20), upper, goal)
		}
	}
	if c.TooLittle == nil {
		t.Fatalf("%+v: nothing is too little", c)
	}
	share, _ := new(big.Rat).Quo(c.TooLittle, new(big.Rat).SetFloat64(c.Value)).Float64()
	if lower, _ := delta(c.TooLittle); lower <= goal || share < 1-2e-6 {
		t.Errorf("at %s, a share of %g, δ is at least %g only", c.TooLittle.FloatString(20), share, lower)
	}
}

func TestCalibrateLaplace(t *testing.T) {
	// Pure: exactly kΔ/ε.
	for _, c := range []struct {
		epsilon, sensitivity string
		count                int64
		want                 string
	}{{"1", "1", 10, "10"}, {"0.1", "3", 1, "30"}, {"3", "1", 1, "1/3"}, {"0.3", "7", 1, "70/3"}} {
		got := calibrate(t, "laplace",
			account.Target{
				Epsilon: promise(t, c.epsilon, "0").Epsilon, Sensitivity: rat(t, c.sensitivity),
				Count: c.count,
			})
		exact, text := new(big.Rat).SetFloat64(got.Value), rat(t, strconv.FormatFloat(got.Value, 'g', -1, 64))
		want, _ := rat(t, c.want).Float64()
		if got.Parameter != "scale" || exact.Cmp(rat(t, c.want)) < 0 || text.Cmp(rat(t, c.want)) < 0 ||
			got.Value > want*(1+1e-15) || got.TooLittle == nil {
			t.Errorf("%v: %+v", c, got)
		}
	}
	// At a δ, one answer of scale b has δ(ε) = 1 − e^((ε−1/b)/2): the least b is 1/(ε − 2·ln(1−δ)).
	p := promise(t, "1", "1e-2")
	got := calibrate(t, "laplace", account.Target{Epsilon: p.Epsilon, Delta: p.Delta})
	if want := 1 / (1 - 2*math.Log1p(-0.01)); got.Value < want || got.Value > want*(1+1e-5) || got.Accountant != "pld" {
		t.Errorf("one answer at δ = 0.01: %+v, want %g", got, want)
	}
	// Many answers need less than basic composition asks for.
	p = promise(t, "1", "1e-6")
	got = calibrate(t, "laplace", account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: 100})
	if got.Value < 41.4 || got.Value > 41.5 || got.TooLittle == nil {
		t.Errorf("100 answers at δ = 1e-6: %+v", got)
	}
}

func TestCalibrateDiscreteGaussian(t *testing.T) {
	p := promise(t, "1", "1e-6")
	one := calibrate(t, "discrete-gaussian", account.Target{Epsilon: p.Epsilon, Delta: p.Delta})
	sigma := new(big.Rat).SetFloat64(one.Value)
	if _, upper := account.DiscreteGaussianDelta(sigma.Mul(sigma, sigma), big.NewInt(1), p.Epsilon); upper > 1e-6 ||
		one.Value < 4.2 || one.Value > 4.24 || one.TooLittle == nil {
		t.Errorf("one answer: %+v, where δ is %g", one, upper)
	}
	// A sensitivity of 3 has no pair: it goes by Rényi's divergence, which is no better than zCDP's.
	three := calibrate(t, "discrete-gaussian",
		account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Sensitivity: rat(t, "3")})
	rho, err := privacy.RhoFor(p.Epsilon, p.Delta)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := rho.Rat().Float64()
	if want := 3 / math.Sqrt(2*r); math.Abs(three.Value/want-1) > 2e-6 || three.TooLittle != nil {
		t.Errorf("sensitivity 3: %+v, want %g", three, want)
	}
}

// Discrete Laplace noise of scale 1/λ on a sensitivity of 1 has two losses, ±λ, with the odds e^λ : 1: k answers
// are randomized response, k times. So δ(ε) is Σ_j C(k,j)·(e^(λj) − e^(ε+λ(k−j)))⁺/(1+e^λ)^k, apart from
// a common part of both distributions.
func TestCalibrateDiscreteLaplace(t *testing.T) {
	delta := func(scale, epsilon float64, k int) float64 {
		l, sum := 1/scale, 0.0
		for j := 0; j <= k; j++ {
			choose, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(k), int64(j))).Float64()
			if loss := l * float64(2*j-k); loss > epsilon {
				sum += choose * math.Exp(l*float64(j)-float64(k)*math.Log1p(math.Exp(l))) * -math.Expm1(epsilon-loss)
			}
		}
		return sum
	}
	for _, c := range []struct {
		epsilon, delta string
		count          int64
	}{{"4", "1e-6", 20}, {"1", "1e-6", 40}, {"0.5", "1e-9", 7}} {
		p := promise(t, c.epsilon, c.delta)
		got := calibrate(t, "discrete-laplace", account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: c.count})
		e, _ := p.Epsilon.Rat().Float64()
		d, _ := p.Delta.Rat().Float64()
		if got.Parameter != "scale" || got.TooLittle == nil || delta(got.Value, e, int(c.count)) > d*(1+1e-9) ||
			delta(got.Value*(1-1e-4), e, int(c.count)) < d {
			t.Errorf("%v: %+v, where δ is %g", c, got, delta(got.Value, e, int(c.count)))
		}
		continuous := calibrate(t, "laplace", account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: c.count})
		if continuous.Value > got.Value {
			t.Errorf("%v: continuous noise of scale %g is more than discrete of %g", c, continuous.Value, got.Value)
		}
	}
	pure := calibrate(t, "discrete-laplace",
		account.Target{Epsilon: promise(t, "0.5", "0").Epsilon, Sensitivity: rat(t, "3"), Count: 2})
	if pure.Value != 12 || pure.Accountant != "basic" || pure.TooLittle == nil {
		t.Errorf("2 answers at a δ of 0: %+v", pure)
	}
}

func TestCalibrateSampled(t *testing.T) {
	if !long {
		t.Skip("slow: DITHER_LONG=1")
	}
	p := promise(t, "1", "1e-5")
	whole := calibrate(t, "gaussian", account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: 3})
	sampled := calibrate(t, "gaussian",
		account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: 3, Sampling: rat(t, "0.1")})
	if sampled.Value >= whole.Value/2 || sampled.TooLittle == nil {
		t.Errorf("all of the data: %+v; a tenth: %+v", whole, sampled)
	}
	j := job(t, "gaussian sampling=0.1 count=3 sigma="+strconv.FormatFloat(sampled.Value, 'g', -1, 64))
	if r, err := j.Delta(p.Epsilon); err != nil || r.PLD.Value > 1e-5*(1+1e-12) {
		t.Errorf("the calibrated job: %+v, %v", r, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	p := promise(t, "1", "1e-6")
	for name, c := range map[string]struct {
		mechanism string
		target    account.Target
	}{
		"a mechanism that is none": {"exponential", account.Target{Epsilon: p.Epsilon, Delta: p.Delta}},
		"no ε":                     {"gaussian", account.Target{Delta: p.Delta}},
		"a huge ε": {
			"gaussian",
			account.Target{Epsilon: promise(t, "1001", "0").Epsilon, Delta: p.Delta},
		},
		"no δ":           {"gaussian", account.Target{Epsilon: p.Epsilon}},
		"no δ, discrete": {"discrete-gaussian", account.Target{Epsilon: p.Epsilon}},
		"a δ of 1":       {"laplace", account.Target{Epsilon: p.Epsilon, Delta: promise(t, "0", "1").Delta}},
		"half a unit, Laplace": {
			"discrete-laplace",
			account.Target{Epsilon: p.Epsilon, Sensitivity: rat(t, "1/2")},
		},
		"a sensitivity of 0": {
			"gaussian",
			account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Sensitivity: new(big.Rat)},
		},
		"half a unit": {
			"discrete-gaussian",
			account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Sensitivity: rat(t, "1/2")},
		},
		"a count below 0": {"gaussian", account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: -1}},
		"a huge count":    {"gaussian", account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: 1e13}},
		"a rate above 1": {
			"gaussian",
			account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Sampling: rat(t, "2")},
		},
	} {
		if got, err := account.Calibrate(c.mechanism, c.target); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Laplace noise on a sample at a δ of 0: kΔ/ε₀ with ε₀ = ln(1 + (e^(ε/k)−1)/q), by mpmath.
func TestCalibrateSampledLaplace(t *testing.T) {
	for _, c := range []struct {
		epsilon, sampling string
		count             int64
		want              float64
	}{
		{"1", "0.1", 1, 0.3447708657060862},
		{"1", "0.1", 30, 3.4259883606862639},
		{"0.01", "1e-6", 1, 0.10851349064177562},
		{"5", "1/2", 1000, 100.24937707426451},
		{"1000", "1e-18", 1, 0.00096020291929219182},
	} {
		target := account.Target{
			Epsilon: promise(t, c.epsilon, "0").Epsilon, Count: c.count,
			Sampling: rat(t, c.sampling),
		}
		got := calibrate(t, "laplace", target)
		if got.Value < c.want*(1-1e-15) || got.Value > c.want*(1+1e-15) || got.Accountant != "basic" ||
			got.TooLittle == nil {
			t.Errorf("%v: %+v", c, got)
		}
		target.Sampling = rat(t, "1")
		whole := calibrate(t, "laplace", target)
		target.Sampling = nil
		if all := calibrate(t, "laplace", target); math.Abs(whole.Value/all.Value-1) > 1e-15 {
			t.Errorf("%v: a sample of all needs %g, all %g", c, whole.Value, all.Value)
		}
	}
}

// Where loss distributions tell nothing of use, the others do; and a δ next to 1 has little room for roundings.
func TestCalibrateWhatIsCertified(t *testing.T) {
	if long {
		p := promise(t, "1", "1e-6")
		many := account.Target{Epsilon: p.Epsilon, Delta: p.Delta, Count: 1e12, Sampling: rat(t, "1/2")}
		got := calibrate(t, "gaussian", many)
		many.Sampling = nil
		if all := calibrate(t, "gaussian", many); got.Value > all.Value || got.Value < all.Value/2 {
			t.Errorf("a half of the data: %+v; all: %+v", got, all)
		}
	}
	mechanisms := []string{"gaussian", "discrete-gaussian"}
	if long {
		mechanisms = append(mechanisms, "laplace")
	}
	for _, mechanism := range mechanisms {
		for _, delta := range []string{"0.999999", "0.9999999999999", "0.3", "1e-300"} {
			p := promise(t, "1", delta)
			got := calibrate(t, mechanism, account.Target{Epsilon: p.Epsilon, Delta: p.Delta})
			if !(got.Value > 0) {
				t.Errorf("%s at δ = %s: %+v", mechanism, delta, got)
			}
		}
	}
}
