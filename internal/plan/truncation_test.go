package plan_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/truncation"
)

func twentieth() plan.Estimate { return plan.Estimate{Share: big.NewRat(1, 20)} }

// The estimate takes its share, and the rest of the price goes to what it would go to anyway: all parts add up to at most the price, and lack less than
// what rounding takes. An estimate of which the question does not ask changes nothing.
func TestTruncationTakesItsShare(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	estimated, without := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(worlds).Draw(t, "world")
		request, _, _ := w.Anything(t)
		request.Truncation = twentieth()
		p, err := plan.Build(w.Policy, request)
		if err != nil {
			return
		}
		request.Truncation = plan.Estimate{}
		plain, err := plan.Build(w.Policy, request)
		if err != nil {
			t.Fatalf("%s: %v", request.SQL, err)
		}
		versions := make([]int, len(p.Tables()))
		if p.Truncation == nil {
			without++
			if p.Key(versions...) != plain.Key(versions...) {
				t.Fatalf("%s: nothing can be cut, and the key differs", request.SQL)
			}
			return
		}
		estimated++
		if p.Key(versions...) == plain.Key(versions...) {
			t.Fatalf("%s: one key with an estimate and without", request.SQL)
		}
		if !p.Price.Within(plain.Price) || !plain.Price.Within(p.Price) {
			t.Fatalf("%s: the price is %s, and %s", request.SQL, p.Price, plain.Price)
		}
		if want := p.Price.Share(1, 20); p.Selection == nil && p.Truncation.Loss.String() != want.String() {
			t.Fatalf("%s: the estimate costs %s, of %s", request.SQL, p.Truncation.Loss, p.Price)
		}
		for i, m := range p.Measures {
			if m.Loss.Within(plain.Measures[i].Loss) == plain.Measures[i].Loss.Within(m.Loss) {
				t.Fatalf("%s: measure %s costs %s, and %s without an estimate", request.SQL, m, m.Loss, plain.Measures[i].Loss)
			}
		}
	})
	if estimated < 20 || without < 5 {
		t.Errorf("%d questions with an estimate, %d without", estimated, without)
	}
}

// What a unit must exceed, of each way in which units are bounded.
func TestTruncationBounds(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for sql, want := range map[string]truncation.Bounds{
		"SELECT COUNT(*) FROM visits":                                                          {Rows: 12},
		"SELECT COUNT(*), COUNT(DISTINCT person) FROM visits":                                  {Rows: 12},
		"SELECT COUNT(DISTINCT person) FROM visits":                                            {},
		"SELECT AVG(cost) FROM visits WHERE days > 3":                                          {Rows: 12},
		"SELECT MEDIAN(cost) FROM visits":                                                      {Rows: 12},
		"SELECT COUNT(*) FROM people":                                                          {},
		"SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) v":      {},
		"SELECT department, COUNT(DISTINCT person) FROM visits GROUP BY department":            {Groups: 3},
		"SELECT department, AVG(cost), COUNT(DISTINCT person) FROM visits GROUP BY department": {Rows: 12, Groups: 3},
		"SELECT SUM(days, contribution_bounds_per_group => (0, 5)) FROM visits":                {Rows: 12},
		"SELECT days > 3, COUNT(DISTINCT person) FROM visits GROUP BY days > 3":                {},
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql, Truncation: twentieth()})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		got := truncation.Bounds{}
		if q.Truncation != nil {
			got = q.Truncation.Bounds
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", sql, got, want)
		}
		if noted := strings.Contains(strings.Join(q.Notes, " "), "No bound can leave out"); noted != want.None() {
			t.Errorf("%s: notes %q", sql, q.Notes)
		}
	}
}

// The constants: 1 unit, and most − cap rows, under either relation.
func TestTruncationSensitivity(t *testing.T) {
	for _, n := range []string{"add-remove", "change-one"} {
		q, err := plan.Build(townPolicy(t, n), plan.Request{
			SQL: "SELECT COUNT(*) FROM visits", Truncation: plan.Estimate{Share: big.NewRat(1, 20), Rows: 100},
		})
		if err != nil {
			t.Fatal(err)
		}
		units, rows := q.Truncation.Measures[truncation.Units], q.Truncation.Measures[q.Truncation.Asked.Rows(q.Truncation.Bounds)]
		if units.L1.Int64() != 1 || units.L2Squared.Int64() != 1 || rows.L1.Int64() != 88 || rows.L2Squared.Int64() != 7744 {
			t.Errorf("%s: units %s, %s; rows %s, %s", n, units.L1, units.L2Squared, rows.L1, rows.L2Squared)
		}
	}
}

// A question that is refused for its estimate is not planned over fewer keys, which would have other bounds.
func TestRefusedEstimatesKeepTheKeys(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, w := range worlds {
		r := plan.Request{SQL: "SELECT COUNT(DISTINCT person) FROM p WHERE k = 5 GROUP BY k"}
		plain, err := plan.Build(w.Policy, r)
		r.Truncation = twentieth()
		if p, estimated := plan.Build(w.Policy, r); err == nil && estimated != nil {
			refused++
		} else if err == nil && p.Truncation == nil && p.Key(0) != plain.Key(0) {
			t.Errorf("%s: no estimate, and another key", p.Canonical(0))
		}
	}
	if refused == 0 {
		t.Error("no world refuses the estimate")
	}
}
