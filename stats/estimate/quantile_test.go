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

// TestQuantileMethods checks the default method, which follows from public facts, the listed expected errors, and that
// what the methods state about intervals is so.
func TestQuantileMethods(t *testing.T) {
	c, _, _ := peopleOf(t, "epsilon: 1000", 400)
	for _, of := range []struct {
		name       string
		epsilon    string
		confidence string
		without    bool
		population bool
		by         []string
		at         []string
		method     string
		listed     int
	}{
		{name: "a median", epsilon: "1", at: []string{"0.5"}, method: MethodLadder, listed: 5},
		{name: "a median at 90 %", epsilon: "1", confidence: "0.9", at: []string{"0.5"}, method: MethodLadder, listed: 5},
		{name: "a median at 99 %", epsilon: "1", confidence: "0.99", at: []string{"0.5"}, method: MethodIndependent, listed: 5},
		{name: "a value alone", epsilon: "1", without: true, at: []string{"0.5"}, method: MethodRecursive, listed: 4},
		{name: "a value alone, at a high price", epsilon: "20", without: true, at: []string{"0.5"}, method: MethodSmooth, listed: 4},
		{name: "two quantiles", epsilon: "1", at: []string{"0.25", "0.75"}, method: MethodLadder, listed: 4},
		{name: "quartiles", epsilon: "1", at: []string{"0.25", "0.5", "0.75"}, method: MethodRecursive, listed: 4},
		{name: "of a population", epsilon: "5", population: true, at: []string{"0.5"}, method: MethodIndependent},
	} {
		s := Sample{
			Request: curator.Request{Epsilon: of.epsilon, Fresh: true}, Table: "people", Columns: []string{"x"},
			Confidence: of.confidence, WithoutIntervals: of.without, Population: of.population, By: of.by,
		}
		p, err := PlanQuantile(t.Context(), c, s, of.at...)
		if err != nil {
			t.Errorf("%s: %v", of.name, err)
			continue
		}
		if p.Method != of.method || len(p.Methods) != of.listed {
			t.Errorf("%s: %s (%s) of %+v", of.name, p.Method, p.Why, p.Methods)
		}
		for _, m := range p.Methods {
			if m.ExpectedError == nil || *m.ExpectedError <= 0 || (m.ExpectedHalfWidth != nil) != (m.Confidence != "") {
				t.Errorf("%s: %+v", of.name, m)
			}
		}
		out, err := p.Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", of.name, err)
			continue
		}
		for _, v := range out.Values {
			if has := v.Low != nil && v.High != nil; has == out.NoInterval || v.Value == nil ||
				has && (v.Low.Real > v.Value.Real || v.High.Real < v.Value.Real) {
				t.Errorf("%s: %+v", of.name, v)
			}
		}
	}
	for _, s := range []Sample{
		{Method: MethodLadder, WithoutIntervals: true},
		{Method: MethodLadder, Confidence: "0.99"},
		{Population: true, WithoutIntervals: true},
		{By: []string{"y"}, WithoutIntervals: true},
	} {
		s.Request, s.Table, s.Columns = curator.Request{Epsilon: "1"}, "people", []string{"x"}
		if p, err := PlanQuantile(t.Context(), c, s, "0.5"); err == nil {
			t.Errorf("%+v: %s", s, p.Method)
		}
	}
	if _, err := PlanMean(t.Context(), c, Sample{
		Request: curator.Request{Epsilon: "1"}, Table: "people", Columns: []string{"x"}, WithoutIntervals: true,
	}); err == nil {
		t.Error("a mean left out its interval")
	}
}
