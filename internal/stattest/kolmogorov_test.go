package stattest_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
)

func kolmogorov(sampled []int, scale float64) error {
	integers := make([]*big.Int, len(sampled))
	for i, x := range sampled {
		integers[i] = big.NewInt(int64(x))
	}
	return stattest.KolmogorovIntegers{Sample: integers, CDF: laplaceCDF(scale), FalseAlarm: 1e-6}.Check()
}

func TestKolmogorovCatches(t *testing.T) {
	for name := range samplers {
		if name == "tail cut at 8 scales" || name == "rounded, not truncated" {
			continue // too little of a distance; χ² sees them
		}
		err := kolmogorov(sampleOf(name, 3, 200_000), 3)
		if (err == nil) != (name == "right") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKolmogorovLargeScale(t *testing.T) {
	const scale = 0x1p45 / 3
	for _, name := range []string{"right", "scale 5% too large", "scale 5% too small", "biased sign", "never negative"} {
		err := kolmogorov(sampleOf(name, scale, 200_000), scale)
		if (err == nil) != (name == "right") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKolmogorovContinuous(t *testing.T) {
	r := generator(11)
	sample := make([]float64, 100_000)
	for i := range sample {
		sample[i] = r.ExpFloat64()
	}
	check := func(mean float64) error {
		cdf := func(x float64) float64 { return -math.Expm1(-x / mean) }
		return stattest.Kolmogorov{Sample: sample, CDF: cdf, FalseAlarm: 1e-6}.Check()
	}
	if err := check(1); err != nil {
		t.Error(err)
	}
	for _, mean := range []float64{0.95, 1.05} {
		if check(mean) == nil {
			t.Errorf("mean %g was not told from 1", mean)
		}
	}
	if (stattest.Kolmogorov{CDF: math.Exp, FalseAlarm: 0.5}).Check() == nil {
		t.Error("an empty sample passed")
	}
	if check(math.NaN()) == nil {
		t.Error("a distribution function of NaN passed")
	}
}

// TestKolmogorovIsConservative: alarms at a rate of 1 in 20 are no more frequent than that.
func TestKolmogorovIsConservative(t *testing.T) {
	r := generator(5)
	of := stattest.Binomial{Trials: 2000, Probability: 0.95}
	quiet := 0
	for range of.Trials {
		sample := make([]float64, 100)
		for i := range sample {
			sample[i] = r.Float64()
		}
		if (stattest.Kolmogorov{Sample: sample, CDF: func(x float64) float64 { return x }, FalseAlarm: 0.05}).Check() == nil {
			quiet++
		}
	}
	if err := (stattest.Proportion{Successes: quiet, Of: of, FalseAlarm: 1e-4}).CheckAtLeast(); err != nil {
		t.Error(err)
	}
}
