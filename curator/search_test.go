package curator

import (
	"math"
	"strings"
	"testing"
)

// A search is one release at one price, whatever the number of its trials; again it is free. Of three balls, two of which hold no coefficient of use, the third is found unless it was never tried: of six searches
// (fresh ones) at 40 trials on average, all would miss with a probability below 1e-6.
func TestSearchMinimum(t *testing.T) {
	for _, terms := range []struct{ budget, epsilon, rho string }{{"{epsilon: 40}", "6", ""}, {"{rho: 4000, delta: 1e-6}", "3", ""}, {"{rho: 4000, delta: 1e-6}", "", "4.5"}} {
		home := fitHome(t, terms.budget, "add-remove", 3000)
		c := openHome(t, home)
		q := MinimumSearch{
			Request: Request{SQL: "SELECT x1, x2, 1, y FROM people", Epsilon: terms.epsilon, Rho: terms.rho}, Rows: 3000, Trials: 40,
			Candidates: []MinimumCandidate{{"50", "0.001"}, {"50", "0.002"}, {"50", "5"}},
		}
		trial := "1"
		if terms.epsilon == "6" {
			trial = "2"
		}
		told, err := c.ExplainSearch(t.Context(), q)
		if err != nil || told.Replayed || told.Coefficients.Values != nil || math.Abs(told.Trials-40) > 0.1 || told.Trial.Epsilon != trial || told.Missed <= 0 || told.Missed > 0.06 {
			t.Fatalf("%+v, %v", told, err)
		}
		found := false
		for i := range 6 {
			q.Fresh = i > 0
			m, err := c.SearchMinimum(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if m.Replayed || m.Best < 0 || m.Best > 2 || len(m.Coefficients.Values) != 3 || len(m.Correct.Values) != 1 {
				t.Fatalf("%+v", m)
			}
			found = found || m.Best == 2
			if n, _ := m.Correct.Values[0].Float64(); n < 500 || n > 3100 {
				t.Errorf("%g rows predicted rightly", n)
			}
		}
		if !found {
			t.Error("the best candidate was never found")
		}
		b, err := c.Budget()
		if err != nil || b.Answers != 6 || strings.HasPrefix(terms.budget, "{epsilon") && b.Spent.Epsilon != "36" || strings.HasPrefix(terms.budget, "{rho") && b.Spent.Rho != "27" {
			t.Errorf("%+v, %v", b, err)
		}
		q.Fresh = false
		again, err := c.SearchMinimum(t.Context(), q)
		after, wrong := c.Budget()
		if err != nil || wrong != nil || !again.Replayed || after.Spent != b.Spent {
			t.Errorf("%+v, %v", again, err)
		}
	}
}

// What cannot be searched is refused, free; data that say nothing are no error.
func TestSearchMinimumRefuses(t *testing.T) {
	c := openHome(t, fitHome(t, "{epsilon: 1}", "change-one", 20))
	good := MinimumSearch{Request: Request{SQL: "SELECT x1, 1, y FROM people", Epsilon: "0.2"}, Rows: 20, Candidates: []MinimumCandidate{{"10", "2"}, {"20", "2"}}}
	for says, change := range map[string]func(m *MinimumSearch){
		"1 to 64 candidates":         func(m *MinimumSearch) { m.Candidates = nil },
		"mean number of runs":        func(m *MinimumSearch) { m.Trials = 1 },
		"the share of the count":     func(m *MinimumSearch) { m.Score = "1" },
		"the regulariser":            func(m *MinimumSearch) { m.Candidates = []MinimumCandidate{{"0", "2"}} },
		"the radius":                 func(m *MinimumSearch) { m.Candidates = []MinimumCandidate{{"1", ""}} },
		"longer than the 10m0s":      func(m *MinimumSearch) { m.Rows, m.Trials = 1<<26, 1000 },
		"number of rows is missing":  func(m *MinimumSearch) { m.Rows = 0 },
		"bounds between 0 and 1":     func(m *MinimumSearch) { m.SQL = "SELECT x1, 1, n FROM people" },
		"price":                      func(m *MinimumSearch) { m.Epsilon = "2" },
		"there is no table \"nope\"": func(m *MinimumSearch) { m.SQL = "SELECT x1, y FROM nope" },
	} {
		m := good
		change(&m)
		if _, err := c.SearchMinimum(t.Context(), m); err == nil || !strings.Contains(strings.ToLower(err.Error()), says) {
			t.Errorf("%v, want a refusal about %q", err, says)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("refusals cost %s", got)
	}
	m := good
	m.SQL = "SELECT x1, y FROM people WHERE x1 > 1"
	if _, err := c.SearchMinimum(t.Context(), m); err != nil {
		t.Error(err)
	}
}

// The time that is left for a search is that of its dearest candidate, wherever that stands among them.
func TestSearchMinimumPasses(t *testing.T) {
	c := openHome(t, fitHome(t, "{epsilon: 40}", "add-remove", 20))
	passes := func(candidates ...MinimumCandidate) int64 {
		m, err := c.minimaOf(MinimumSearch{
			Request: Request{SQL: "SELECT x1, x2, 1, y FROM people", Epsilon: "6"}, Rows: 3000, Trials: 40, Candidates: candidates,
		})
		if err != nil {
			t.Fatal(err)
		}
		return m.Look().Passes()
	}
	quick, slow := MinimumCandidate{"5000", "2"}, MinimumCandidate{"0.5", "2"}
	if a, b := passes(quick, slow), passes(slow, quick); a != b || a <= passes(quick, quick) {
		t.Errorf("%d and %d passes, and %d of the quick one alone", a, b, passes(quick, quick))
	}
}
