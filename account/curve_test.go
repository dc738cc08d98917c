package account_test

import (
	"math"
	"math/big"
	"testing"

	"dither/account"
	"dither/privacy"
)

// defaultOrders are those of dp_accounting.
func defaultOrders() []float64 {
	var orders []float64
	for i := 1; i < 100; i++ {
		orders = append(orders, 1+float64(i)/10)
	}
	for i := 11; i < 64; i++ {
		orders = append(orders, float64(i))
	}
	return append(orders, 128, 256, 512, 1024)
}

// TestConversionFigures are dp_accounting's: a constant loss of 1.1 at orders 2 to 32, and a network trained on MNIST,
// at its own orders; at the best order a little less. And what zCDP and bounded range give where package privacy says
// the same.
func TestConversionFigures(t *testing.T) {
	d := deltaOf(t, "1e-5")
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	constant := account.Renyi(func(float64) float64 { return 1.1 })
	var to32 []float64
	for o := 2.0; o <= 32; o++ {
		to32 = append(to32, o)
	}
	epsilon, order := constant.EpsilonAmong(to32, d)
	near("constant", epsilon, 1.32783806176, 1e-11)
	near("its order", order, 32, 0)

	training := account.RenyiSampledGaussian(big.NewRat(256, 60000), rational(t, "100/121")).Times(14062)
	epsilon, order = training.EpsilonAmong(defaultOrders()[69:72], d) // 8, 8.1 and 8.2
	near("training", epsilon, 2.59655587, 1e-8)
	near("its order", order, 8.1, 1e-12)
	if unhurried() {
		near("training, best order", training.Epsilon(d), 2.59654196864, 1e-8)
	}

	million := deltaOf(t, "1e-6")
	near("zCDP", account.RenyiZCDP(rhoOf(t, "0.1")).Epsilon(million), 2.141938928385, 1e-12)
	near("zCDP", account.RenyiZCDP(rhoOf(t, "0.5")).Epsilon(d), 4.728386984943, 1e-12)
	if e := account.RenyiBoundedRange(epsilonOf(t, "0.1")).Times(100).Epsilon(million); e > 2.419 || e < 2.40 {
		t.Errorf("100 exponential mechanisms: %v", e)
	}
	near("pure", account.RenyiPure(epsilonOf(t, "0.1")).Epsilon(million), 0.1, 1e-5)
}

// TestConversionAgreesWithZCDP compares with package privacy's certified conversions, which know the best order
// exactly.
func TestConversionAgreesWithZCDP(t *testing.T) {
	for _, rho := range []string{"1e-9", "1e-4", "0.03", "1", "77", "1e5"} {
		r := rhoOf(t, rho)
		curve := account.RenyiZCDP(r)
		for _, delta := range []string{"1e-30", "1e-9", "1e-5", "0.01"} {
			exactly, err := r.EpsilonAt(deltaOf(t, delta))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := exactly.Rat().Float64()
			if got := curve.Epsilon(deltaOf(t, delta)); got < want*(1-1e-15) || got > want*(1+1e-4) {
				t.Errorf("ρ = %s, δ = %s: ε = %v, want %v", rho, delta, got, want)
			}
		}
		for _, epsilon := range []string{"0.001", "0.1", "1", "30"} {
			want, _ := r.DeltaAt(epsilonOf(t, epsilon)).Rat().Float64()
			if got := curve.Delta(epsilonOf(t, epsilon)); got < want*(1-1e-14) || got > want*(1+1e-3)+1e-300 {
				t.Errorf("ρ = %s, ε = %s: δ = %v, want %v", rho, epsilon, got, want)
			}
		}
	}
}

// curves is one of each implementation.
func curves(t testing.TB) map[string]account.Curve {
	t.Helper()
	gdp, err := account.GDPOf(big.NewRat(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]account.Curve{
		"pure":              account.LossCurve(privacy.PureLoss(epsilonOf(t, "1.5"))),
		"promised":          account.PromisedCurve(epsilonOf(t, "1"), deltaOf(t, "1e-6")),
		"zcdp":              account.LossCurve(privacy.ZCDPLoss(rhoOf(t, "0.2"), privacy.Delta{})),
		"approximate zcdp":  account.LossCurve(privacy.ZCDPLoss(rhoOf(t, "0.2"), deltaOf(t, "1e-7"))),
		"gdp":               gdp,
		"renyi gaussian":    account.RenyiGaussian(big.NewRat(1, 2)),
		"renyi pure":        account.RenyiPure(epsilonOf(t, "1.5")),
		"renyi laplace":     account.RenyiLaplace(epsilonOf(t, "1.5")).Times(3),
		"renyi poisson":     account.RenyiPure(epsilonOf(t, "1.5")).PoissonSampled(big.NewRat(1, 3)).Times(300),
		"discrete gaussian": account.DiscreteGaussianCurve(big.NewRat(7, 2), big.NewInt(2)),
	}
}

// TestCurveLaws are what holds of every curve: δ falls in ε and ε in δ, both are within their ranges, and one is
// the inverse of the other, as far as it is resolved: δ(ε(d)) is at most d, and not far below.
func TestCurveLaws(t *testing.T) {
	for name, c := range curves(t) {
		t.Run(name, func(t *testing.T) {
			last := 1.0
			for _, epsilon := range []string{"0", "0.1", "1", "5", "20"} {
				d := c.Delta(epsilonOf(t, epsilon))
				if !(d >= 0) || d > last {
					t.Errorf("δ(%s) = %v, after %v", epsilon, d, last)
				}
				last = d
			}
			previous := math.Inf(1)
			for _, delta := range []string{"0", "1e-12", "1e-5", "0.01", "1"} {
				d := deltaOf(t, delta)
				e := c.Epsilon(d)
				if !(e >= 0) || e > previous {
					t.Errorf("ε(%s) = %v, after %v", delta, e, previous)
				}
				previous = e
				if math.IsInf(e, 1) || delta == "0" || delta == "1" {
					continue
				}
				at, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(e))
				if err != nil {
					t.Fatal(err)
				}
				aim, _ := d.Rat().Float64()
				if back := c.Delta(at); back > aim*(1+1e-6) || e > 0 && delta != "1e-5" && back < aim*0.99 &&
					name[:5] != "renyi" {
					t.Errorf("ε(%s) = %v, where δ is %v", delta, e, back)
				}
			}
			if previous != 0 {
				t.Errorf("ε(1) = %v", previous)
			}
		})
	}
}

// TestCurvesAreOrdered: a mechanism's own curve is below what its Rényi divergences give, and those below its zCDP; a
// promise's is that of randomized response itself.
func TestCurvesAreOrdered(t *testing.T) {
	random, count := cases()
	for range count {
		x := big.NewRat(1+random.Int64N(300), 100)
		e, _ := privacy.EpsilonOf(big.NewRat(random.Int64N(600), 100))
		gdp, _ := account.GDPOf(x)
		rho, _ := privacy.RhoOf(new(big.Rat).Quo(x, big.NewRat(2, 1)))
		own, renyi, zcdp := gdp.Delta(e), gdp.Renyi().Delta(e),
			account.LossCurve(privacy.ZCDPLoss(rho, privacy.Delta{})).Delta(e)
		if own > renyi || renyi > zcdp*(1+1e-3)+1e-300 {
			t.Fatalf("%v, %v, %v", own, renyi, zcdp)
		}
		discrete := account.DiscreteGaussianCurve(new(big.Rat).Inv(x), big.NewInt(1)).Delta(e)
		if discrete > renyi*(1+1e-12) {
			t.Fatalf("discrete %v, Rényi %v", discrete, renyi)
		}
	}
	c := account.PromisedCurve(epsilonOf(t, "1"), deltaOf(t, "0.01"))
	want := 0.01 + 0.99*(math.E-math.Exp(0.4))/(1+math.E)
	if got := c.Delta(epsilonOf(t, "0.4")); math.Abs(got-want) > 1e-15 {
		t.Errorf("δ(0.4) = %v, want %v", got, want)
	}
}

// TestDiscreteGaussianFigures has the discrete Gaussian's curve apart from the continuous one's at σ = 1, and near it
// at large σ, where sums give way to integrals; and the largest shift as the worst.
func TestDiscreteGaussianFigures(t *testing.T) {
	one := epsilonOf(t, "1")
	lower, upper := account.DiscreteGaussianDelta(big.NewRat(1, 1), big.NewInt(1), one)
	if math.Abs(lower-0.14135133940562) > 1e-14 || math.Abs(upper-0.14135133940562) > 1e-14 {
		t.Errorf("σ = 1: δ in [%v, %v]", lower, upper)
	}
	for _, units := range []int64{1, 300} {
		for _, epsilon := range []string{"0", "0.01", "1", "7.5"} {
			sums, sumsUp := account.DiscreteGaussianDelta(big.NewRat(1<<16, 1), big.NewInt(units),
				epsilonOf(t, epsilon))
			integrals, integralsUp := account.DiscreteGaussianDelta(big.NewRat(1<<16*1e6+1, 1e6), big.NewInt(units),
				epsilonOf(t, epsilon))
			// The two σ² are 1.5e-11 apart, and δ by a few hundred times that at most.
			if integrals > sumsUp*(1+1e-8) || integralsUp < sums*(1-1e-8) || integralsUp-integrals > 1e-4 {
				t.Errorf("Δ = %d, ε = %s: sums [%v, %v], integrals [%v, %v]",
					units, epsilon, sums, sumsUp, integrals, integralsUp)
			}
		}
	}
	last := 0.0
	for units := int64(0); units < 20; units++ {
		_, d := account.DiscreteGaussianDelta(big.NewRat(9, 1), big.NewInt(units), one)
		if d < last {
			t.Errorf("a shift of %d gives %v, less than %v", units, d, last)
		}
		last = d
	}
	for _, c := range []struct{ sigma2, units, epsilon string }{
		{"1e-300", "1", "1"}, {"1e300", "1", "0"}, {"1e300", "1", "1"}, {"1", "1", "1e300"}, {"1e-4", "1", "100"}, {"1", "100000000000000000000", "5"},
	} {
		l, u := account.DiscreteGaussianDelta(rational(t, c.sigma2), integer(t, c.units), epsilonOf(t, c.epsilon))
		if !(0 <= l && l <= u && u <= 1) {
			t.Errorf("%v: [%v, %v]", c, l, u)
		}
		if e := account.DiscreteGaussianEpsilon(rational(t, c.sigma2), integer(t, c.units),
			deltaOf(t, "1e-9")); !(e >= 0) {
			t.Errorf("%v: ε = %v", c, e)
		}
	}
	if e := account.DiscreteGaussianEpsilon(big.NewRat(1, 1), big.NewInt(-1), deltaOf(t, "0.1")); !math.IsInf(e, 1) {
		t.Errorf("a negative sensitivity: %v", e)
	}
	if _, u := account.DiscreteGaussianDelta(nil, nil, one); u != 1 {
		t.Errorf("nothing: %v", u)
	}
}

// TestGDP are its laws, and a test's errors at μ = 1 [Φ(Φ⁻¹(0.95) − 1) = 0.740488977…].
func TestGDP(t *testing.T) {
	g, err := account.GDPOf(big.NewRat(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	three := g.Plus(g).Plus(g)
	if three.Mu2().Cmp(big.NewRat(1, 1)) != 0 || g.Times(3).Mu2().Cmp(three.Mu2()) != 0 ||
		three.Group(5).Mu2().Cmp(big.NewRat(25, 1)) != 0 {
		t.Error("composition or groups")
	}
	if d := three.Delta(epsilonOf(t, "1")); math.Abs(d-0.12693673750664395) > 1e-16 { // 3 × Gaussian noise of σ = √3
		t.Errorf("δ(1) = %v", d)
	}
	if three.Mu() != 1 || (account.GDP{}).Mu() != 0 || (account.GDP{}).Delta(privacy.Epsilon{}) != 0 {
		t.Error("μ")
	}
	if f := three.TradeOff(0.05); math.Abs(f-0.7404889771585559) > 1e-14 {
		t.Errorf("f(0.05) = %v", f)
	}
	fitted, err := account.GDPFor(epsilonOf(t, "1"), deltaOf(t, "1e-5"))
	if err != nil {
		t.Fatal(err)
	}
	if d := fitted.Delta(epsilonOf(t, "1")); d > math.Nextafter(1e-5, 1) || d < 1e-5*(1-1e-13) {
		t.Errorf("fitted to δ = 1e-5, and it is %v", d)
	}
	if _, err := account.GDPOf(nil); err == nil {
		t.Error("nil")
	}
	if _, err := account.GDPFor(epsilonOf(t, "1"), privacy.Delta{}); err == nil {
		t.Error("δ = 0")
	}
}

// TestTradeOff: the trade-off of a promise is that of its curve's own point, and a Gaussian's is at least that of every
// point of its curve [Dong, Roth & Su 2022, Proposition 2.12], touching the best.
func TestTradeOff(t *testing.T) {
	g, _ := account.GDPOf(big.NewRat(1, 1))
	for _, alpha := range []float64{0, 0.01, 0.5, 1 - 1e-9} {
		own, best := g.TradeOff(alpha), 0.0
		for n := int64(0); n <= 600; n += 50 {
			e, _ := privacy.EpsilonOf(big.NewRat(n, 100))
			d, _ := privacy.DeltaOf(new(big.Rat).SetFloat64(g.Delta(e)))
			best = max(best, account.TradeOff(e, d, alpha))
		}
		if best > own+1e-15 || best < own*0.97-1e-9 {
			t.Errorf("α = %v: %v, and from the curve %v", alpha, own, best)
		}
	}
	e := epsilonOf(t, "1")
	for alpha, want := range map[float64]float64{0: 1, 0.1: 1 - math.E/10, 0.5: 0.5 / math.E, 1: 0} {
		if got := account.TradeOff(e, privacy.Delta{}, alpha); math.Abs(got-want) > 1e-15 {
			t.Errorf("f(%v) = %v, want %v", alpha, got, want)
		}
	}
	for _, alpha := range []float64{-1, 2, math.NaN(), math.Inf(1)} {
		if g.TradeOff(alpha) != 0 || account.TradeOff(e, privacy.Delta{}, alpha) != 0 {
			t.Errorf("α = %v", alpha)
		}
	}
}
