package selection

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism/internal/mechtest"
)

// TestTopExponential: the order of three of four has the law of drawing one after another.
func TestTopExponential(t *testing.T) {
	scores := []int64{0, 1, 3, -1}
	m := TopExponential{K: 3, Sensitivity: big.NewInt(1), Epsilon: mechtest.EpsilonRatio(t, 3, 1)}
	p := exponentialLaw(times(.5, scores)) // ε/K is 1
	var names []string
	var expected []float64
	var draw func(order []int, chance, rest float64)
	draw = func(order []int, chance, rest float64) {
		if len(order) == 3 {
			names, expected = append(names, fmt.Sprint(order)), append(expected, chance)
			return
		}
		for i := range scores {
			if !slices.Contains(order, i) {
				draw(append(slices.Clone(order), i), chance*p[i]/rest, rest-p[i])
			}
		}
	}
	draw(nil, 1, 1)
	observed := make([]int, len(names))
	for range 10_000 {
		r, err := m.Select(mechtest.Exacts(scores...))
		if err != nil {
			t.Fatal(err)
		}
		observed[slices.Index(names, fmt.Sprint(r.Indices))]++
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: expected,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}
