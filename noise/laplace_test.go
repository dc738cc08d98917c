package noise_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

const falseAlarm = 1e-6

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func laplace(t testing.TB, scale string) noise.DiscreteLaplace {
	t.Helper()
	d, err := noise.NewDiscreteLaplace(rational(scale))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

func TestNewDiscreteLaplaceRefuses(t *testing.T) {
	tooFine := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Add(power(2048), big.NewInt(1)))
	tooWide := new(big.Rat).SetFrac(new(big.Int).Add(power(201), big.NewInt(1)), big.NewInt(2))
	long := new(big.Rat).SetFrac(power(4000), new(big.Int).Add(power(3990), big.NewInt(1)))
	for name, scale := range map[string]*big.Rat{
		"nil": nil, "0": new(big.Rat), "negative": big.NewRat(-1, 2),
		"too fine": tooFine, "too wide": tooWide, "long": long,
	} {
		if _, err := noise.NewDiscreteLaplace(scale); !errors.Is(err, noise.ErrScale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, scale := range []*big.Rat{
		new(big.Rat).SetInt(power(200)), new(big.Rat).SetFrac(big.NewInt(1), power(2048)),
		new(big.Rat).SetFrac(new(big.Int).Sub(power(2248), big.NewInt(1)), power(2048)),
	} {
		if _, err := noise.NewDiscreteLaplace(scale); err != nil {
			t.Errorf("a scale at the limit: %v", err)
		}
	}
}

func TestScaleIsACopy(t *testing.T) {
	given := big.NewRat(5, 2)
	d, err := noise.NewDiscreteLaplace(given)
	if err != nil {
		t.Fatal(err)
	}
	given.SetInt64(7)
	d.Scale().SetInt64(9)
	if d.Scale().Cmp(big.NewRat(5, 2)) != 0 {
		t.Errorf("the scale became %s", d.Scale())
	}
}

func TestZeroValueDrawsNothing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the zero value drew")
		}
	}()
	noise.DiscreteLaplace{}.Draw()
}

func TestDrawFollowsCDF(t *testing.T) {
	for _, scale := range []string{"3/10", "1", "7/3", "12345.678", "35184372088832/3"} {
		d := laplace(t, scale)
		sample := make([]*big.Int, 20_000) // each from a source of its own
		var group sync.WaitGroup
		for half := range 2 { // draws are safe for concurrent use
			group.Go(func() {
				for i := half * len(sample) / 2; i < (half+1)*len(sample)/2; i++ {
					sample[i] = d.Draw()
				}
			})
		}
		group.Wait()
		if err := (stattest.KolmogorovIntegers{
			Sample: sample, CDF: d.CDF,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Errorf("scale %s: %v", scale, err)
		}
		beyond := 0
		k := d.Quantile(0.05)
		for _, x := range sample {
			if x.CmpAbs(k) > 0 {
				beyond++
			}
		}
		of := stattest.Binomial{Trials: len(sample), Probability: 0.95}
		if err := (stattest.Proportion{
			Successes: len(sample) - beyond, Of: of,
			FalseAlarm: falseAlarm,
		}).CheckAtLeast(); err != nil {
			t.Errorf("scale %s: ±%s: %v", scale, k, err)
		}
	}
}

// near holds if a and b agree to a relative tolerance.
func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

func TestMomentsBySummation(t *testing.T) {
	for _, scale := range []string{"0.05", "0.3", "1", "7/3", "25"} {
		d := laplace(t, scale)
		total, variance, below := 0.0, 0.0, 0.0
		for x := int64(-1500); x <= 1500; x++ {
			m := d.Mass(big.NewInt(x))
			total += m
			variance += m * float64(x) * float64(x)
			below += m
			if f := d.CDF(big.NewInt(x)); math.Abs(f-below) > 1e-12 {
				t.Fatalf("scale %s: CDF(%d) = %g, want %g", scale, x, f, below)
			}
		}
		if !near(total, 1, 1e-12) || !near(variance, d.Variance(), 1e-11) ||
			!near(d.StdDev()*d.StdDev(), d.Variance(), 1e-12) {
			t.Errorf("scale %s: mass %g, variance %g against %g, deviation %g",
				scale, total, variance, d.Variance(), d.StdDev())
		}
	}
}

func TestVarianceAtTheEnds(t *testing.T) {
	wide, err := noise.NewDiscreteLaplace(new(big.Rat).SetInt(power(200)))
	if err != nil {
		t.Fatal(err)
	}
	if !near(wide.Variance(), 0x1p401, 1e-12) || !near(wide.StdDev(), math.Sqrt2*0x1p200, 1e-12) {
		t.Errorf("at 2²⁰⁰: %g, %g", wide.Variance(), wide.StdDev())
	}
	// 2b² − 1/6 + 1/(120b²) − …: no cancellation at 10⁶
	if v := laplace(t, "1000000").Variance(); !near(v, 2e12-1./6, 1e-15*4) {
		t.Errorf("at 10⁶: %.20g", v)
	}
	// 2e^(−1/b) where the scale is tiny
	if v := laplace(t, "1/50").Variance(); !near(v, 2*math.Exp(-50), 1e-12) {
		t.Errorf("at .02: %g", v)
	}
	if v := laplace(t, "1/720").Variance(); !near(v, 2*math.Exp(-720), 1e-9) {
		t.Errorf("at 1/720: %g", v)
	}
	least, err := noise.NewDiscreteLaplace(new(big.Rat).SetFrac(big.NewInt(1), power(2048)))
	if err != nil {
		t.Fatal(err)
	}
	zero, one := new(big.Int), big.NewInt(1)
	if least.Variance() != 0 || least.StdDev() != 0 || least.Mass(zero) != 1 || least.Mass(one) != 0 ||
		least.CDF(zero) != 1 || least.CDF(big.NewInt(-1)) != 0 {
		t.Error("the least scale is not a point")
	}
	if x := least.Draw(); x.Sign() != 0 {
		t.Errorf("the least scale drew %s", x)
	}
}

// TestCoupling checks the doc comment's coupling: ⌊E₁⌋ − ⌊E₂⌋ has the distribution, and is within 1 of
// E₁ − E₂.
func TestCoupling(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := laplace(t, "7/3")
	sample := make([]*big.Int, 200_000)
	for i := range sample {
		e1, e2 := r.ExpFloat64()*7/3, r.ExpFloat64()*7/3
		x := math.Floor(e1) - math.Floor(e2)
		if math.Abs(x-(e1-e2)) >= 1 {
			t.Fatalf("%g is not within 1 of %g", x, e1-e2)
		}
		sample[i] = big.NewInt(int64(x))
	}
	if err := (stattest.KolmogorovIntegers{Sample: sample, CDF: d.CDF, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Error(err)
	}
}

func BenchmarkDraw(b *testing.B) {
	d := laplace(b, "100")
	for b.Loop() {
		d.Draw()
	}
}

func BenchmarkQuantile(b *testing.B) {
	d := laplace(b, "12345.678")
	for b.Loop() {
		d.Quantile(0.05)
	}
}
