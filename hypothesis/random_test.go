package hypothesis

import (
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// What is made up for simulations has the laws that it should have: each law draws as its noise says, and binomials are
// binomial.
func TestWhatIsMadeUp(t *testing.T) {
	staircase, err := noise.NewStaircase(big.NewInt(3), big.NewInt(1), big.NewRat(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	rounded, err := noise.NewRoundedGaussian(big.NewRat(7, 2))
	if err != nil {
		t.Fatal(err)
	}
	const draws = 40_000
	for name, d := range map[string]noise.Distribution{
		"laplace": laplaceOf(t, big.NewRat(5, 2)), "little laplace": laplaceOf(t, big.NewRat(1, 3)),
		"gaussian":        gaussianOf(t, big.NewRat(10, 1)),
		"little gaussian": gaussianOf(t, big.NewRat(1, 3)), "rounded": rounded, "staircase": staircase,
	} {
		s, l := newStream(5), newLaw(d)
		const reach = 40
		observed, expected := make([]int, 2*reach+1), make([]float64, 2*reach+1)
		for range draws {
			observed[int(max(-reach, min(reach, l.draw(s))))+reach]++
		}
		for i := range expected {
			expected[i] = d.Mass(big.NewInt(int64(i - reach)))
		}
		tail := d.CDF(big.NewInt(-reach - 1))
		expected[0], expected[2*reach] = expected[0]+tail, expected[2*reach]+tail
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, b := range []stattest.Binomial{
		{Trials: 5, Probability: .3},
		{Trials: 60, Probability: .4},
		{Trials: 100, Probability: .95},
		{Trials: 40, Probability: .1},
	} {
		s, observed, expected := newStream(6), make([]int, b.Trials+1), make([]float64, b.Trials+1)
		for range draws {
			observed[s.binomial(int64(b.Trials), b.Probability)]++
		}
		for k := range expected {
			expected[k] = max(0, b.AtMost(k)-b.AtMost(k-1))
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
	// of many trials, by the shares beyond quantiles
	s, many := newStream(7), stattest.Binomial{Trials: 1_000_000, Probability: .3}
	for _, k := range []int{299_500, 300_000, 300_600} {
		below := 0
		for range 10_000 {
			if s.binomial(1_000_000, .3) <= int64(k) {
				below++
			}
		}
		if err := (stattest.Proportion{
			Successes:  below,
			Of:         stattest.Binomial{Trials: 10_000, Probability: many.AtMost(k)},
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Error(err)
		}
	}
}
