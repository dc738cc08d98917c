package together

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"dither/curator"
	"dither/strategy"
	"dither/strategy/product"
)

// With almost no noise, the answers of questions with groups, sets, ranges, conditions of several columns, and sums are
// those of the rows. Asking again is free, and the explanation states the same errors.
func TestSeveralColumnsAreAnswered(t *testing.T) {
	counts := []string{
		"SELECT city, COUNT(*) FROM people GROUP BY city",
		"SELECT ill, city, COUNT(*) AS n FROM people WHERE age BETWEEN 35 AND 75 GROUP BY 1, city",
		"SELECT COUNT(*) FROM people WHERE city IN ('a', 'c') AND NOT ill",
		"SELECT COUNT(*), COUNT(*) FILTER (WHERE age >= 50) FROM people WHERE ill",
		"SELECT COUNT(*) FROM people WHERE age > 60 OR city = 'a'",
		"SELECT COUNT(*) FROM people WHERE age % 20 = 10 AND city LIKE 'a%'",
	}
	sums := []string{
		"SELECT SUM(age) FROM people", "SELECT city, SUM(age) FROM people WHERE ill GROUP BY city",
		"SELECT SUM(age) FROM people WHERE age < 55",
	}
	wantCounts := []float64{2, 2, 2, 0, 2, 0, 1, 0, 1, 0, 4, 3, 4, 1}
	wantSums := []float64{330, 90, 0, 130, 120}
	for _, budget := range []struct {
		text    string
		request curator.Request
	}{{ofPure, curator.Request{Epsilon: "200"}}, {ofRho, curator.Request{Rho: "50000"}}} {
		c := town(t, budget.text)
		for _, of := range []struct {
			questions []string
			want      []float64
		}{{counts, wantCounts}, {sums, wantSums}} {
			b := Batch{Questions: of.questions, Request: budget.request}
			got, err := Ask(t.Context(), c, b)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Counts) != len(of.want) {
				t.Fatalf("%d answers, want %d: %+v", len(got.Counts), len(of.want), got.Counts)
			}
			for i, n := range got.Counts {
				if math.Abs(n.Value-of.want[i]) > 12*n.StdDev || n.StdDev > 4 { // 2e-7 for each answer with Laplace noise
					t.Errorf("%s: answer %d of %q is %v ± %v, want %v", budget.text, i, of.questions[n.Question], n.Value, n.StdDev, of.want[i])
				}
			}
			e := explain(t, c, b)
			if !e.Replayed || e.Counts[0].StdDev != got.Counts[0].StdDev || e.Bound <= 0 || e.Bound > e.Candidates[0].StdDev*(1+1e-9) {
				t.Errorf("explained %+v", e)
			}
		}
	}
}

// Many ranges of one column are answered from one measurement, with an error that is near the certified bound.
func TestManyRanges(t *testing.T) {
	c := town(t, ofRho)
	b := Batch{Request: curator.Request{Rho: "0.5"}}
	for i := range 40 {
		b.Questions = append(b.Questions, fmt.Sprintf("SELECT COUNT(*) FROM people WHERE age BETWEEN %d AND %d", i, 2*i+20))
	}
	e := explain(t, c, b)
	if len(e.Counts) != 40 || e.Candidates[0].Name != "product" || e.Candidates[0].StdDev > 1.02*e.Bound {
		t.Errorf("%d counts, %+v, bound %v", len(e.Counts), e.Candidates, e.Bound)
	}
}

// No count has less noise than a count that is asked alone at the same price, and the errors are those that the plan states.
func TestErrorsAreThoseOfThePlan(t *testing.T) {
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "0.01"}, ofRho: {Rho: "0.001"}} {
		c := town(t, budget)
		alone := explain(t, c, Batch{Questions: []string{"SELECT COUNT(*) FROM people"}, Request: request}).Counts[0].StdDev
		b := Batch{Request: request, Questions: []string{
			"SELECT city, COUNT(*) FROM people GROUP BY city", "SELECT ill, city, COUNT(*) FROM people WHERE age BETWEEN 35 AND 75 GROUP BY ill, city",
			"SELECT COUNT(*) FROM people WHERE age % 20 = 10 AND city LIKE 'a%'",
		}}
		g, err := several(t.Context(), c, b)
		if err != nil {
			t.Fatal(err)
		}
		e, sum := explain(t, c, b), 0.0
		for i, n := range e.Counts {
			sum += n.StdDev * n.StdDev
			if n.StdDev < alone*(1-1e-3) {
				t.Errorf("%s: count %d has the deviation %v, and alone %v", budget, i, n.StdDev, alone)
			}
		}
		got, want := math.Sqrt(sum/float64(len(e.Counts)))/alone, g.choice.Measurable.RMSE
		if math.Abs(got/want-1) > 5e-3 { // discrete noise differs a little from continuous noise
			t.Errorf("%s: a root mean square of %v, planned %v", budget, got, want)
		}
	}
}

// A recorded choice replays the release on a processor that rounds differently.
func TestRecordedPlansReplay(t *testing.T) {
	c := town(t, ofRho)
	b := Batch{
		Questions: []string{
			"SELECT city, COUNT(*) FROM people GROUP BY city", "SELECT ill, COUNT(*) FROM people WHERE age < 50 GROUP BY ill",
			"SELECT COUNT(*) FROM people WHERE age BETWEEN 10 AND 60",
		},
		Request: curator.Request{Rho: "1"},
	}
	first, err := Ask(t.Context(), c, b)
	if err != nil {
		t.Fatal(err)
	}
	before := optimise
	defer func() { optimise = before }()
	called := 0
	optimise = func(w *product.Workload, unit strategy.Unit) (*product.Choice, error) {
		called++
		choice, err := before(w, unit)
		if err == nil { // another plan, as another rounding could choose
			choice.Measurable = other(t, w, unit, choice)
		}
		return choice, err
	}
	again, err := Ask(t.Context(), c, b)
	if err != nil || !again.Replayed || again.ID != first.ID || called != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	fresh := b
	fresh.Questions = b.Questions[:2]
	if _, err := Ask(t.Context(), c, fresh); err != nil || called != 1 {
		t.Errorf("a new batch compares plans %d times, %v", called, err)
	}
}

// A context that ends while plans are compared ends the call.
func TestComparisonsAreCancelled(t *testing.T) {
	c := town(t, ofRho)
	b := Batch{Questions: []string{"SELECT city, COUNT(*) FROM people GROUP BY city"}, Request: curator.Request{Rho: "1"}}
	before, held := optimise, make(chan struct{})
	defer func() { optimise = before; close(held) }()
	ctx, cancel := context.WithCancel(t.Context())
	optimise = func(*product.Workload, strategy.Unit) (*product.Choice, error) {
		cancel()
		<-held
		return nil, errors.New("too late")
	}
	for name, do := range map[string]func() error{
		"ask":     func() error { _, err := Ask(ctx, c, b); return err },
		"compare": func() error { _, err := Compare(ctx, c, b); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if budget, err := c.Budget(); err != nil || budget.Answers != 0 {
		t.Errorf("%+v are paid for (%v)", budget, err)
	}
}

// other returns a plan with the weights of the parts changed a little.
func other(t *testing.T, w *product.Workload, unit strategy.Unit, c *product.Choice) *product.Plan {
	t.Helper()
	data, err := c.Measurable.Record()
	if err != nil {
		t.Fatal(err)
	}
	p, err := product.Restore(w, unit, data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
