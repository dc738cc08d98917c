package selection

import (
	"iter"
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
)

func interval(from, to, score int64) OutputInterval {
	e := mechtest.Exacts(from, to, score)
	return OutputInterval{From: e[0], To: e[1], Score: e[2]}
}

// TestSelectWithin: each output has a mass in proportion to exp(c·u), however the space is cut.
func TestSelectWithin(t *testing.T) {
	whole := []OutputInterval{interval(-3, 2, 1), interval(2, 4, 3), interval(9, 10, 5), interval(4, 9, 0)}
	pieces := []OutputInterval{
		interval(4, 5, 0), interval(9, 10, 5), interval(7, 7, 99), interval(7, 3, 99), interval(5, 9, 0),
		interval(-3, -1, 1), interval(3, 4, 3), interval(2, 3, 3), interval(-1, 2, 1),
	}
	scores := []int64{1, 1, 1, 1, 1, 3, 3, 0, 0, 0, 0, 0, 5} // of −3, …, 9
	expected := exponentialLaw(times(.5, scores))
	m, source := Exponential{big.NewInt(1), false, mechtest.EpsilonRatio(t, 1, 1)}, entropy.System()
	for name, space := range map[string][]OutputInterval{"whole": whole, "in pieces": pieces} {
		observed := make([]int, len(scores))
		for range 10_000 {
			s, err := m.within(source, slices.Values(space))
			if err != nil {
				t.Fatal(err)
			}
			observed[s.Value.Int64()+3]++
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: mechtest.FalseAlarm,
		}).Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSelectWithinWide: 2²⁰⁰ outputs weigh as one that scores ln 2²⁰⁰/c more.
func TestSelectWithinWide(t *testing.T) {
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	gain := big.NewInt(139) // 200·ln 2 = 138.63
	space := []OutputInterval{
		{From: mechanism.NewExact(new(big.Int).Neg(far)), To: mechanism.Exact{}},
		{From: mechanism.NewExact(far), To: mechanism.NewExact(new(big.Int).Add(far, big.NewInt(1))), Score: mechanism.NewExact(gain)},
	}
	p := 1 / (1 + math.Exp(200*math.Ln2-139))
	m, alone := Exponential{big.NewInt(1), true, mechtest.EpsilonRatio(t, 1, 1)}, 0
	for range 4000 {
		s, err := m.SelectWithin(slices.Values(space))
		if err != nil {
			t.Fatal(err)
		}
		if s.Value.Cmp(far) == 0 {
			alone++
		} else if s.Value.Sign() >= 0 || s.Value.CmpAbs(far) > 0 {
			t.Fatalf("%s is not in the space", s.Value)
		}
	}
	if err := (stattest.Proportion{
		Successes: alone, Of: stattest.Binomial{Trials: 4000, Probability: p},
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// TestStreams: a space is taken as it comes.
func TestStreams(t *testing.T) {
	m, entry := Exponential{big.NewInt(1), true, mechtest.EpsilonRatio(t, 1, 1)}, new(big.Int)
	var space iter.Seq[OutputInterval] = func(yield func(OutputInterval) bool) {
		for i := range int64(50_000) {
			if !yield(OutputInterval{
				From: mechanism.NewExact(big.NewInt(2 * i)),
				To:   mechanism.NewExact(big.NewInt(2*i + 2)), Score: mechanism.NewExact(entry),
			}) {
				return
			}
		}
	}
	s, err := m.SelectWithin(space)
	if err != nil || s.Value.Sign() < 0 || s.Value.Int64() >= 100_000 {
		t.Errorf("%v, %v", s, err)
	}
}
