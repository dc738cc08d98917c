package sample_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
)

// TestTruncatedDistribution compares with exp(−ε|x|), normalised over |x| ≤ M, on either side of Mε = 1.
func TestTruncatedDistribution(t *testing.T) {
	for _, c := range []struct {
		epsilon *big.Rat
		reach   int
	}{
		{ratio(1, 1), 0},
		{ratio(1, 1), 1},
		{ratio(1, 1), 2},
		{ratio(1, 3), 3},
		{ratio(1, 3), 4},
		{ratio(1, 100), 12},
		{ratio(5, 1), 1},
		{ratio(1, 2), 30},
	} {
		g, source, z := sample.NewTruncated(c.epsilon, big.NewInt(int64(c.reach))), entropy.System(), new(big.Int)
		observed, expected, total := make([]int, 2*c.reach+1), make([]float64, 2*c.reach+1), 0.0
		e, _ := c.epsilon.Float64()
		for i := range expected {
			expected[i] = math.Exp(-e * math.Abs(float64(i-c.reach)))
			total += expected[i]
		}
		for i := range expected {
			expected[i] /= total
		}
		for range draws() / 15 {
			observed[g.Draw(source, z).Int64()+int64(c.reach)]++
		}
		if c.reach == 0 {
			continue // nothing is drawn but 0, else an index was out of range
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Errorf("ε = %s, M = %d: %v", c.epsilon, c.reach, err)
		}
	}
}

// TestTruncatedFarOut: neither a reach far beyond the scale nor a scale far beyond the reach takes long.
func TestTruncatedFarOut(t *testing.T) {
	source, far := entropy.System(), new(big.Int).Lsh(big.NewInt(1), 200)
	wide, flat := sample.NewTruncated(ratio(1, 1), far), sample.NewTruncated(shifted(1, 0, far), big.NewInt(3))
	for range 1000 {
		if z := wide.Draw(source, new(big.Int)); z.BitLen() > 7 { // beyond 64 with e^(−64)
			t.Errorf("drew %s", z)
		}
		if z := flat.Draw(source, new(big.Int)); z.CmpAbs(big.NewInt(3)) > 0 {
			t.Errorf("drew %s", z)
		}
	}
}

// TestCrossing: it is the least k with e^(−kε) ≤ δ(1 + b)/(1 − b + 2δb), by floats where they tell.
func TestCrossing(t *testing.T) {
	for _, e := range []*big.Rat{ratio(1, 100), ratio(1, 2), ratio(1, 1), ratio(7, 3), ratio(20, 1)} {
		for _, d := range []*big.Rat{ratio(1, 1_000_000), ratio(1, 1000), ratio(1, 10), ratio(1, 2), ratio(99, 100)} {
			f, _ := e.Float64()
			delta, _ := d.Float64()
			b := math.Exp(-f)
			limit := delta * (1 + b) / (1 - b + 2*delta*b)
			k := 0
			for math.Exp(-float64(k)*f) > limit {
				k++
			}
			if got := sample.Crossing(e, d); got.Int64() != int64(k) {
				t.Errorf("ε = %s, δ = %s: %s, want %d", e, d, got, k)
			}
		}
	}
	// Where ε is far below δ it is (1 − δ)/(2δ), rounded up: for δ = 1/10 that is 4.5.
	if k := sample.Crossing(shifted(1, 0, new(big.Int).Lsh(big.NewInt(1), 200)), ratio(1, 10)); k.Int64() != 5 {
		t.Errorf("ε = 2^−200: %s", k)
	}
	if k := sample.Crossing(shifted(1, 0, new(big.Int).Lsh(big.NewInt(1), 200)),
		shifted(1, 0, new(big.Int).Lsh(big.NewInt(1), 2000))); k.BitLen() < 200 || k.BitLen() > 212 {
		t.Errorf("ε = 2^−200, δ = 2^−2000: %s", k)
	}
}

// TestTulapIsConditioned counts how often a draw's nearest integer is M or −M, against the mass that is left of it
// there, τ·b^M of a b-geometric on either side: to see a cut that is at the wrong end, or at none.
func TestTulapIsConditioned(t *testing.T) {
	for _, c := range [][2]*big.Rat{
		{ratio(1, 100), ratio(1, 5)},
		{ratio(1, 1), ratio(1, 10)},
		{ratio(1, 2), ratio(1, 3)},
		{ratio(2, 1), ratio(1, 50)},
	} {
		e, _ := c[0].Float64()
		d, _ := c[1].Float64()
		b := math.Exp(-e)
		m := float64(sample.Crossing(c[0], c[1]).Int64())
		q := 2 * d * b / (1 - b + 2*d*b)
		tau := (1 - (1+b)*q/2*math.Exp(m*e)) / (1 - b)
		mass := tau * math.Exp(-m*e) * (1 - b) / (1 + b) / (1 - q) // of either side
		// of which the fraction is in its outer half of what is kept
		var low, high [2]int
		g, source, z, n := sample.NewTulap(c[0], c[1]), entropy.System(), new(big.Int), draws()/10
		for range n {
			x, _ := new(big.Float).SetInt(g.Draw(source, z)).Float64()
			x /= 0x1p64
			half := 0
			if v := math.Abs(x) - (m - 0.5); v > tau/2 {
				half = 1
			}
			switch {
			case x > m-0.5:
				high[half]++
			case x < -(m - 0.5):
				low[half]++
			}
		}
		for _, count := range []int{low[0], low[1], high[0], high[1]} {
			if err := (stattest.Proportion{
				Successes: count, Of: stattest.Binomial{Trials: n, Probability: mass / 2},
				FalseAlarm: falseAlarm,
			}).Check(); err != nil {
				t.Errorf("ε = %s, δ = %s, M = %g, τ = %g: %v", c[0], c[1], m, tau, err)
			}
		}
	}
}
