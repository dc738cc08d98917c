package regression

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/formula"
)

// A logistic model is normalised and its terms are chosen within its price: of those that matter none is missing, the
// intervals hold the true coefficients (at a confidence that fails once in ten million each), and asked again it is
// free. The errors of the terms' sums are a tenth of what they tell at this price, and less.
func TestGLMPrepared(t *testing.T) {
	c, _ := glmHome(t, zcdpBudget, "100", 20000)
	q := GLM{
		Family: Logistic, Table: "people", Formula: "ill ~ age + x + g + debt + visits", Rows: 20000, Normalise: "0.1",
		Choose:  "4",
		Request: curator.Request{Rho: "50"}, Confidence: "0.9999999",
	}
	told, err := ExplainGLM(t.Context(), c, q)
	if err != nil || len(told.Notes) != 2 || told.Price.Rho != "50" {
		t.Fatalf("%+v, %v", told, err)
	}
	for _, replayed := range []bool{false, true} {
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		if f.Replayed != replayed || f.Choice == nil || len(f.Choice.Chosen) != 4 || len(f.IDs) != 2+4 || // four Newton steps
			f.Price.Rho != "50" || f.Confidence != "0.9999999" {
			t.Fatalf("%+v", f)
		}
		for _, name := range []string{"age", "x", "g"} {
			if !slices.Contains(f.Choice.Chosen, name) {
				t.Errorf("%v lacks %s", f.Choice.Chosen, name)
			}
		}
		if len(f.Bounds) < 2 { // age and x at least; debt is a constant, and visits may not be chosen
			t.Errorf("%+v", f.Bounds)
		}
		for _, k := range f.Coefficients {
			want, ok := map[string]float64{"age": 0.03, "x": 1, "g[b]": -0.8, "g[c]": 0}[k.Name]
			if ok && (k.Low == nil || *k.Low > want || *k.High < want || *k.High-*k.Low > 3) {
				t.Errorf("%s: %v [%v, %v]", k.Name, *k.Estimate, k.Low, k.High)
			}
			if k.P != nil && (*k.P < 0 || *k.P > 1 || math.IsNaN(*k.P)) {
				t.Errorf("%s: p %g", k.Name, *k.P)
			}
		}
		b, err := c.Budget()
		if err != nil || b.Spent.Rho != "50" {
			t.Errorf("spent %+v, %v", b, err)
		}
	}
	for says, change := range map[string]func(*GLM){
		"linear and logistic":  func(q *GLM) { q.Family, q.Formula = Poisson, "visits ~ age" },
		"nothing of the price": func(q *GLM) { q.ChooseShare = "0.9" },
		"between 0 and 1":      func(q *GLM) { q.Normalise = "1" },
		"0 to 5":               func(q *GLM) { q.Choose = "9" },
		"number of terms":      func(q *GLM) { q.Choose, q.ChooseShare = "", "0.2" },
		"needs an intercept":   func(q *GLM) { q.Formula = "ill ~ 0 + age + x" },
	} {
		wrong := q
		change(&wrong)
		if _, err := FitGLM(t.Context(), c, wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "50" {
		t.Errorf("spent %+v, %v", b, err)
	}
}

// Nothing to choose by: no rows, constants, NULLs alone. There is an answer, and no number in it is none.
func TestGLMPreparedOfNothing(t *testing.T) {
	for _, rows := range []int{0, 3} {
		c, _ := glmHome(t, pureBudget, "40", rows)
		for _, formula := range []string{"ill ~ age + x + g", "ill ~ same + debt", "ill ~ none + x"} {
			f, err := FitGLM(t.Context(), c,
				GLM{
					Family: Logistic, Table: "people", Formula: formula, Rows: 100, Normalise: "0.2", Choose: "auto",
					Request: curator.Request{Epsilon: "1"},
				})
			if err != nil {
				t.Errorf("%d rows, %s: %v", rows, formula, err)
				continue
			}
			for _, k := range f.Coefficients {
				for _, x := range []*float64{k.Estimate, k.StdError, k.Low, k.High, k.P} {
					if x != nil && !finite(*x) {
						t.Errorf("%d rows, %s: %+v", rows, formula, k)
					}
				}
			}
		}
	}
}

// What prepares a model is paid only where all of it can be, and the policy takes each part of the price; the numbers
// that are normalised are predictors, and of the chosen model; and what was paid is free, and said to be, when the
// budget is gone.
func TestGLMPreparedWithinThePolicy(t *testing.T) {
	c, _ := glmHome(t, "{epsilon: 40}", "40", 2000) // the least price is 0.004
	plain := GLM{
		Family: Logistic, Table: "people", Formula: "visits ~ age + x + debt",
		Classes: formula.Classes{Positive: "1"}, Request: curator.Request{Epsilon: "10"},
	}
	q := plain
	q.Normalise, q.Choose = "0.2", "2"
	refused := func(says string, change func(*GLM)) {
		t.Helper()
		before, err := c.Budget()
		if err != nil {
			t.Fatal(err)
		}
		wrong := q
		change(&wrong)
		if _, err := FitGLM(t.Context(), c, wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
		if after, err := c.Budget(); err != nil || after.Spent != before.Spent {
			t.Errorf("%s: spent %+v, %v", says, after, err)
		}
	}
	refused("below the policy's minimum", func(q *GLM) { q.ChooseShare = "0.0003" })
	refused("below the policy's minimum", func(q *GLM) { q.ChooseShare = "0.7997" })
	if _, err := FitGLM(t.Context(), c, plain); err != nil {
		t.Fatal(err)
	}
	refused("more than the remaining", func(q *GLM) { q.Epsilon = "40" })
	for _, replayed := range []bool{false, true} {
		told, err := ExplainGLM(t.Context(), c, q)
		if err != nil || told.Replayed != replayed || told.Price.Epsilon != "10" {
			t.Fatalf("%+v, %v", told, err)
		}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil || f.Replayed != replayed {
			t.Fatalf("%+v, %v", f, err)
		}
		for _, b := range f.Bounds {
			if b.Column == "visits" || !slices.Contains(f.Choice.Chosen, b.Column) {
				t.Errorf("%+v, of %v", b, f.Choice.Chosen)
			}
		}
		if !replayed {
			b, err := c.Budget()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Answer(t.Context(),
				curator.Question{SQL: "SELECT COUNT(*) FROM people", Epsilon: b.Remaining.Epsilon}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
