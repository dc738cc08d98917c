package together

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

const ofPolicy = `
version: 1
population: {name: town, neighbours: add-remove}
budget: {BUDGET}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 115]}
      ill: {type: boolean}
      city: {type: text, values: [a, b, c]}
`

// town is a home of six people, under a budget.
func town(t *testing.T, budget string) *curator.Session {
	t.Helper()
	c, _ := testhome.Sealed(t, strings.Replace(ofPolicy, "BUDGET", budget, 1), "people", map[string]string{
		"people.csv": "age,ill,city\n30,true,a\n40,false,b\n50,true,c\n60,true,a\n70,false,b\n80,true,c\n",
	})
	return c
}

const (
	ofPure = "epsilon: 1000}\nprice: {default: 1, maximum: 200, minimum: 0.001"
	ofRho  = "rho: 1000000, delta: 1e-6}\nprice: {default: {rho: 1}, maximum: {rho: 100000}, minimum: {rho: 0.0001}"
)

func explain(t *testing.T, c *curator.Session, b Batch) *Answer {
	t.Helper()
	e, err := Explain(t.Context(), c, b)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Two counts that may have rows in common, X and Y, have the variance 4/ε², not 8/ε², and under ρ 2/(3ρ), not 1/ρ.
// Counts without common rows have that of a single count.
func TestTwoCountsNeedLessNoise(t *testing.T) {
	crossing := []string{"SELECT COUNT(*) FROM people WHERE age > 50", "SELECT COUNT(*) FROM people WHERE ill"}
	disjoint := []string{"SELECT COUNT(*) FROM people WHERE age > 50", "SELECT COUNT(*) FROM people WHERE age < 30"}
	for name, of := range map[string]struct {
		budget    string
		questions []string
		request   curator.Request
		want      float64
	}{
		// small prices, so that discrete noise has nearly the variance of continuous noise
		"pure, crossing": {ofPure, crossing, curator.Request{Epsilon: "0.01"}, 4 / 0.0001},
		"pure, disjoint": {ofPure, disjoint, curator.Request{Epsilon: "0.01"}, 2 / 0.0001},
		"zCDP, crossing": {ofRho, crossing, curator.Request{Rho: "0.001"}, 2 / 0.003},
		"zCDP, disjoint": {ofRho, disjoint, curator.Request{Rho: "0.001"}, 1 / 0.002},
	} {
		e := explain(t, town(t, of.budget), Batch{Questions: of.questions, Request: of.request})
		for _, n := range e.Counts {
			if got := n.StdDev * n.StdDev; math.Abs(got/of.want-1) > 2e-3 {
				t.Errorf("%s: a variance of %g, want %g, by %+v", name, got, of.want, e.Candidates)
			}
		}
	}
}

// At a high price, the answers are the counts, for all kinds of counts and strategies. A repeated batch is a replay.
func TestCountsAreThoseOfTheRows(t *testing.T) {
	questions := []string{
		"SELECT COUNT(*) FROM people WHERE age > 50", "SELECT COUNT(*) FROM people WHERE ill AND age > 50",
		"SELECT COUNT(*) FILTER (WHERE city = 'a') AS a, COUNT(*) AS everybody, COUNT(*) FILTER (WHERE NOT ill) FROM people",
		"SELECT COUNT(city) FROM people WHERE age >= 51", "SELECT COUNT(*) FROM people WHERE age > 200",
	}
	want := []float64{3, 2, 2, 6, 2, 3, 0}
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "150"}, ofRho: {Rho: "50000"}} {
		c := town(t, budget)
		for last := 1; last <= len(questions); last++ {
			b := Batch{Questions: questions[:last], Request: request}
			got, err := Ask(t.Context(), c, b)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range got.Counts {
				if math.Abs(n.Value-want[i]) > 12*n.StdDev+1e-9 || n.StdDev > 0.02 || n.Low > n.Value+1e-9 || n.High < n.Value-1e-9 {
					t.Errorf("%d questions: count %d is %+v, want %g", last, i, n, want[i])
				}
			}
			again, err := Ask(t.Context(), c, b)
			if err != nil || !again.Replayed || again.ID != got.ID || !reflect.DeepEqual(again.Counts[0], got.Counts[0]) {
				t.Errorf("again: %+v, %v", again, err)
			}
			if e := explain(t, c, b); e.Counts[0].StdDev != got.Counts[0].StdDev || !e.Replayed {
				t.Errorf("explained: %+v", e)
			}
		}
	}
}

// No candidate is better than the chosen one, and the ellipsoid's least variance is near the known optimum of two
// counts.
func TestChosenIsBest(t *testing.T) {
	three := [][]bool{ // all cells of three conditions
		{false, false, false, false, true, true, true, true},
		{false, false, true, true, false, false, true, true},
		{false, true, false, true, false, true, false, true},
	}
	for _, m := range []int{1, 2, 3} {
		for _, pure := range []bool{true, false} {
			all := choose(three[:m], pure)
			for _, c := range all {
				if c.total < all[0].total*(1-2e-3) {
					t.Errorf("%d counts: %s has %g, and %s is chosen with %g", m, c.name, c.total, all[0].name, all[0].total)
				}
				if m == 2 && c.name == "least variance" && math.Abs(c.total-8.0/3) > 5e-3 {
					t.Errorf("least variance: %g, want 8/3", c.total)
				}
			}
		}
	}
}

func TestBatchesRefuse(t *testing.T) {
	c := town(t, ofPure)
	for name, of := range map[string]struct {
		b    Batch
		says string
	}{
		"nothing":    {Batch{}, "no question"},
		"having":     {Batch{Questions: []string{"SELECT ill, COUNT(*) FROM people GROUP BY ill HAVING COUNT(*) > 3"}}, "besides SELECT, FROM, WHERE and GROUP BY"},
		"no row":     {Batch{Questions: []string{"SELECT COUNT(*) FILTER (WHERE ill) FROM people WHERE NOT ill"}}, "no row can satisfy"},
		"no rows":    {Batch{Questions: []string{"SELECT COUNT(*) FROM people WHERE age > 200", "SELECT COUNT(*) FROM people WHERE age < -5"}}, "no row can satisfy"},
		"unknown":    {Batch{Questions: []string{"SELECT COUNT(*) FROM people GROUP BY street"}}, "street"},
		"an average": {Batch{Questions: []string{"SELECT AVG(age) FROM people"}}, "something else than COUNT(*)"},
		"two kinds":  {Batch{Questions: []string{"SELECT COUNT(*) FROM people", "SELECT SUM(age) FROM people"}}, "measures sum(age), and question 1"},
		"order":      {Batch{Questions: []string{"SELECT COUNT(*) FROM people ORDER BY 1"}}, "besides SELECT, FROM, WHERE and GROUP BY"},
		"sets":       {Batch{Questions: []string{"SELECT COUNT(*) FROM people GROUP BY ROLLUP (ill)"}}, "GROUPING SETS"},
		"nobody":     {Batch{Questions: []string{"SELECT ill, COUNT(*) FROM people GROUP BY ill", "SELECT COUNT(*) FROM people WHERE age > 200"}}, "no row can satisfy"},
		"distinct":   {Batch{Questions: []string{"SELECT COUNT(DISTINCT age) FROM people"}}, "something else than COUNT(*)"},
		"a table":    {Batch{Questions: []string{"SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people p"}}, "another relation"},
		"no table":   {Batch{Questions: []string{"SELECT COUNT(*) FROM nobody"}}, "nobody"},
		"no FROM":    {Batch{Questions: []string{"SELECT 1"}}, "no FROM"},
		"not SQL":    {Batch{Questions: []string{"SELECT COUNT(*) FROM people WHERE"}}, ""},
		"no column":  {Batch{Questions: []string{"SELECT COUNT(*) FROM people WHERE x"}}, "x"},
		"confidence": {Batch{Questions: []string{"SELECT COUNT(*) FROM people"}, Confidence: "1"}, "confidence"},
		"too many":   {Batch{Questions: slices.Repeat([]string{"SELECT COUNT(*) FROM people GROUP BY ill"}, curator.MaxGridQuestions+1)}, "2001 questions"},
	} {
		_, err := Ask(context.Background(), c, of.b)
		if e := (*curator.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), of.says) || e.Charged {
			t.Errorf("%s: %v, want a refusal about %q", name, err, of.says)
		}
	}
}
