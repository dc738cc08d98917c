package estimate

import (
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// What quantiles in order would cost is told by the question itself: whether it was released before, and whether the
// budget has room for it.
func TestQuantilesExplained(t *testing.T) {
	c, _, _ := peopleOf(t, "epsilon: 3", 400)
	of := func(method, epsilon string) Sample {
		return Sample{
			Request: curator.Request{Epsilon: epsilon}, Table: "people", Columns: []string{"x"},
			Method: method,
		}
	}
	for _, method := range []string{MethodRecursive, MethodJoint, MethodSmooth} {
		s := of(method, "0.9")
		before := statstest.Remaining(t, c)
		p, err := PlanQuantile(t.Context(), c, s, "0.5")
		if err != nil || p.Replayed || !p.Affordable || p.Price.Epsilon != "0.9" {
			t.Errorf("%s: %+v, %v", method, p, err)
			continue
		}
		if _, err := p.Run(t.Context()); err != nil || statstest.Remaining(t, c).Cmp(before) >= 0 {
			t.Errorf("%s: %v", method, err)
		}
		if p, err := PlanQuantile(t.Context(), c, s, "0.5"); err != nil || !p.Replayed || !p.Affordable {
			t.Errorf("%s again: %+v, %v", method, p, err)
		}
	}
	// The kernel's own median having been released says nothing of these.
	if _, err := Quantile(t.Context(), c, of(MethodIndependent, "0.2"), "0.5"); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{MethodRecursive, MethodJoint, MethodSmooth} {
		if p, err := PlanQuantile(t.Context(), c, of(method, "0.2"), "0.5"); err != nil || p.Replayed || p.Affordable {
			t.Errorf("%s beyond the budget: %+v, %v", method, p, err)
		}
	}
}
