package mean

import (
	"errors"
	"math"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/stattest"
)

// Sum covers the mean of the senders and that of their population, although people choose their ε by their number. Pool
// covers them if people are assigned at random. Each check has a false alarm of 1e-6.
func TestStrataCover(t *testing.T) {
	people := splitmix.At(21)
	of := []*Randomizer{randomizer(t, Duchi, "0.5"), randomizer(t, Piecewise, "2"), randomizer(t, Hybrid, "4")}
	for name, combined := range map[string]func(float64, []*Tally) (Combined, error){"sum": Sum, "pool": Pool} {
		senders := &stattest.Sequential{Promised: .89, Wrong: .8, FalseAlarm: 1e-6, Miss: 1e-6}
		population := &stattest.Sequential{Promised: .89, Wrong: .8, FalseAlarm: 1e-6, Miss: 1e-6}
		for senders.Open() || population.Open() {
			const n = 900
			numbers, truth := make([][]float64, len(of)), 0.0
			for range n {
				x := float64(people.Below(2001)-1000) / 1000 // with the mean 0
				truth += x / n
				at := people.Below(3)
				if name == "sum" { // small numbers have the strongest privacy
					at = min(int((x+1)*1.5), 2)
				}
				numbers[at] = append(numbers[at], x)
			}
			var strata []*Tally
			for i, r := range of {
				reports, err := r.Randomize(numbers[i])
				if err != nil {
					t.Fatal(err)
				}
				strata = append(strata, r.NewTally())
				for _, report := range reports {
					if err := strata[i].Add(report); err != nil {
						t.Fatal(err)
					}
				}
			}
			e, err := combined(.9, strata)
			if err != nil || e.N != n {
				t.Fatal(e, err)
			}
			senders.Observe(e.Low <= truth && truth <= e.High)
			population.Observe(e.Low <= 0 && 0 <= e.High)
		}
		if err := errors.Join(senders.Check(), population.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One false report moves a combined mean by the stated amount, and strata without reports are refused.
func TestStrataEffect(t *testing.T) {
	a, b := randomizer(t, Duchi, "0.5"), randomizer(t, Duchi, "3")
	strata := func(last int32) []*Tally {
		out := []*Tally{a.NewTally(), b.NewTally()}
		for i := range 10 {
			point := int32(-1)
			if i == 9 {
				point = last
			}
			if err := errors.Join(out[0].Add(Report{false, point}), out[1].Add(Report{false, -1})); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	for name, combined := range map[string]func(float64, []*Tally) (Combined, error){"sum": Sum, "pool": Pool} {
		low, err := combined(.9, strata(-1))
		high, err2 := combined(.9, strata(1))
		moved := high.Mean - low.Mean
		if err := errors.Join(err, err2); err != nil || moved > low.Effect+1e-12 {
			t.Errorf("%s: one report moves the mean by %v, not at most %v; %v", name, moved, low.Effect, err)
		}
		if name == "sum" && math.Abs(moved-low.Effect) > 1e-12 { // the stratum with the smaller ε attains it
			t.Errorf("one report moves the sum by %v, not %v", moved, low.Effect)
		}
		_, none := combined(.9, nil)
		_, empty := combined(.9, append(strata(1), a.NewTally()))
		_, confidence := combined(1, strata(1))
		for _, err := range []error{none, empty, confidence} {
			if !errors.Is(err, ErrParameter) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
