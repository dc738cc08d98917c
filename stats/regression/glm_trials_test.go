package regression

import (
	"strings"
	"testing"

	"dither/curator"
)

// A search for a regulariser is one release: it is told what it costs, paid once, and predicts. With noise of a
// hundredth of what the coefficients are, a model that predicts fewer than 60 % of the rows, where the best 68 %, has a
// probability below 1e-9.
func TestTryGLM(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		c, _ := glmHome(t, budget, "40", 5000)
		q := GLMTrials{GLM: GLM{
			Family: Logistic, Table: "people", Formula: "ill ~ age + x + g", Rows: 5000,
			Request: curator.Request{Epsilon: "9"},
		}, Regularisers: []string{"20", "50 ", "200"}, Trials: 6}
		told, err := ExplainTrials(t.Context(), c, q)
		if err != nil || told.Replayed || !told.Affordable || told.Largest == "" || told.Correct != nil ||
			told.Trial.Epsilon != "3" || len(told.Coefficients) != 5 || told.Coefficients[0].Noise <= 0 {
			t.Fatalf("%+v, %v", told, err)
		}
		f, err := TryGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		if *f.Correct < 3000 || *f.Correct > 4200 || !strings.Contains(" 20 50 200 ", " "+string(f.Regularise)+" ") {
			t.Errorf("%+v", f)
		}
		if age := f.Coefficients[1]; age.Estimate == nil || *age.Estimate < 0.005 || *age.Estimate > 0.05 {
			t.Errorf("%+v", age)
		}
		again, err := TryGLM(t.Context(), c, q)
		if err != nil || !again.Replayed || *again.Correct != *f.Correct {
			t.Errorf("%+v, %v", again, err)
		}
		b, err := c.Budget()
		if err != nil || budget == pureBudget && b.Spent.Epsilon != "9" || budget == zcdpBudget &&
			b.Spent.Rho != "40.5" {
			t.Errorf("%+v, %v", b, err)
		}
		for says, change := range map[string]func(*GLMTrials){
			"only logistic models": func(q *GLMTrials) { q.Family, q.Formula = Poisson, "visits ~ age" },
			"does not support":     func(q *GLMTrials) { q.Curvature = "0.2" },
			"two ridge penalties":  func(q *GLMTrials) { q.Regularisers = []string{"3"} },
			"decimal above 0":      func(q *GLMTrials) { q.Regularisers = []string{"3", "0"} },
			"is missing":           func(q *GLMTrials) { q.Rows = 0 },
			"mean number of runs":  func(q *GLMTrials) { q.Trials = 1 },
		} {
			wrong := q
			change(&wrong)
			if _, err := TryGLM(t.Context(), c, wrong); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
	}
}
