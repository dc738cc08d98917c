package tabulate_test

import (
	"slices"
	"testing"

	"dither/strategy/tabulate"
)

// A division of the price that is kept in the home replays on a processor that rounds differently. Another price is
// divided as that processor does.
func TestKeptDivisionsReplay(t *testing.T) {
	c, s := session(t, "rho: 2, delta: 1e-6"), parse(t, specText)
	first, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	tabulate.Otherwise(t)
	again, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil || !again.Replayed || !slices.Equal(again.Releases, first.Releases) {
		t.Errorf("again: %v, %v", again, err)
	}
	if !slices.Equal(again.Plan.Groups[0].Parts[0].Columns, first.Plan.Groups[0].Parts[0].Columns) ||
		again.Plan.Groups[0].Parts[0].Share != first.Plan.Groups[0].Parts[0].Share {
		t.Error("the plan states other shares than those that were measured")
	}
	e, err := tabulate.Explain(t.Context(), session(t, "rho: 2, delta: 1e-6"), s, "")
	if err != nil || e.Groups[0].Parts[0].Share == first.Plan.Groups[0].Parts[0].Share {
		t.Errorf("another rounding gives the same share, so this test shows nothing: %v", err)
	}
}
