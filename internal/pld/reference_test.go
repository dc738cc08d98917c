package pld_test

import (
	"math/big"
	"os"
	"testing"

	"dither/internal/pld"
)

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

// pair unwraps the result of a constructor.
func pair(t testing.TB) func(pld.Pair, error) pld.Pair {
	return func(p pld.Pair, err error) pld.Pair {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func compose(t testing.TB, steps ...pld.Step) *pld.Composition {
	t.Helper()
	c, err := pld.Compose(steps)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encloses checks that the bounds hold the truth, known to a share of 10⁻¹⁵, and are within a share of it.
func encloses(t testing.TB, name string, truth, lower, upper, share float64) {
	t.Helper()
	if !(lower <= truth*(1+1e-15) && truth*(1-1e-15) <= upper) {
		t.Errorf("%s: [%.17g, %.17g] does not hold %.17g", name, lower, upper, truth)
	}
	if !(upper-lower <= share*truth) {
		t.Errorf("%s: [%.17g, %.17g] about %.17g is wider than a share of %g", name, lower, upper, truth, share)
	}
}

func long(t testing.TB) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("long: set DITHER_LONG=1")
	}
}

// TestGaussian compares with ε of δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) [Balle & Wang 2018,
// Theorem 8], by mpmath at 60 digits.
func TestGaussian(t *testing.T) {
	for _, c := range []struct {
		sigma          string
		delta, epsilon float64
	}{
		{".02", 1e-3, 1403.5414143388965},
		{".02", 1e-6, 1486.7160414940151},
		{".02", 1e-12, 1600.7886583055774},
		{".02", 1e-30, 1822.3009773353423},
		{".5", 1e-3, 7.5812799245701138},
		{".5", 1e-6, 10.997151214220651},
		{".5", 1e-12, 15.641125779460989},
		{".5", 1e-30, 24.5955521161582},
		{"1", 1e-3, 3.1386705485829392},
		{"1", 1e-6, 4.886554117462212},
		{"1", 1e-12, 7.2384944201788584},
		{"1", 1e-30, 11.743883025231736},
		{"10", 1e-3, 0.19753397323971043},
		{"10", 1e-6, 0.39685737764408359},
		{"10", 1e-12, 0.64700812592498231},
		{"10", 1e-30, 1.1097079339572821},
		{"1000", 1e-6, 0.0027182190888139951},
		{"1000", 1e-12, 0.0056995464684262821},
		{"1000", 1e-30, 0.010630424679403256},
	} {
		sigma := rat(t, c.sigma)
		squared := new(big.Rat).Inv(new(big.Rat).Mul(sigma, sigma))
		for _, n := range []int64{1, 7} { // n of μ²/n are one of μ²
			each := new(big.Rat).Quo(squared, big.NewRat(n, 1))
			lower, upper := compose(t, pld.Step{Pair: pair(t)(pld.Gaussian(each)), Count: n}).Epsilon(c.delta)
			encloses(t, "σ = "+c.sigma, c.epsilon, lower, upper, 1e-4)
		}
	}
	if lower, upper := compose(t,
		pld.Step{Pair: pair(t)(pld.Gaussian(rat(t, "1e-6"))), Count: 1}).Epsilon(1e-3); lower != 0 || upper != 0 {
		t.Errorf("σ = 1000 at δ = 10⁻³, which is above δ(0): [%g, %g]", lower, upper)
	}
	lower, upper := compose(t, pld.Step{Pair: pair(t)(pld.Gaussian(rat(t, "1/3"))), Count: 3}).Delta(1)
	encloses(t, "3 of σ = √3", .12693673750664395, lower, upper, 1e-4)
}

// TestPure compares with the binomial sum of [Kairouz, Oh & Viswanath 2015, Theorem 3.3].
func TestPure(t *testing.T) {
	for _, c := range []struct {
		epsilon string
		n       int64
		delta   float64
		want    float64
	}{{"0.1", 100, 1e-6, 4.774567588108}, {"0.1", 10, 1e-5, .99369117675934}} {
		lower, upper := compose(t, pld.Step{Pair: pair(t)(pld.Pure(rat(t, c.epsilon))), Count: c.n}).Epsilon(c.delta)
		if lower > c.want+1e-12 || upper < c.want-1e-12 || upper-lower > 1e-9 {
			t.Errorf("%d of %s: [%.15g, %.15g], want %.15g", c.n, c.epsilon, lower, upper, c.want)
		}
	}
	thirty := compose(t, pld.Step{Pair: pair(t)(pld.Pure(rat(t, "1"))), Count: 30})
	lower, upper := thirty.Delta(22)
	if lower > .020276245549846+1e-14 || upper < .020276245549846-1e-14 || upper-lower > 1e-9 {
		t.Errorf("30 of 1: [%.15g, %.15g]", lower, upper)
	}
	if lower, upper = thirty.Delta(30); lower != 0 || upper != 0 {
		t.Errorf("30 of 1 at 30: [%g, %g]", lower, upper)
	}
	if _, upper = thirty.Epsilon(0); upper < 30 || upper > 30.0001 {
		t.Errorf("30 of 1 at δ = 0: %g", upper)
	}
}

// TestSubsampledOnce compares one step with its closed form: with t = ln((e^ε − 1 + q)/q) and the tails of N(0, 1)
// and N(μ, 1) at loss t, (1−q)Q + qP − e^ε·Q where a record is removed, and the like on the left where one is
// added, whichever is more (mpmath at 40 digits).
func TestSubsampledOnce(t *testing.T) {
	for _, c := range []struct {
		squared, rate  string
		epsilon, delta float64
	}{
		{"1", "0.01", .1, 0.000072900376957612265485},
		{"4", "0.1", 1, 0.019647881116578947887},
		{"0.25", "0.9", .3, 0.080075076077473613224},
		{"2500", "0.01", 1200, 0.0081265423063995789935},
	} {
		p := pair(t)(pld.Subsample(pair(t)(pld.Gaussian(rat(t, c.squared))), rat(t, c.rate)))
		lower, upper := compose(t, pld.Step{Pair: p, Count: 1}).Delta(c.epsilon)
		encloses(t, c.squared+" at "+c.rate, c.delta, lower, upper, 2e-3)
	}
}

// TestJobs holds dp_accounting 0.6's pessimistic ε, at a grid of 10⁻⁴, against the upper bounds, which are to be
// no worse but for a share of 10⁻⁴, and asks the lower bounds to be within 10⁻³ of the upper ones.
func TestJobs(t *testing.T) {
	get := pair(t)
	gaussian := func(squared string) pld.Pair { return get(pld.Gaussian(rat(t, squared))) }
	laplace := func(ratio string) pld.Pair { return get(pld.Laplace(rat(t, ratio))) }
	sample := func(p pld.Pair, rate string) pld.Pair { return get(pld.Subsample(p, rat(t, rate))) }
	for _, job := range []struct {
		name        string
		steps       []pld.Step
		delta, want float64
		long        bool
	}{
		{"100 Laplace", []pld.Step{{laplace("1/10"), 100}}, 1e-6, 4.692667438643727, false},
		{"subsampled Laplace", []pld.Step{{sample(laplace("1"), "1/10"), 50}}, 1e-6, 3.2019041335086453, false},
		{"discrete Gaussian", []pld.Step{{get(pld.DiscreteGaussian(rat(t, "1"))), 10}}, 1e-6, 19.49163852534507, false},
		{"discrete Laplace", []pld.Step{{get(pld.DiscreteLaplace(3, rat(t, "10"))), 20}}, 1e-6, 5.713845694301017, false},
		{"subsampled Gaussian", []pld.Step{{sample(gaussian("1"), "1/100"), 1000}}, 1e-6, 2.1245225256759905, true},
		{"three kinds", []pld.Step{{laplace("1/10"), 50}, {gaussian("1/400"), 100}, {sample(gaussian("1/4"), "1/20"), 200}}, 1e-6, 4.500470682969735, true},
		{"ten thousand", []pld.Step{{gaussian("1/2500"), 5000}, {laplace("1/200"), 3000}, {sample(gaussian("1"), "1/100"), 2000}}, 1e-6, 8.180353022784649, true},
		{"MNIST", []pld.Step{{sample(gaussian("100/121"), "256/60000"), 14062}}, 1e-5, 2.38168600, true},
	} {
		t.Run(job.name, func(t *testing.T) {
			if job.long {
				long(t)
			}
			lower, upper := compose(t, job.steps...).Epsilon(job.delta)
			t.Logf("[%.9g, %.9g], reference %.9g", lower, upper, job.want)
			if upper > job.want*(1+1e-4) || lower > job.want || upper-lower > 1e-3*upper {
				t.Errorf("[%g, %g], reference %g", lower, upper, job.want)
			}
		})
	}
}
