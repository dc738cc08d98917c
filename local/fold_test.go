package local_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"dither/local"
	"dither/privacy"
)

// Folded counts give the estimates of the reports, for every mechanism.
func TestFoldedReportsGiveTheSameEstimates(t *testing.T) {
	for _, name := range local.Mechanisms() {
		k := uint64(5)
		if name == "coin" {
			k = 2
		}
		o := must(local.New(local.Params{Mechanism: name, Values: k, Epsilon: must(privacy.ParseEpsilon("1"))}))
		all, parts := o.NewTally(), o.NewTally()
		for range 3 {
			part := o.NewTally()
			for i := range uint64(20) {
				r := must(o.Randomize(i % k))
				if all.Add(r) != nil || part.Add(r) != nil {
					t.Fatal("a report is refused")
				}
			}
			if err := parts.AddFolded(must(part.Fold())); err != nil {
				t.Fatal(err)
			}
		}
		last := must(o.Randomize(1))
		if all.Add(last) != nil || parts.Add(last) != nil {
			t.Fatal("a report is refused")
		}
		again := o.NewTally()
		if err := again.AddFolded(must(parts.Fold())); err != nil {
			t.Fatal(err)
		}
		want := must(all.Estimate(.95))
		for _, other := range []*local.Tally{parts, again} {
			if got := must(other.Estimate(.95)); other.Reports() != 61 || !slices.Equal(got, want) {
				t.Errorf("%s: folded %v, want %v", name, got, want)
			}
		}
	}
}

func TestCountsThatAreNoFoldedReportsAreRefused(t *testing.T) {
	o := must(local.New(local.Params{Mechanism: "krr", Values: 3, Epsilon: must(privacy.ParseEpsilon("1"))}))
	for _, f := range []local.Folded{
		{Reports: 2, Support: []int64{1, 1}},
		{Reports: 2, Support: []int64{3, 0, 0}},
		{Reports: 2, Support: []int64{-1, 0, 0}},
		{Reports: -1, Support: []int64{0, 0, 0}},
		{Reports: 0, Support: []int64{0, 0, 0}},
	} {
		if err := o.NewTally().AddFolded(f); !errors.Is(err, local.ErrParameter) {
			t.Errorf("%v: %v", f, err)
		}
	}
	if err := o.NewTally().AddFolded(local.Folded{Reports: local.MostReports + 1, Support: []int64{0, 0, 0}}); !errors.Is(err, local.ErrWork) {
		t.Error(err)
	}
}

// The worst reports move an estimate by exactly the stated influence, and no other report moves it further.
func TestInfluenceIsAttainedAndNotExceeded(t *testing.T) {
	for _, name := range local.Mechanisms() {
		k := uint64(3)
		if name == "coin" {
			k = 2
		}
		o := must(local.New(local.Params{Mechanism: name, Values: k, Epsilon: must(privacy.ParseEpsilon("1"))}))
		down, up := o.Influence()
		low, high := 0.0, 0.0
		reports := uint64(300)
		if o.SharedVariance() > 0 { // whose estimates are slow, and whose reports of both kinds are frequent
			reports = 40
		}
		for i := range reports {
			tally := o.NewTally()
			if err := tally.Add(must(o.Randomize(i % k))); err != nil {
				t.Fatal(err)
			}
			x := must(tally.Estimate(.95, 0))[0].Count
			low, high = min(low, x), max(high, x)
		}
		// each kind of report has a probability above 0.05, so both occur unless with probability 10⁻⁶
		if math.Abs(low+down) > 1e-9*down || math.Abs(high-up) > 1e-9*up {
			t.Errorf("%s: one report moves the estimate by %v to %v, stated −%v to %v", name, low, high, down, up)
		}
	}
}

// The interval for m malicious reports contains that of the honest reports alone, whatever the malicious ones are.
func TestSuspectContainsTheHonestInterval(t *testing.T) {
	for _, name := range []string{"krr", "oue", "ss", "hr", "cms", "flh"} {
		o := must(local.New(local.Params{Mechanism: name, Values: 6, Epsilon: must(privacy.ParseEpsilon("2"))}))
		for _, honest := range []int{1, 30, 400} {
			for _, bad := range []int{0, 1, 25} {
				alone, both := o.NewTally(), o.NewTally()
				for i := range honest {
					r := must(o.Randomize(uint64(i) % 6))
					if alone.Add(r) != nil || both.Add(r) != nil {
						t.Fatal("a report is refused")
					}
				}
				for range bad {
					if both.Add(must(o.Randomize(5))) != nil {
						t.Fatal("a report is refused")
					}
				}
				want := must(alone.Estimate(.9))
				for m := int64(bad); m < int64(bad+3) && m < both.Reports(); m++ {
					got := must(both.Suspect(m, .9, must(both.Estimate(.9))))
					for i := range got {
						if got[i].Low > want[i].Low+1e-9 || got[i].High < want[i].High-1e-9 {
							t.Errorf("%s: %v for m = %d does not contain %v", name, got[i], m, want[i])
						}
					}
				}
			}
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
