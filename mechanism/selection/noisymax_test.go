package selection

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
)

// rankings is the law of rank over scores with noise, as far as the noise of each is within ±reach: masses by output.
func rankings(scores []int64, k int, dist noise.DiscreteLaplace, reach int64) map[string]float64 {
	masses := make([]float64, 2*reach+1)
	for z := -reach; z <= reach; z++ {
		masses[z+reach] = dist.Mass(big.NewInt(z))
	}
	out, noisy := map[string]float64{}, make([]*big.Int, len(scores))
	var visit func(i int, p float64)
	visit = func(i int, p float64) {
		if i == len(scores) {
			indices, gaps := rank(noisy, k)
			out[fmt.Sprint(indices, gaps)] += p
			return
		}
		for z := -reach; z <= reach; z++ {
			noisy[i] = big.NewInt(scores[i] + z)
			visit(i+1, p*masses[z+reach])
		}
	}
	visit(0, 1)
	return out
}

// TestNoisyTopRatios: for a list of three with its farthest neighbours, each output of order and gaps keeps within
// exp(ε). Noise within ±reach on the one side has its counterpart within ±(reach + 2Δ) on the other, so no tail is
// left out of the comparison: P(o; reach) ≤ exp(ε)·P′(o; reach + 2).
func TestNoisyTopRatios(t *testing.T) {
	const reach = 4
	for k := 1; k <= 3; k++ {
		for _, monotonic := range []bool{false, true} {
			m := NoisyTop{k, big.NewInt(1), monotonic, mechtest.EpsilonRatio(t, 6, 1)}
			dist, err := m.Noise()
			if err != nil {
				t.Fatal(err)
			}
			worst, base := 0.0, []int64{0, 1, 0}
			inner := rankings(base, k, dist, reach)
			for code := range 16 {
				high, low := int64(code>>3), int64(code>>3)-1 // rises, and falls
				if !monotonic {
					high, low = 1, -1
				}
				moved := slices.Clone(base)
				for i := range moved {
					moved[i] += low + int64(code>>i&1)*(high-low)
				}
				outer := rankings(moved, k, dist, reach+2)
				for o, p := range inner {
					worst = max(worst, math.Log(p/outer[o]))
				}
			}
			if worst > 6+1e-9 {
				t.Errorf("K = %d, monotonic %t: a log-ratio of %g", k, monotonic, worst)
			}
			t.Logf("K = %d, monotonic %t: largest log-ratio %.6f, ε = 6", k, monotonic, worst)
		}
	}
}

// TestNoisyTopIsTight: from five candidates on, two of which are chosen, the scale cannot be much smaller.
func TestNoisyTopIsTight(t *testing.T) {
	dist, err := NoisyTop{2, big.NewInt(1), false, mechtest.EpsilonRatio(t, 6, 1)}.Noise()
	if err != nil {
		t.Fatal(err)
	}
	inner, worst := rankings([]int64{1, 1, -1, -1, -1}, 2, dist, 2), 0.0
	outer := rankings([]int64{0, 0, 0, 0, 0}, 2, dist, 4)
	for o, p := range inner {
		worst = max(worst, math.Log(p/outer[o]))
	}
	if worst > 6+1e-9 || worst < 5 {
		t.Errorf("a log-ratio of %g, ε = 6", worst)
	}
}

// TestNoisyTopLaw: orders and gaps have the law of the definition.
func TestNoisyTopLaw(t *testing.T) {
	m := NoisyTop{2, big.NewInt(1), true, mechtest.EpsilonRatio(t, 5, 1)}
	dist, err := m.Noise()
	if err != nil {
		t.Fatal(err)
	}
	scores := []int64{1, 0, 1, -1}
	var names []string
	var expected []float64
	rest := 1.0
	for o, p := range rankings(scores, 2, dist, 6) {
		names, expected, rest = append(names, o), append(expected, p), rest-p
	}
	observed := make([]int, len(names)+1)
	source, list := entropy.System(), mechtest.Exacts(scores...)
	for range 10_000 {
		r, err := m.choose(source, list)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.Index(names, fmt.Sprint(r.Indices, r.Gaps)); i >= 0 {
			observed[i]++
		} else {
			observed[len(names)]++
		}
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: append(expected, max(rest, 0)),
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// TestRank is about ties and the ends of the list.
func TestRank(t *testing.T) {
	for name, c := range map[string]struct {
		noisy []int64
		k     int
		want  string
	}{
		"one":                        {[]int64{5}, 1, "[0] []"},
		"the first of equals":        {[]int64{5, 5, 5}, 1, "[0] [0]"},
		"ahead of an earlier one":    {[]int64{4, 5}, 1, "[1] [0]"},
		"further ahead":              {[]int64{3, 5}, 1, "[1] [1]"},
		"ahead of a later one":       {[]int64{5, 4}, 1, "[0] [1]"},
		"all of three":               {[]int64{1, 7, 7}, 3, "[1 2 0] [0 5]"},
		"two, the next one earlier":  {[]int64{2, 9, 1, 3}, 2, "[1 3] [6 0]"},
		"two, the next one is equal": {[]int64{9, 3, 3, 3}, 2, "[0 1] [6 0]"},
	} {
		noisy := make([]*big.Int, len(c.noisy))
		for i, v := range c.noisy {
			noisy[i] = big.NewInt(v)
		}
		if got := fmt.Sprint(rank(noisy, c.k)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestRankIsTheProofs: noisy scores are what the proof says that order, gaps and the other noisy scores make them.
func TestRankIsTheProofs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 8).Draw(t, "values")
		k := rapid.IntRange(1, len(values)).Draw(t, "k")
		noisy := make([]*big.Int, len(values))
		for i, v := range values {
			noisy[i] = big.NewInt(v)
		}
		indices, gaps := rank(noisy, k)
		before := func(j, i int) int64 { // [j < i]
			if j < i {
				return 1
			}
			return 0
		}
		last := indices[k-1]
		reached := values[last] // where there are no others, as it is
		if k < len(values) {
			highest := int64(math.MinInt64)
			for j, v := range values {
				if !slices.Contains(indices, j) {
					highest = max(highest, v+before(j, last))
				}
			}
			reached = highest + gaps[k-1].Int64()
		}
		for r := k - 1; ; r-- {
			if values[indices[r]] != reached {
				t.Fatalf("%v: of %d, %v with gaps %v", values, k, indices, gaps)
			}
			if r == 0 {
				break
			}
			reached += before(indices[r], indices[r-1]) + gaps[r-1].Int64()
		}
		for _, g := range gaps {
			if g.Sign() < 0 {
				t.Fatalf("a gap of %s", g)
			}
		}
	})
}

// TestGapVariance: between scores far apart the gap has the variance of two independent draws, near 4b². The
// false-alarm rate is 1e-6.
func TestGapVariance(t *testing.T) {
	m := NoisyMax{big.NewInt(1), false, mechtest.EpsilonRatio(t, 1, 5)} // b = 10
	source, list := entropy.System(), mechtest.Exacts(0, 1_000_000)
	const n = 4000
	mean, square := 0.0, 0.0
	for range n {
		s, err := m.choose(source, list)
		if err != nil || s.Index != 1 {
			t.Fatal(s, err)
		}
		g := float64(s.Gap.Int64() + 1 - 1_000_000)
		mean, square = mean+g/n, square+g*g/n
	}
	dist, err := m.top().Noise()
	if err != nil {
		t.Fatal(err)
	}
	v := 2 * dist.Variance()
	if v > 400 || v < 399 {
		t.Errorf("the variance is %g, near 4b² = 400", v)
	}
	// Five deviations: of a mean of n with variance v, and of a mean of n squares with fourth moment below 10v².
	if math.Abs(mean) > 5*math.Sqrt(v/n) || math.Abs(square-v) > 5*3*v/math.Sqrt(n) {
		t.Errorf("mean %g and mean square %g; expected 0 and %g", mean, square, v)
	}
}

// TestNoisyShortfall: no chosen score is further below the best than the bound, but for a share of at most 1 in 20.
func TestNoisyShortfall(t *testing.T) {
	m := NoisyMax{big.NewInt(1), false, mechtest.EpsilonRatio(t, 1, 1)}
	bound, err := m.Shortfall(20, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(2 * 12); bound.Int64() != want { // 2·⌈2·ln(2·400/(1 + e^(−½))) − 1⌉
		t.Errorf("a bound of %s, want %d", bound, want)
	}
	source, scores, within := entropy.System(), make([]int64, 20), 0
	for i := range scores {
		scores[i] = int64(3 * i)
	}
	list := mechtest.Exacts(scores...)
	for range 2000 {
		s, err := m.choose(source, list)
		if err != nil {
			t.Fatal(err)
		}
		if scores[19]-scores[s.Index] <= bound.Int64() {
			within++
		}
	}
	if err := (stattest.Proportion{
		Successes: within, Of: stattest.Binomial{Trials: 2000, Probability: .95},
		FalseAlarm: mechtest.FalseAlarm,
	}).CheckAtLeast(); err != nil {
		t.Error(err)
	}
}
