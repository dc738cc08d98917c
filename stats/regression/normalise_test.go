package regression

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/internal/scale"
)

// Means and spreads cost their share and no more, and coefficients are those of the columns as they are: near the true
// ones at a confidence that fails once in ten million.
func TestLinearNormalises(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		c := newHome(t, budget, 4000)
		q := Linear{
			Table: "points", Formula: "y ~ x + same", Normalise: "0.25",
			Request: curator.Request{Epsilon: "20"}, Confidence: "0.9999999",
		}
		for _, replayed := range []bool{false, true} {
			f, err := FitLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			// The column without any spread keeps its declared bounds.
			if f.Replayed != replayed || len(f.Bounds) != 2 {
				t.Fatalf("%+v", f)
			}
			for i, want := range []struct{ mean, spread float64 }{{4.5, 1.93}, {1, 0.577}} {
				if b := f.Bounds[i]; math.Abs(b.Mean-want.mean) > 0.2 || math.Abs(b.Spread-want.spread) > 0.15 ||
					b.Low > b.Mean-2.5*b.Spread && b.Low > 0 {
					t.Errorf("%s: %+v", budget, b)
				}
			}
			if k := f.Coefficients[1]; k.Estimate == nil || math.Abs(*k.Estimate-3) > 0.4 {
				t.Errorf("%s: %s, want 3", budget, shown(k))
			}
			b, err := c.Budget()
			if err != nil {
				t.Fatal(err)
			}
			if budget == pureBudget && b.Spent.Epsilon != "20" || budget == zcdpBudget && b.Spent.Rho != "200" {
				t.Errorf("%s: spent %+v", budget, b.Spent)
			}
			if told, err := ExplainLinear(t.Context(), c, q); err != nil ||
				!strings.Contains(strings.Join(told.Notes, "\n"), "means and spreads") {
				t.Errorf("%+v, %v", told, err)
			}
			part, err := FitLinear(t.Context(), c, Linear{From: f.ID, Formula: "y ~ x"})
			if err != nil || !part.Replayed || math.Abs(*part.Coefficients[1].Estimate-3) > 0.4 {
				t.Errorf("%+v, %v", part, err)
			}
		}
		for share, says := range map[string]string{
			"0": "between 0 and 1", "1": "between 0 and 1",
			"x": "between 0 and 1",
		} {
			q.Normalise = share
			if _, err := FitLinear(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", share, err)
			}
		}
		q.Normalise, q.FindBounds = "0.2", "0.2"
		if _, err := FitLinear(t.Context(), c, q); err == nil ||
			!strings.Contains(err.Error(), "--normalise do not go together") {
			t.Errorf("%v", err)
		}
	}
}

// Bounds that are ten times too wide: at the same price, normalising makes the standard error of a slope a quarter of
// what it is without, or less. (Its own noise is a hundredth of the spreads, so that it fails with a probability below
// 1e-9.)
func TestNormaliseGains(t *testing.T) {
	const policy = "version: 1\npopulation: {name: made-up}\nbudget: {rho: 1000, delta: 1e-6}\ntables:\n  points:\n    source: {csv: points.csv}\n    unit: row\n    columns:\n" +
		"      y: {type: real, bounds: [-60, 60]}\n      x: {type: real, bounds: [-10, 10]}\n"
	var rows strings.Builder
	rows.WriteString("y,x\n")
	for _, p := range madeUp(20000) {
		fmt.Fprintf(&rows, "%.6f,%g\n", p.y, p.x)
	}
	c := homeOf(t, policy, "points.csv", rows.String(), "points")
	errors := map[string]float64{}
	for _, share := range []string{"", "0.2"} {
		f, err := FitLinear(t.Context(), c,
			Linear{Table: "points", Formula: "y ~ x", Normalise: share, Request: curator.Request{Rho: "1"}})
		if err != nil {
			t.Fatal(err)
		}
		errors[share] = *f.Coefficients[1].StdError
		t.Logf("%q: %s", share, shown(f.Coefficients[1]))
	}
	if !(errors["0.2"] < errors[""]/4) {
		t.Errorf("%v", errors)
	}
}

// Where noise hides how many rows there are, or how they spread, the declared bounds stay; whatever is released, bounds
// are finite and in order.
func TestNormalBounds(t *testing.T) {
	c, err := scale.Of(curator.TableColumn{Name: "x", Type: "real", Lower: "-1", Upper: "3"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		rows, rowsError, first, second, sumError float64
		ok                                       bool
	}{
		{1000, 10, 100, -400, 10, true},
		{1000, 10, 100, -490, 10, false}, // a variance of 0 with its noise
		{30, 10, 3, 0, 10, false},
		{-5, 10, 3, 0, 10, false},
		{0, 0, 0, 0, 0, false},
		{1000, 10, -1e300, 1e300, 10, false},
		{1000, 10, math.NaN(), 0, 10, false},
		{1000, 10, 0, 490, 10, true},
	} {
		b, ok := normalBounds(c, of.rows, of.rowsError, of.first, of.second, of.sumError)
		if ok != of.ok || ok && !(b.Low >= -1 && b.Low < b.High && b.High <= 3) {
			t.Errorf("%+v: %+v, %t", of, b, ok)
		}
	}
}

// Before anything is paid it is known that the policy takes each part of the price; a fit with the declared bounds is
// not taken for one that is normalised; and what was paid is free when the budget is gone.
func TestLinearNormalisesWithinThePolicy(t *testing.T) {
	c := newHome(t, "{epsilon: 40}", 400) // the least price is 0.004
	q := Linear{Table: "points", Formula: "y ~ x", Request: curator.Request{Epsilon: "1"}}
	plain, err := FitLinear(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []string{"0.003", "0.997"} {
		q.Normalise = share
		if _, err := FitLinear(t.Context(), c, q); !errors.Is(err, curator.ErrPriceLimits) ||
			!strings.Contains(err.Error(), "several accesses") {
			t.Errorf("%s: %v", share, err)
		}
	}
	if b, err := c.Budget(); err != nil || b.Spent != plain.Price {
		t.Errorf("spent %+v, %v", b, err)
	}
	q.Normalise = "0.2"
	explained := func(replayed bool) {
		t.Helper()
		if told, err := ExplainLinear(t.Context(), c, q); err != nil || told.Replayed != replayed || !told.Affordable &&
			!replayed || told.Price != plain.Price {
			t.Errorf("%+v, %v", told, err)
		}
	}
	explained(false)
	if _, err := FitLinear(t.Context(), c, q); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(),
		curator.Question{SQL: "SELECT COUNT(*) FROM points", Epsilon: "38"}); err != nil {
		t.Fatal(err)
	}
	explained(true)
	if f, err := FitLinear(t.Context(), c, q); err != nil || !f.Replayed || f.Remaining.Epsilon != "0" {
		t.Errorf("%+v, %v", f, err)
	}
	q.Normalise = "0.3"
	if _, err := FitLinear(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), "more than the remaining") {
		t.Errorf("%v", err)
	}
}
