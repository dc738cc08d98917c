package synth

import (
	"context"
	"testing"
)

// Two tables that are interrupted at any table continue: they are paid once.
func TestInterruptedFamilyContinues(t *testing.T) {
	c, _, _ := clinic(t, 50, rich)
	r := FamilyRequest{
		Request:  Request{Table: "people", Rho: "12", Bins: 6, Columns: []string{"age", "smoker", "day", "department"}},
		Children: "visits",
	}
	for _, last := range []float64{0.1, 0.6} { // of the price: among the persons, and among the rows
		ctx, cancel := context.WithCancel(t.Context())
		r.Watch = func(p Progress) {
			if p.Share >= last {
				cancel()
			}
		}
		if _, err := SynthesizeFamily(ctx, c, r); err == nil {
			t.Fatal("not cancelled")
		}
		r.Resume = true
	}
	r.Watch = nil
	result, err := SynthesizeFamily(t.Context(), c, r)
	if err != nil || result.Parents.Release != result.Children.Release {
		t.Fatalf("%+v, %v", result, err)
	}
	release := result.Parents.Release
	if again, err := SynthesizeFamily(t.Context(), c, r); err != nil || !again.Parents.Replayed || !again.Children.Replayed || again.Parents.Release != release {
		t.Errorf("%+v, %v", again, err)
	}
	b, err := c.Budget()
	if err != nil || b.Spent.Rho != "12" {
		t.Errorf("%s is spent, %v", b.Spent.Rho, err)
	}
}
