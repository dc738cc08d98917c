package regression

import (
	"strings"
	"testing"

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
