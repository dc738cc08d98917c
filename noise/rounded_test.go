package noise_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
	"dither/noise"
)

func rounded(t testing.TB, sigma2 *big.Rat) noise.RoundedGaussian {
	t.Helper()
	d, err := noise.NewRoundedGaussian(sigma2)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// roundedFigures are of mpmath 1.3 at 60 digits: P(X = k), by differences of erfc((k ± ½)/(σ√2))/2; P(|X| > k);
// and the variance, Σ(2x − 1)·erfc((x − ½)/(σ√2)), or σ² + 1/12 where the difference is below 1e-1000.
var roundedFigures = []struct {
	sigma2, k            string
	mass, tail, variance float64
}{
	{"1/400", "0", 1.0, 1.5239706048321052e-23, 1.5239706048321052e-23},
	{"1/400", "1", 7.6198530241605261e-24, 9.8134278542963741e-198, 1.5239706048321052e-23},
	{"1/400", "2", 4.9067139271481871e-198, 2.1611958935232732e-545, 1.5239706048321052e-23},
	{"1/4", "0", 0.6826894921370859, 0.3173105078629141, 0.32541276258633084},
	{"1/4", "1", 0.15730535589982696, 0.0026997960632601891, 0.32541276258633084},
	{"1/4", "2", 0.0013496113800582153, 5.7330314375838782e-7, 0.32541276258633084},
	{"1/4", "10", 8.5272239526309765e-81, 6.5585560379580719e-98, 0.32541276258633084},
	{"1", "0", 0.38292492254802621, 0.61707507745197379, 1.083333322361118},
	{"1", "1", 0.24173033745712883, 0.13361440253771613, 1.083333322361118},
	{"1", "2", 0.060597535943081931, 0.01241933065155227, 1.083333322361118},
	{"1", "5", 3.3786835622641727e-6, 3.7979124931775439e-8, 1.083333322361118},
	{"1", "30", 1.4394745522290489e-191, 2.6058758263561527e-204, 1.083333322361118},
	{"29929/100", "0", 0.023057037414148847, 0.97694296258585115, 299.37333333333333},
	{"29929/100", "1", 0.023018560719540983, 0.93090584114676919, 299.37333333333333},
	{"29929/100", "17", 0.01422919915019185, 0.31174814761103238, 299.37333333333333},
	{"29929/100", "60", 5.6439341693372601e-5, 0.00047032815951083462, 299.37333333333333},
	{"29929/100", "500", 1.0638115214820803e-183, 4.9181303087683224e-184, 299.37333333333333},
	{"65536", "0", 0.0015583672920347921, 0.99844163270796521, 65536.083333333333},
	{"65536", "1", 0.001558355402696369, 0.99532492190257247, 65536.083333333333},
	{"65536", "256", 0.00094519814265267447, 0.31636623276473576, 65536.083333333333},
	{"65536", "1000", 7.5730372392796255e-7, 9.2985115178496193e-5, 65536.083333333333},
	{"65536", "9000", 6.4164007472880546e-272, 8.7100717342290554e-271, 65536.083333333333},
	{"65537", "0", 0.001558355402787076, 0.99844164459721292, 65537.083333333333},
	{"65537", "1", 0.001558343513720772, 0.99532495756977138, 65537.083333333333},
	{"65537", "256", 0.00094519814258848848, 0.31636992490279142, 65537.083333333333},
	{"65537", "1000", 7.5738611087892638e-7, 9.299658903514827e-5, 65537.083333333333},
	{"65537", "9000", 6.4771407655942455e-272, 8.7926679672784232e-271, 65537.083333333333},
	{"1208925819614629174706176", "0", 3.6283589033831293e-13, 0.99999999999963716, 1.2089258196146292e+24},
	{"1208925819614629174706176", "1099511627776", 2.2007109193431766e-13, 0.31731050786269403, 1.2089258196146292e+24},
	{"1208925819614629174706176", "4398046511104", 1.2171788127023806e-16, 6.3342483666118125e-5, 1.2089258196146292e+24},
	{"1208925819614629174706176", "35184372088832", 1.5883108578771287e-235, 1.0904161206865961e-224, 1.2089258196146292e+24},
}

func TestRoundedGaussianFigures(t *testing.T) {
	for _, f := range roundedFigures {
		d := rounded(t, rational(f.sigma2))
		k, _ := new(big.Int).SetString(f.k, 10)
		if m := d.Mass(k); !near(m, f.mass, 1e-11) && math.Abs(m-f.mass) > 1e-319 || m != d.Mass(new(big.Int).Neg(k)) {
			t.Errorf("σ² = %s: Mass(%s) = %.17g, want %.17g", f.sigma2, k, m, f.mass)
		}
		if p := d.Tail(k); p < f.tail*(1-1e-16) || p > f.tail*(1+2e-12)+3e-320 {
			t.Errorf("σ² = %s: Tail(%s) = %.17g, want %.17g", f.sigma2, k, p, f.tail)
		}
		if p := d.CDF(new(big.Int).Not(k)); !near(p, f.tail/2, 1e-12) && math.Abs(p-f.tail/2) > 1e-319 {
			t.Errorf("σ² = %s: CDF(−%s − 1) = %.17g, want %.17g", f.sigma2, k, p, f.tail/2)
		}
		if p := d.CDF(k); !near(p, 1-f.tail/2, 1e-15) {
			t.Errorf("σ² = %s: CDF(%s) = %.17g, want %.17g", f.sigma2, k, p, 1-f.tail/2)
		}
		if v := d.Variance(); v < f.variance*(1-1e-16) || v > f.variance*(1+2e-12) ||
			d.StdDev() < math.Sqrt(f.variance)*(1-1e-16) {
			t.Errorf("σ² = %s: variance %.17g, want %.17g", f.sigma2, v, f.variance)
		}
	}
}

// TestRoundedGaussianVarianceIsAtMost holds σ² + 1/12 against the sum of x²·P(X = x), on either side of σ = ½.
func TestRoundedGaussianVarianceIsAtMost(t *testing.T) {
	for s := 0.1; s < 20; s *= 1.4 {
		sigma2 := new(big.Rat).SetFloat64(s * s)
		d, sum := rounded(t, sigma2), 0.0
		for x := int64(1); x < 900; x++ {
			sum += 2 * float64(x*x) * d.Mass(big.NewInt(x))
		}
		if v := d.Variance(); !near(v, sum, 1e-10) || v > (s*s+1.0/12)*(1+1e-15) {
			t.Errorf("σ = %g: variance %g, sum %g", s, v, sum)
		}
	}
}

func TestRoundedGaussianQuantile(t *testing.T) {
	// P(|N| > 1.5) = .1336, P(|N| > 2.5) = .0124
	for _, c := range []struct {
		sigma2 string
		alpha  float64
		want   int64
	}{
		{"1", 0.05, 2},
		{"1", 0.134, 1},
		{"1", 0.133, 2},
		{"1", 1, 0},
		{"1", 0.618, 0},
		{"1", 0.617, 1},
		{"1/1000", 1e-9, 0},
		{"1/1000", 1e-60, 1},
		{"100", 0.05, 20},
		{"1000000", 0.05, 1960},
	} {
		if k := rounded(t, rational(c.sigma2)).Quantile(c.alpha); k.Int64() != c.want {
			t.Errorf("σ² = %s, α = %g: got %s, want %d", c.sigma2, c.alpha, k, c.want)
		}
	}
	for _, alpha := range []float64{0, -1, math.NaN()} {
		if k := rounded(t, big.NewRat(1, 1)).Quantile(alpha); k != nil {
			t.Errorf("α = %g: got %s", alpha, k)
		}
	}
	for _, text := range []string{"1/400", "1/4", "1", "3", "1000", "65537", "1237940039285380274899124224"} {
		d := rounded(t, rational(text))
		for _, alpha := range []float64{0.5, 0.05, 1e-6, 1e-100, 1e-300, 5e-324} {
			k := d.Quantile(alpha)
			if alpha > 1e-310 && d.Tail(k) > alpha || k.Sign() > 0 &&
				d.Tail(new(big.Int).Sub(k, big.NewInt(1))) <= alpha {
				t.Errorf("σ² = %s, α = %g: %s is not the least", text, alpha, k)
			}
		}
	}
}

func TestRoundedGaussianRefuses(t *testing.T) {
	for name, sigma2 := range map[string]*big.Rat{
		"nil": nil, "0": new(big.Rat), "negative": big.NewRat(-1, 2),
		"too wide": new(big.Rat).SetInt(new(big.Int).Add(power(400), big.NewInt(1))),
	} {
		if _, err := noise.NewRoundedGaussian(sigma2); !errors.Is(err, noise.ErrScale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	least := rounded(t, new(big.Rat).SetFrac(big.NewInt(1), power(2048)))
	if zero := new(big.Int); least.Mass(zero) != 1 || least.CDF(zero) != 1 || least.Quantile(0.05).Sign() != 0 ||
		least.Draw().Sign() != 0 || least.Variance() > 1e-319 {
		t.Error("the least σ² is not a point")
	}
	widest := rounded(t, new(big.Rat).SetInt(power(400)))
	if widest.Draw().BitLen() > 210 || !(widest.Mass(power(199)) > 0) ||
		!near(widest.Variance(), math.Exp2(400), 2e-12) {
		t.Error("the largest σ²")
	}
	given := big.NewRat(5, 2)
	d := rounded(t, given)
	given.SetInt64(7)
	d.Sigma2().SetInt64(9)
	if d.Sigma2().Cmp(big.NewRat(5, 2)) != 0 {
		t.Errorf("σ² became %s", d.Sigma2())
	}
}

// TestRoundedGaussianDraws has draws follow CDF.
func TestRoundedGaussianDraws(t *testing.T) {
	for _, text := range []string{"1/4", "7/3", "12345.678", "1237940039285380274899124224"} {
		sigma2 := rational(text)
		d, prepared, source := rounded(t, sigma2), sample.NewRoundedGaussian(sigma2), entropy.System()
		sampled := make([]*big.Int, 10_000)
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
	}
}

// TestRoundedGaussianDifferenceTail holds the bound against the sum over both distributions.
func TestRoundedGaussianDifferenceTail(t *testing.T) {
	for _, c := range []struct{ a2, c2, theta float64 }{
		{1, 1, 1},
		{0.1, 0.2, 3},
		{30, 0.5, 2.5},
		{9, 25, 0},
		{4, 100, 0.125},
		{10000, 100, 7},
		{0.01, 0.01, 1},
	} {
		a, b := rounded(t, new(big.Rat).SetFloat64(c.a2)), rounded(t, new(big.Rat).SetFloat64(c.c2))
		sd := math.Sqrt(c.a2 + c.theta*c.theta*c.c2)
		for _, z := range []float64{0, 0.5, 1, 2, 2.5, 3, 4} {
			y, sum := z*sd+0.3, 0.0
			reach := int64(12*math.Sqrt(c.c2)) + 3
			for x := -reach; x <= reach; x++ {
				up := int64(math.Floor(c.theta*float64(x)+y)) + 1
				down := int64(math.Ceil(c.theta*float64(x)-y)) - 1
				sum += b.Mass(big.NewInt(x)) * (a.CDF(big.NewInt(-up)) + a.CDF(big.NewInt(down)))
			}
			bound := noise.DifferenceTail(a, b, c.theta, y)
			if bound < sum*(1-1e-9)-1e-300 || sd > 50 && bound > sum*1.6+1e-3 {
				t.Errorf("%+v: P(|A − θC| > %.3f) = %g, bound %g", c, y, sum, bound)
			}
		}
	}
	a := rounded(t, big.NewRat(1, 100))
	if p := noise.DifferenceTail(a, a, 1, 1.5); p > 0.01 { // P(|X| > 0) = 5.7e-7, and no more is needed
		t.Errorf("small noise: %g", p)
	}
	for name, p := range map[string]float64{
		"mixed":      noise.DifferenceTail(a, gaussian(t, big.NewRat(1, 1)), 1, 100),
		"negative θ": noise.DifferenceTail(a, a, -1, 100),
		"NaN":        noise.DifferenceTail(a, a, 1, math.NaN()),
		"infinities": noise.DifferenceTail(a, a, math.Inf(1), math.Inf(1)),
	} {
		if p != 1 {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// TestRoundedIsNotDiscrete: δ(1) = Σ_x max(0, P(x) − e·P(x − 1)) at σ = 1 of the rounded Gaussian is that of
// the continuous one, Φ(−½) − e·Φ(−3/2) = .126937, which it post-processes, since the worst event's edge,
// 1½, is one between integers. The discrete Gaussian's is .141351.
func TestRoundedIsNotDiscrete(t *testing.T) {
	delta := func(d noise.Distribution) float64 {
		sum := 0.0
		for x := int64(-60); x <= 60; x++ {
			sum += max(0, d.Mass(big.NewInt(x))-math.E*d.Mass(big.NewInt(x-1)))
		}
		return sum
	}
	continuous := math.Erfc(0.5/math.Sqrt2)/2 - math.E*math.Erfc(1.5/math.Sqrt2)/2
	if !near(continuous, 0.12693673750664395, 1e-13) {
		t.Errorf("continuous: %.17g", continuous)
	}
	one := big.NewRat(1, 1)
	if r := delta(rounded(t, one)); !near(r, continuous, 1e-12) {
		t.Errorf("rounded: %.17g", r)
	}
	if g := delta(gaussian(t, one)); !near(g, 0.14135133940562, 1e-13) {
		t.Errorf("discrete: %.17g", g)
	}
}
