package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/stats/formula"
)

const glmPolicy = `
version: 1
population: {name: test, neighbours: add-remove}
budget: BUDGET
price: {default: 1, maximum: MOST}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 100]}
      x: {type: real, bounds: [-1, 1]}
      g: {type: text, values: [a, b, c]}
      same: {type: real, bounds: [0, 2]}
      none: {type: real, bounds: [0, 1], nullable: true}
      ill: {type: boolean}
      debt: {type: integer, bounds: [-9, -1]}
      visits: {type: integer, bounds: [0, 10]}
`

// glmHome makes a sealed home of rows with logit P(ill) = −1.5 + .03·age + x − .8·(g is b), and ln E(visits) = .2
// + .01·age + .5·x.
func glmHome(t testing.TB, budget, most string, rows int) (*curator.Session, string) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, uint64(rows)))
	var b strings.Builder
	b.WriteString("age,x,g,same,none,ill,debt,visits\n")
	for range rows {
		age, x, g, visits := r.IntN(101), 2*r.Float64()-1, "abc"[r.IntN(3):][:1], 0
		z := -1.5 + 0.03*float64(age) + x
		if g == "b" {
			z -= 0.8
		}
		for p := r.Float64(); p > math.Exp(-math.Exp(0.2+0.01*float64(age)+0.5*x)) && visits < 10; visits++ {
			p *= r.Float64()
		}
		fmt.Fprintf(&b, "%d,%g,%s,1,,%t,-2,%d\n", age, x, g, r.Float64() < 1/(1+math.Exp(-z)), visits)
	}
	return testhome.Sealed(t, strings.NewReplacer("BUDGET", budget, "MOST", most).Replace(glmPolicy), "people",
		map[string]string{"people.csv": b.String()})
}

// glmCovers: at a confidence of 1 − 1e-7 each, the true coefficients are within their intervals.
func glmCovers(t *testing.T, f *GLMFit, want map[string]float64) {
	t.Helper()
	for _, c := range f.Coefficients {
		if c.Low == nil || c.High == nil || c.StdError == nil || !(*c.Low <= want[c.Name] && want[c.Name] <= *c.High) ||
			!(*c.Privacy < *c.StdError) {
			t.Errorf("%s: %v, want %g within %v … %v",
				c.Name, glmShown(c.Estimate), want[c.Name], glmShown(c.Low), glmShown(c.High))
		}
	}
	if len(f.Coefficients) != len(want) {
		t.Errorf("%d coefficients", len(f.Coefficients))
	}
}

func glmShown(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// A logistic and a Poisson model come out with intervals that hold the true coefficients, in the columns' own units;
// they are paid once, the count with them, and explained free.
func TestFitGLM(t *testing.T) {
	for _, budget := range []string{"{epsilon: 1000}", "{rho: 1000, delta: 1e-6}"} {
		c, _ := glmHome(t, budget, "40", 6000)
		q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ age + x + g"}
		q.Epsilon, q.Confidence = "8", "0.9999999"
		told, err := ExplainGLM(t.Context(), c, q)
		if err != nil || told.Count == nil || !told.Affordable || told.Replayed || len(told.Columns) != 5 {
			t.Fatalf("%+v, %v", told, err)
		}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		glmCovers(t, f, map[string]float64{formula.InterceptName: -1.5, "age": 0.03, "x": 1, "g[b]": -0.8, "g[c]": 0})
		b, err := c.Budget()
		if err != nil || b.Spent.Epsilon != f.Price.Epsilon || b.Spent.Rho != f.Price.Rho || f.Price != told.Price {
			t.Errorf("spent %+v for %+v, %v", b.Spent, f.Price, err)
		}
		again, err := FitGLM(t.Context(), c, q)
		if err != nil || !again.Replayed || *again.Coefficients[1].Estimate != *f.Coefficients[1].Estimate {
			t.Errorf("%+v, %v", again, err)
		}
		p := GLM{Family: Poisson, Table: "people", Formula: "visits ~ age + x", Rows: 6000}
		p.Epsilon, p.Confidence = "12", "0.9999999"
		if f, err = FitGLM(t.Context(), c, p); err != nil {
			t.Fatal(err)
		}
		glmCovers(t, f, map[string]float64{formula.InterceptName: 0.2, "age": 0.01, "x": 0.5})
		t.Logf("%s: %v", budget, f.Warnings)
	}
}

// Whatever the rows are, there is an answer, with a warning, of finite numbers.
func TestFitGLMDegenerate(t *testing.T) {
	c, _ := glmHome(t, "{rho: 200, delta: 1e-6}", "15", 1000)
	for _, q := range []GLM{
		{Formula: "ill ~ same + x"}, // collinear with the intercept
		{Formula: "ill ~ none", Method: MethodMinimize},
		{Formula: "ill ~ x", Where: "ill", Method: MethodMinimize},
		{Formula: "ill ~ x", Where: "ill = (x > 0)", Method: MethodMinimize},
		{Formula: "ill ~ x", Where: "x > 1", Method: MethodMinimize},
		{Formula: "ill ~ none"},                      // no row counts
		{Formula: "ill ~ x", Where: "ill"},           // one class
		{Formula: "ill ~ x", Where: "ill = (x > 0)"}, // separable
		{Formula: "ill ~ x", Where: "x > 1"},         // empty
		{Formula: "ill ~ x", Curvature: "0"},         // no sums
		{Formula: "ill ~ x", Regularise: "1000000"},  // nothing but the regulariser
		{Formula: "ill ~ x", Bound: "0.5"},           // rows are scaled down
		{Formula: "ill ~ x + age", Radius: "0.01"},   // at the edge
		{Formula: "ill ~ factor(age)*g", Rows: 1000}, // too many predictors
	} {
		q.Family, q.Table = Logistic, "people"
		f, err := FitGLM(t.Context(), c, q)
		// Noise may look like curvature of a collinear direction, with a probability of about 4 %.
		for again := 0; again < 5 && err == nil && len(f.Warnings) == 0 && q.Method == "" && strings.Contains(q.Formula, "same"); again++ {
			q.Fresh = true
			f, err = FitGLM(t.Context(), c, q)
		}
		if err != nil {
			if q.Rows == 0 {
				t.Errorf("%s: %v", q.Formula, err)
			}
			continue
		}
		if len(f.Warnings) == 0 {
			t.Errorf("%s where %s: no warning: %+v", q.Formula, q.Where, glmShown(f.Coefficients[1].Low))
		}
		for _, k := range f.Coefficients {
			if k.Estimate == nil {
				t.Errorf("%s: no estimate of %s", q.Formula, k.Name)
			}
		}
	}
	for says, q := range map[string]GLM{
		"must be logistic or":    {Family: "probit", Formula: "ill ~ x"},
		"no table":               {Family: Logistic, Table: "nobody", Formula: "ill ~ x"},
		"bounds between 0 and 1": {Family: Logistic, Formula: "visits ~ x"},
		"bound of at least 0":    {Family: Poisson, Formula: "x ~ age"},
		"cannot be read":         {Family: Poisson, Formula: "x"},
		"cannot be -3":           {Family: Logistic, Formula: "ill ~ x", Rows: -3},
		"the radius":             {Family: Logistic, Formula: "ill ~ x", Radius: "-1"},
		"a lower bound of at":    {Family: Poisson, Formula: "debt ~ x"},
		"2^-100 and 2^100":       {Family: Logistic, Formula: "ill ~ x", Bound: "0." + strings.Repeat("0", 30) + "1"},
		"2^60":                   {Family: Poisson, Formula: "visits ~ x", Bound: "1" + strings.Repeat("0", 30)},
		"predictors' norm":       {Family: Logistic, Formula: "ill ~ x", Bound: "none"},
	} {
		if q.Table == "" {
			q.Table = "people"
		}
		if _, err := FitGLM(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
