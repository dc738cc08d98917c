package sample_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
)

// known is a scale that is known exactly.
func known(s *big.Rat) func(uint) (down, up *big.Rat) {
	return func(uint) (down, up *big.Rat) { return new(big.Rat).Set(s), new(big.Rat).Set(s) }
}

// cauchyMasses are P(z) for lower ≤ z ≤ upper, by the distribution function.
func cauchyMasses(twice int64, scale float64, lower, upper int64) []float64 {
	var out []float64
	for z := lower; z <= upper; z++ {
		cdf := func(x float64) float64 { return 0.5 + math.Atan((x-float64(twice)/2)/scale)/math.Pi }
		p := cdf(float64(z)+0.5) - cdf(float64(z)-0.5)
		if z == lower {
			p = cdf(float64(z) + 0.5)
		}
		if z == upper {
			p = 1 - cdf(float64(z)-0.5)
		}
		out = append(out, p)
	}
	return out
}

func TestRoundedCauchy(t *testing.T) {
	source := entropy.System()
	for _, c := range []struct {
		twice        int64
		scale        *big.Rat
		lower, upper int64
	}{
		{0, ratio(1, 1), -20, 20}, {5, ratio(1, 3), -3, 9}, {-7, ratio(50, 1), -100, 30}, {40, ratio(2, 1), 0, 10}, {1, ratio(1, 1000), 0, 1},
	} {
		scale, _ := c.scale.Float64()
		test := stattest.ChiSquared{
			Observed: make([]int, c.upper-c.lower+1), Expected: cauchyMasses(c.twice, scale, c.lower, c.upper),
			FalseAlarm: falseAlarm,
		}
		for range 3000 {
			test.Observed[sample.RoundedCauchy(source, big.NewInt(c.twice), known(c.scale), c.lower, c.upper)-c.lower]++
		}
		if err := test.Check(); err != nil {
			t.Errorf("centre %d/2, scale %s: %v", c.twice, c.scale, err)
		}
	}
}

// TestRoundedCauchyRefines gives a scale that is known badly at first: the digits that decide are drawn later, and the
// value is that of the scale itself.
func TestRoundedCauchyRefines(t *testing.T) {
	vague, refined := 0, 0
	for i := range 200 {
		bytes := recording(32 * (i + 40))[32*i:]
		exactly := sample.RoundedCauchy(entropy.Recorded(bytes), big.NewInt(3), known(ratio(5, 1)), -50, 50)
		calls := 0
		wide := func(bits uint) (down, up *big.Rat) {
			calls++
			slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), max(bits, 126)-126))
			return new(big.Rat).Quo(ratio(5, 1), slack.Add(slack, ratio(1, 1))), new(big.Rat).Mul(ratio(5, 1), slack)
		}
		source := entropy.Recorded(bytes)
		if got := sample.RoundedCauchy(source, big.NewInt(3), wide, -50, 50); got != exactly {
			t.Fatalf("recording %d: %d, and %d of the same digits", i, got, exactly)
		}
		if calls > 1 {
			refined++
		}
		vague++
	}
	if refined == 0 || refined == vague {
		t.Errorf("%d of %d draws were refined", refined, vague)
	}
}

func TestRoundedCauchyExtremes(t *testing.T) {
	source := entropy.System()
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 200))
	for range 50 {
		if z := sample.RoundedCauchy(source, big.NewInt(14), known(new(big.Rat).Inv(huge)), -100, 100); z != 7 {
			t.Errorf("with hardly any noise 7 became %d", z)
		}
		if z := sample.RoundedCauchy(source, big.NewInt(14), known(huge), -100, 100); z != -100 && z != 100 {
			t.Errorf("with immense noise 7 became %d", z)
		}
		if z := sample.RoundedCauchy(source, big.NewInt(math.MaxInt64), known(ratio(1, 1)), math.MinInt64,
			math.MinInt64); z != math.MinInt64 {
			t.Errorf("the only value is not %d", z)
		}
	}
}

func BenchmarkRoundedCauchy(b *testing.B) {
	source, scale := entropy.System(), known(ratio(1000, 7))
	for b.Loop() {
		sample.RoundedCauchy(source, big.NewInt(77), scale, -1_000_000, 1_000_000)
	}
}
