package stattest_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/stattest"
)

// generator is seeded: whether these tests pass is a fact about the code, not about luck.
func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// laplace draws a discrete Laplace by ⌊E₁⌋ − ⌊E₂⌋, in floats, which is good enough here.
func laplace(r *rand.Rand, scale float64) int {
	plus, minus := math.Floor(r.ExpFloat64()*scale), math.Floor(r.ExpFloat64()*scale)
	return int(plus) - int(minus)
}

func laplaceCDF(scale float64) func(*big.Int) float64 {
	p := math.Exp(-1 / scale)
	return func(x *big.Int) float64 {
		f := float64(x.Int64())
		if f < 0 {
			return math.Exp(f/scale) / (1 + p)
		}
		return 1 - math.Exp(-(f+1)/scale)/(1+p)
	}
}

// the ways a sampler of a discrete Laplace goes wrong, and the right one.
var samplers = map[string]func(r *rand.Rand, scale float64) int{
	"right": laplace,
	"scale 5% too large": func(r *rand.Rand, scale float64) int {
		return laplace(r, 1.05*scale)
	},
	"scale 5% too small": func(r *rand.Rand, scale float64) int {
		return laplace(r, 0.95*scale)
	},
	"shifted by one": func(r *rand.Rand, scale float64) int { return laplace(r, scale) + 1 },
	"-0 not rejected": func(r *rand.Rand, scale float64) int {
		m := int(math.Floor(r.ExpFloat64() * scale))
		if r.IntN(2) == 0 {
			return -m
		}
		return m
	},
	"never negative": func(r *rand.Rand, scale float64) int { return max(0, laplace(r, scale)) },
	"biased sign":    func(r *rand.Rand, scale float64) int { return flip(r, laplace(r, scale)) },
	"rounded, not truncated": func(r *rand.Rand, scale float64) int {
		return int(math.Round(r.ExpFloat64()*scale - r.ExpFloat64()*scale))
	},
	"tail cut at 8 scales": func(r *rand.Rand, scale float64) int {
		return min(max(laplace(r, scale), int(-8*scale)), int(8*scale))
	},
}

// flip makes one in twenty negative integers positive.
func flip(r *rand.Rand, x int) int {
	if x < 0 && r.IntN(20) == 0 {
		return -x
	}
	return x
}

func sampleOf(name string, scale float64, n int) []int {
	r := generator(7)
	out := make([]int, n)
	for i := range out {
		out[i] = samplers[name](r, scale)
	}
	return out
}

func chiSquared(sampled []int, scale float64) error {
	k := int(40 * scale)
	f := laplaceCDF(scale)
	at := func(x int) float64 { return f(big.NewInt(int64(x))) }
	observed, expected := make([]int, 2*k+1), make([]float64, 2*k+1)
	for i := range expected {
		expected[i] = at(i-k) - at(i-k-1)
	}
	expected[0], expected[2*k] = at(-k), 1-at(k-1)
	for _, x := range sampled {
		observed[min(max(x, -k), k)+k]++
	}
	return stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: 1e-6}.Check()
}

func TestChiSquaredCatches(t *testing.T) {
	for name := range samplers {
		err := chiSquared(sampleOf(name, 3, 200_000), 3)
		if (err == nil) != (name == "right") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChiSquaredFalseAlarms counts alarms of a right sampler at a rate of 1 in 100.
func TestChiSquaredFalseAlarms(t *testing.T) {
	r, alarms := generator(3), 0
	of := stattest.Binomial{Trials: 3000, Probability: 0.01}
	for range of.Trials {
		test := stattest.ChiSquared{Observed: make([]int, 12), Expected: make([]float64, 12), FalseAlarm: 0.01}
		for i := range test.Expected {
			test.Expected[i] = math.Ldexp(1, -min(i+1, 11))
		}
		for range 1000 {
			i := 0
			for i < 11 && r.IntN(2) == 0 {
				i++
			}
			test.Observed[i]++
		}
		if test.Check() != nil {
			alarms++
		}
	}
	if err := (stattest.Proportion{Successes: alarms, Of: of, FalseAlarm: 1e-4}).Check(); err != nil {
		t.Error(err)
	}
}

func TestChiSquaredRefusesBadInput(t *testing.T) {
	for name, test := range map[string]stattest.ChiSquared{
		"lengths":       {Observed: []int{1}, Expected: []float64{0.5, 0.5}},
		"not together":  {Observed: []int{500, 500}, Expected: []float64{0.5, 0.4}},
		"negative":      {Observed: []int{500, 500}, Expected: []float64{1.5, -0.5}},
		"NaN":           {Observed: []int{500, 500}, Expected: []float64{math.NaN(), 1}},
		"small":         {Observed: []int{10, 10}, Expected: []float64{0.5, 0.5}},
		"an impossible": {Observed: []int{500, 500, 1}, Expected: []float64{0.75, 0.25, 0}, FalseAlarm: 1e-6},
	} {
		if test.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestUpperGamma(t *testing.T) {
	for _, c := range []struct{ a, x, want float64 }{
		{1, 2, math.Exp(-2)},
		{0.5, 2, math.Erfc(math.Sqrt2)},
		{1, 50, math.Exp(-50)},
		{0.5, 0.01, math.Erfc(0.1)},
		{3, 4, math.Exp(-4) * (1 + 4 + 8)},
		{2, 0.5, math.Exp(-0.5) * 1.5},
		{5, 0, 1},
		{50, 50, 0.48119168452795671}, // Poisson(50) at most 49
	} {
		if got := stattest.UpperGamma(c.a, c.x); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("Q(%g, %g) = %.12g, want %.12g", c.a, c.x, got, c.want)
		}
	}
}
