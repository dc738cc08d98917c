package regression

import (
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/glm"
	"dither/internal/testhome"
	"dither/stats/formula"
)

// Under a price in ε, noise inside the objective has the least expected error where there are many rows, and is the
// default. Its intervals hold the coefficients that the rows were drawn from (at a confidence of 1 − 1e-7 each), it is
// one release beside the count, and it is explained and repeated free.
func TestFitObjective(t *testing.T) {
	c, _ := glmHome(t, "{epsilon: 1000}", "40", 6000)
	q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ age + x + g"}
	q.Epsilon, q.Confidence = "8", "0.9999999"
	told, err := ExplainGLM(t.Context(), c, q)
	if err != nil || told.Method != MethodObjective || len(told.Methods) != 3 || told.Regularise <= 0 || told.Noise != "cube" {
		t.Fatalf("%+v, %v", told, err)
	}
	f, err := FitGLM(t.Context(), c, q)
	if err != nil || f.Method != MethodObjective || len(f.IDs) != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	glmCovers(t, f, map[string]float64{formula.InterceptName: -1.5, "age": 0.03, "x": 1, "g[b]": -0.8, "g[c]": 0})
	again, err := FitGLM(t.Context(), c, q)
	if err != nil || !again.Replayed || *again.Coefficients[1].Estimate != *f.Coefficients[1].Estimate {
		t.Errorf("%+v, %v", again, err)
	}
}

// Whatever the rows are, noise inside the objective gives finite numbers, and a warning where there are no intervals.
func TestFitObjectiveDegenerate(t *testing.T) {
	c, _ := glmHome(t, "{epsilon: 400}", "15", 1000)
	for _, q := range []GLM{
		{Formula: "ill ~ same + x"},                  // collinear with the intercept
		{Formula: "ill ~ none"},                      // no row counts
		{Formula: "ill ~ x", Where: "ill"},           // one class
		{Formula: "ill ~ x", Where: "ill = (x > 0)"}, // separable
		{Formula: "ill ~ x", Where: "x > 1"},         // empty
		{Formula: "ill ~ x", Bound: "0.5"},           // rows are scaled down
		{Formula: "ill ~ x + age", Radius: "0.01"},   // at the edge
	} {
		q.Family, q.Table, q.Method, q.Rows = Logistic, "people", MethodObjective, 1000
		f, err := FitGLM(t.Context(), c, q)
		// Noise may look like curvature of a collinear direction, with a probability of about 4 %.
		for again := 0; again < 5 && err == nil && len(f.Warnings) == 0; again++ {
			q.Fresh = true
			f, err = FitGLM(t.Context(), c, q)
		}
		if err != nil {
			t.Errorf("%s where %q: %v", q.Formula, q.Where, err)
			continue
		}
		for _, k := range f.Coefficients {
			if k.Estimate == nil {
				t.Errorf("%s where %q: %s has no estimate", q.Formula, q.Where, k.Name)
			}
		}
		if len(f.Warnings) == 0 {
			t.Errorf("%s where %q: no warning: %+v", q.Formula, q.Where, f.Coefficients)
		}
	}
}

// What the method cannot do is refused before anything is charged.
func TestFitObjectiveRefused(t *testing.T) {
	pure, _ := glmHome(t, "{epsilon: 10}", "1", 40)
	zcdp, _ := glmHome(t, "{rho: 10, delta: 1e-6}", "1", 40)
	for says, q := range map[string]GLM{
		"only logistic models":        {Family: Poisson, Formula: "visits ~ x"},
		"chooses its ridge penalty":   {Family: Logistic, Formula: "ill ~ x", Regularise: "5"},
		"no ridge penalty suits":      {Family: Logistic, Formula: "ill ~ x + age + g", Rows: 20},
		"a price in ε alone":          {Family: Logistic, Formula: "ill ~ x"},
		"the radius at most 1000":     {Family: Logistic, Formula: "ill ~ x", Radius: "2000", Rows: 100_000},
		"must be minimize, newton or": {Family: Logistic, Formula: "ill ~ x", Method: "objectives"},
	} {
		c := pure
		if strings.Contains(says, "alone") {
			c = zcdp
		}
		if q.Method == "" {
			q.Method = MethodObjective
		}
		q.Table, q.Epsilon = "people", "0.01"
		if strings.Contains(says, "radius") || strings.Contains(says, "alone") {
			q.Epsilon = "1"
		}
		if _, err := FitGLM(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", q, err, says)
		}
		if b, err := c.Budget(); err != nil || b.Spent.Epsilon != "" && b.Spent.Epsilon != "0" {
			t.Errorf("%q: spent %+v, %v", says, b.Spent, err)
		}
	}
}

// A plan knows how many rows of a unit differ between neighbours, whatever the radius and the bound are.
func TestGLMUnits(t *testing.T) {
	relation, persons := []string{"add-remove", "change-one"}, []string{"unit: row", "unit: same\n    rows_per_unit: 3"}
	for name, of := range map[string]struct {
		edit        []string
		unit, moves float64
	}{
		"a row":               {nil, 1, 1},
		"a row, change-one":   {relation, 1, 2},
		"persons":             {persons, 3, 3},
		"persons, change-one": {append(persons, relation...), 3, 6},
	} {
		c := glmUnits(t, of.edit)
		for _, q := range []GLM{
			{}, {Radius: "1000"}, {Radius: "0.01"}, {Bound: "0.01"}, {Bound: "0.01", Radius: "1000"}, {Regularise: "0.5"},
		} {
			q.Family, q.Table, q.Formula, q.Rows, q.Epsilon = Logistic, "people", "ill ~ x", 2000, "4"
			if got := publicTerms(t, c, q); got.Unit != of.unit || got.Moves != of.moves {
				t.Errorf("%s, %+v: %g rows of a unit, %g differ", name, q, got.Unit, got.Moves)
			}
		}
	}
}

// glmUnits makes a home of the policy of glmHome with edits, where same is an integer.
func glmUnits(t *testing.T, edit []string) *curator.Session {
	t.Helper()
	edit = append([]string{
		"BUDGET", "{epsilon: 10}", "MOST", "10", "same: {type: real, bounds: [0, 2]}", "same: {type: integer}",
	}, edit...)
	c, _ := testhome.Sealed(t, strings.NewReplacer(edit...).Replace(glmPolicy), "people", map[string]string{
		"people.csv": "age,x,g,same,none,ill,debt,visits\n1,0.5,a,1,,true,-2,3\n2,0.5,b,2,,false,-2,3\n",
	})
	return c
}

// publicTerms returns the public terms of a fit with a given number of rows.
func publicTerms(t *testing.T, c *curator.Session, q GLM) glm.Terms {
	t.Helper()
	p, err := decideGLM(c, q)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := p.minimisation(float64(q.Rows), 0)
	if err != nil {
		t.Fatal(err)
	}
	terms, _, err := p.terms(m, float64(q.Rows))
	if err != nil {
		t.Fatal(err)
	}
	return terms
}

// The sensitivity inside an objective is what its plan expects, also at a large radius, where a large part of it is for
// the regulariser's growth with the number of rows.
func TestGLMDrift(t *testing.T) {
	c, _ := glmHome(t, "{epsilon: 10}", "4", 40)
	for _, radius := range []string{"10", "300", "1000"} {
		q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ x", Rows: 500, Method: MethodObjective}
		q.Epsilon, q.Radius = "2", radius
		told, err := ExplainGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		terms := publicTerms(t, c, q)
		if want := terms.Moves + told.Regularise*terms.Drift; math.Abs(told.Sensitivity/want-1) > 1e-6 {
			t.Errorf("radius %s: sensitivity %g, planned %g", radius, told.Sensitivity, want)
		}
	}
}

// Under ρ, Newton steps give rows with large predictors less weight where noise matters. With clusters they do not, because
// the scores of clusters have no weights, nor without an intercept, because the Hessian does not show the sum of weights.
func TestFitWeighted(t *testing.T) {
	c, _ := glmHome(t, "{rho: 10, delta: 1e-6}", "1", 40)
	q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ age + x + g", Method: MethodNewton, Rows: 5000}
	for rho, weighted := range map[string]bool{"0.01": true, "0.5": false} {
		q.Rho = rho
		told, err := ExplainGLM(t.Context(), c, q)
		if err != nil || told.Leverage >= told.Bound || (told.Leverage > 0) != weighted {
			t.Fatalf("ρ = %s: %+v, %v", rho, told, err)
		}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil || f.Leverage != told.Leverage {
			t.Errorf("ρ = %s: %+v, %v", rho, f, err)
		}
	}
	q.Rho, q.Formula = "0.01", "ill ~ age + x + g - 1"
	if told, err := ExplainGLM(t.Context(), c, q); err != nil || told.Leverage != 0 {
		t.Errorf("no intercept: %+v, %v", told, err)
	}
	q.Formula, q.Cluster = "ill ~ x", "g"
	if told, err := ExplainGLM(t.Context(), c, q); err != nil || told.Leverage != 0 {
		t.Errorf("clusters: %+v, %v", told, err)
	}
}

// Where the policy does not permit the prices of the best steps, newton divides the price evenly between two, if it permits those.
func TestFitEvenSteps(t *testing.T) {
	c, _ := glmHome(t, "{rho: 10, delta: 1e-6}", "1", 400) // the least price is a ten thousandth of the budget, ρ = 0.001
	q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ x", Rows: 5000}
	for rho, newton := range map[string]bool{"0.002": true, "0.0019": false} {
		q.Rho = rho
		told, err := ExplainGLM(t.Context(), c, q)
		if err != nil || (told.Method == MethodNewton) != newton {
			t.Errorf("ρ = %s: %+v, %v", rho, told, err)
		}
	}
	q.Rho = "0.002"
	f, err := FitGLM(t.Context(), c, q)
	if err != nil || f.Method != MethodNewton || len(f.IDs) != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	q.Rho, q.Method = "0.0019", MethodNewton
	if _, err := FitGLM(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), "below the policy's minimum") {
		t.Errorf("%v", err)
	}
}
