package selection

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
)

// TestLectureNationalities: of four nationalities, by how many in the room have each, the exponential mechanism names
// one that is within 2(ln 4 + 3)/ε of the most frequent with probability at least 1 − e⁻³ (Δ = 1): exactly, for
// every room of up to 40 of each in steps of 4, and in a sample.
func TestLectureNationalities(t *testing.T) {
	m := Exponential{big.NewInt(1), false, mechtest.EpsilonRatio(t, 1, 2)}
	bound, err := m.Shortfall(big.NewInt(4), math.Exp(-3))
	if want := 2 * (math.Log(4) + 3) / .5; err != nil || bound < want-1e-9 || bound > want+1e-9 {
		t.Fatalf("a bound of %g, %v; want %g", bound, err, want)
	}
	within := func(counts []int64) (p float64) {
		for i, q := range exponentialLaw(times(.25, counts)) {
			if float64(slices.Max(counts)-counts[i]) <= bound {
				p += q
			}
		}
		return p
	}
	least := 1.0
	for a := int64(0); a <= 40; a += 4 {
		for b := int64(0); b <= a; b += 4 {
			for c := int64(0); c <= b; c += 4 {
				for d := int64(0); d <= c; d += 4 {
					least = min(least, within([]int64{a, b, c, d}))
				}
			}
		}
	}
	if least < 1-math.Exp(-3) {
		t.Errorf("within the bound with probability %g only", least)
	}
	t.Logf("within %.2f of the most frequent with probability %.4f or more; promised is %.4f", bound, least,
		1-math.Exp(-3))

	counts := []int64{30, 12, 10, 0} // the three others are beyond the bound of 17.5
	good, list := 0, mechtest.Exacts(counts...)
	source := entropy.System()
	for range 10_000 {
		s, err := m.choose(source, list)
		if err != nil {
			t.Fatal(err)
		}
		if s.Index == 0 {
			good++
		}
	}
	if err := (stattest.Proportion{
		Successes: good, Of: stattest.Binomial{Trials: 10_000, Probability: within(counts)},
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// TestLectureAuction: bids 100, 100, 100 and 401; a price p earns p times the number of bids that are at least p.
// Prices are 1, …, 500, which one bidder more or less can move by 500: Δ = 500. Price 401 earns 401, and 402
// nothing: P(401)/P(402) = exp(401ε/(2Δ)), exactly.
func TestLectureAuction(t *testing.T) {
	m := Exponential{big.NewInt(500), false, mechtest.EpsilonRatio(t, 20, 1)}
	bids, revenue := []int64{100, 100, 100, 401}, make([]int64, 500)
	var space []OutputInterval
	for i := range revenue {
		p := int64(i + 1)
		for _, b := range bids {
			if b >= p {
				revenue[i] += p
			}
		}
		if p <= 401 {
			space = append(space, interval(p, p+1, revenue[i]))
		}
	}
	space = append(space, interval(402, 501, 0)) // as one
	c, err := m.rate()
	if err != nil {
		t.Fatal(err)
	}
	exponent := new(big.Rat).Mul(c, big.NewRat(revenue[400]-revenue[401], 1)) // of P(401)/P(402)
	if want := big.NewRat(401*20, 2*500); exponent.Cmp(want) != 0 {
		t.Errorf("P(401)/P(402) = exp(%s), want exp(%s)", exponent, want)
	}
	expected, observed := exponentialLaw(times(.02, revenue)), make([]int, 500)
	if ratio := math.Log(expected[400] / expected[401]); math.Abs(ratio-8.02) > 1e-9 {
		t.Errorf("the law's log-ratio is %g", ratio)
	}
	t.Logf("ln P(401)/P(402) = %.6f, which is 401·20/(2·500)", math.Log(expected[400]/expected[401]))
	source := entropy.System()
	for range 1000 {
		s, err := m.within(source, slices.Values(space))
		if err != nil {
			t.Fatal(err)
		}
		observed[s.Value.Int64()-1]++
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: expected,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// TestLectureLaplaceIsExponential: with the score −|f − o| of an integer o, which moves by Δ as f does, the
// exponential mechanism is f plus discrete Laplace noise of scale 2Δ/ε: twice the Laplace mechanism's, for it does
// not see that scores are bound together.
func TestLectureLaplaceIsExponential(t *testing.T) {
	m := Exponential{big.NewInt(3), false, mechtest.EpsilonRatio(t, 3, 2)}
	c, err := m.rate()
	if err != nil {
		t.Fatal(err)
	}
	scale := new(big.Rat).Inv(c)
	twice, err := mechanism.Laplace{Sensitivity: big.NewInt(6), Epsilon: m.Epsilon}.Scale()
	if err != nil || scale.Cmp(twice) != 0 || scale.Cmp(big.NewRat(4, 1)) != 0 {
		t.Fatalf("scale %s against %s, %v", scale, twice, err)
	}
	dist, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		t.Fatal(err)
	}
	const f, far = 11, 100 // beyond ±100 lies e⁻²⁵
	var space []OutputInterval
	scores, masses := []int64{}, []float64{}
	for z := int64(-far); z <= far; z++ {
		score := -max(z, -z)
		space = append(space, interval(f+z, f+z+1, score))
		scores, masses = append(scores, score), append(masses, dist.Mass(big.NewInt(z)))
	}
	for i, p := range exponentialLaw(times(.25, scores)) {
		if math.Abs(p-masses[i]) > 1e-10*masses[i] {
			t.Fatalf("mass %d: %g and %g", i-far, p, masses[i])
		}
	}
	observed, source := make([]int, len(masses)), entropy.System()
	for range 1000 {
		s, err := m.within(source, slices.Values(space))
		if err != nil {
			t.Fatal(err)
		}
		observed[s.Value.Int64()-f+far]++
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: masses,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}
