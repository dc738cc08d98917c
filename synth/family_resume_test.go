package synth

import (
	"context"
	"testing"
)

// Two tables that are interrupted between their reservations, or in the second one, continue: each part is paid once.
func TestInterruptedFamilyContinues(t *testing.T) {
	c, _, _ := clinic(t, 50, rich)
	r := FamilyRequest{
		Request:  Request{Table: "people", Rho: "12", Bins: 6, Columns: []string{"age", "smoker", "day", "department"}},
		Children: "visits",
	}
	p, err := ExplainFamily(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	parents, err := reserve(t.Context(), c, p.Parents)
	if err != nil {
		t.Fatal(err)
	}
	if err := parents.rounds.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	steps, tables := 0, 0
	r.Watch = func(p Progress) {
		if steps++; p.Measured <= 2 && steps > 3 { // the second table has begun
			tables++
			cancel()
		}
	}
	if _, err := SynthesizeFamily(ctx, c, r); err == nil || tables == 0 {
		t.Fatalf("not cancelled: %v", err)
	}
	r.Watch, r.Resume = nil, true
	result, err := SynthesizeFamily(t.Context(), c, r)
	if err != nil || result.Parents.Release != parents.rounds.ID {
		t.Fatalf("%+v, %v", result, err)
	}
	b, err := c.Budget()
	if err != nil || b.Spent.Rho != "12" {
		t.Errorf("%s is spent, %v", b.Spent.Rho, err)
	}
}
