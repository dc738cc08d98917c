package town

import (
	"math"
	"math/big"
	"testing"
)

// The table is the repeated square root of 2, to the nearest.
func TestRoots(t *testing.T) {
	x := new(big.Float).SetPrec(200).SetInt64(2)
	half := big.NewFloat(0.5)
	for i, got := range roots {
		x.Sqrt(x)
		scaled := new(big.Float).SetMantExp(x, 31)
		want, _ := scaled.Add(scaled, half).Uint64()
		if got != want {
			t.Errorf("root %d is %d, want %d", i, got, want)
		}
	}
}

func TestScale(t *testing.T) {
	for exponent := int64(-12 * one); exponent <= 12*one; exponent += 997 {
		const x = 90_000
		want := x * math.Exp2(float64(exponent)/one)
		if got := float64(scale(x, exponent)); math.Abs(got-want) > 1+want/(1<<16) { // truncated, then shifted
			t.Errorf("scale(%d, %d) = %g, want %g", x, exponent, got, want)
		}
	}
}

// Moments of many draws, of one pinned stream: it passes or fails for good. The bounds are six standard errors.
func TestNormal(t *testing.T) {
	const n = 200_000
	s := newStream(1, 1, forPerson)
	sum, squares, beyond := 0.0, 0.0, 0
	for range n {
		x := float64(s.normal()) / one
		sum += x
		squares += x * x
		if math.Abs(x) > 2 {
			beyond++
		}
	}
	if mean := sum / n; math.Abs(mean) > 6/math.Sqrt(n) {
		t.Errorf("mean %g", mean)
	}
	if variance := squares / n; math.Abs(variance-1) > 6*math.Sqrt(2.0/n) {
		t.Errorf("variance %g", variance)
	}
	if share := float64(beyond) / n; math.Abs(share-0.0455) > 0.003 { // twelve uniforms are near the normal's 0.0455
		t.Errorf("beyond two standard deviations: %g", share)
	}
}

// χ² of a pinned stream, which passes or fails for good: with 9 degrees of freedom one seed in 10⁸ would be above 60.
func TestBelowAndPick(t *testing.T) {
	const n = 100_000
	s := newStream(2, 7, forVisits)
	var below, picked [10]int
	for range n {
		below[s.Below(10)]++
		picked[s.pick(1, 2, 3, 4, 0, 0, 0, 0, 0, 10)]++
	}
	test := func(name string, counts [10]int, weights [10]float64) {
		chi := 0.0
		for i, c := range counts {
			switch want := n * weights[i]; {
			case want > 0:
				chi += (float64(c) - want) * (float64(c) - want) / want
			case c > 0:
				t.Errorf("%s: %d draws of weight 0", name, c)
			}
		}
		if chi > 60 {
			t.Errorf("%s: χ² = %g: %v", name, chi, counts)
		}
	}
	test("below", below, [10]float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1})
	test("pick", picked, [10]float64{.05, .1, .15, .2, 9: .5})
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(20) {
		for id := range int64(200) {
			for _, p := range []purpose{forPerson, forVisits} {
				seen[newStream(seed, id, p).Word()] = true
			}
		}
	}
	if len(seen) != 20*200*2 {
		t.Errorf("%d first words of %d streams", len(seen), 20*200*2)
	}
}
