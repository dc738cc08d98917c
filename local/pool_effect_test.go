package local

import (
	"math"
	"testing"

	"dither/privacy"
)

// One report of a stratum, replaced by any other, moves no frequency by more than PoolEffect, and some by as much.
func TestPoolEffectIsAttained(t *testing.T) {
	counts := [][]int{{300, 200, 100}, {3, 2, 4}}
	tallies := func() (out []*Tally) {
		for i, e := range []string{"0.5", "4"} {
			epsilon, err := privacy.ParseEpsilon(e)
			if err != nil {
				t.Fatal(err)
			}
			o, err := New(Params{Mechanism: "krr", Values: 3, Epsilon: epsilon})
			if err != nil {
				t.Fatal(err)
			}
			tally := o.NewTally()
			for v, n := range counts[i] {
				for range n {
					if err := tally.Add([]byte{byte(v << 6)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			out = append(out, tally)
		}
		return out
	}
	before := tallies()
	effect, err := PoolEffect(before)
	if err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for i := range counts {
		old, err := Pool(.95, before)
		if err != nil {
			t.Fatal(err)
		}
		counts[i][0], counts[i][1] = counts[i][0]-1, counts[i][1]+1
		found, err := Pool(.95, tallies())
		if err != nil {
			t.Fatal(err)
		}
		counts[i][0], counts[i][1] = counts[i][0]+1, counts[i][1]-1
		for v := range found {
			most = max(most, math.Abs(found[v].Frequency-old[v].Frequency))
		}
	}
	if math.Abs(most-effect) > 1e-12 {
		t.Errorf("one report moves a frequency by %v, and PoolEffect is %v", most, effect)
	}
}
