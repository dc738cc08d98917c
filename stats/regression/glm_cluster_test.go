package regression

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/testhome"

	"gonum.org/v1/gonum/mat"
)

// event is a row of a person with several, whose response is 1 or 0.
type event struct {
	person int
	ward   string
	x, y   float64
}

// events makes up 1 to 4 rows of each person about the log-odds −1 + 2x. They share x, and most of what else moves the
// log-odds.
func events(persons int) (out []event) {
	words := splitmix.At(splitmix.Mix(uint64(persons) + 77))
	for person := range persons {
		ward, shared := words.Below(12), 1.5*standardNoise(&words, false)
		x := float64(words.Below(1001)) / 500
		for range 1 + words.Below(4) {
			y := 0.0
			if float64(words.Below(1<<30))/(1<<30) < 1/(1+math.Exp(1-2*x-shared)) {
				y = 1
			}
			out = append(out, event{person, string(rune('a' + ward)), x, y})
		}
	}
	return out
}

func byPersonOf(e event) string { return fmt.Sprint(e.person) }
func byWardOf(e event) string   { return e.ward }

// logisticSandwich are the coefficients and the standard errors of y ~ x by statsmodels' definition of
// GLM(…, Binomial()).fit(cov_type="cluster").
func logisticSandwich(rows []event, cluster func(event) string) (beta, errors []float64) {
	b := mat.NewVecDense(2, nil)
	var inverse mat.Dense
	scores := map[string]*mat.VecDense{}
	for range 30 {
		h, g := mat.NewSymDense(2, nil), mat.NewVecDense(2, nil)
		clear(scores)
		for _, r := range rows {
			z := mat.NewVecDense(2, []float64{1, r.x})
			p := 1 / (1 + math.Exp(-mat.Dot(z, b)))
			h.SymRankOne(h, p*(1-p), z)
			g.AddScaledVec(g, r.y-p, z)
			of := cluster(r)
			if scores[of] == nil {
				scores[of] = mat.NewVecDense(2, nil)
			}
			scores[of].AddScaledVec(scores[of], r.y-p, z)
		}
		if err := inverse.Inverse(h); err != nil {
			panic(err)
		}
		var step mat.VecDense
		step.MulVec(&inverse, g)
		b.AddVec(b, &step)
	}
	m := mat.NewSymDense(2, nil)
	for _, s := range scores {
		m.SymRankOne(m, 1, s)
	}
	var half, out mat.Dense
	half.Mul(&inverse, m)
	out.Mul(&half, &inverse)
	g, n := float64(len(scores)), float64(len(rows))
	for i := range 2 {
		errors = append(errors, math.Sqrt(out.At(i, i)*g/(g-1)*(n-1)/(n-2)))
	}
	return b.RawVector().Data, errors
}

// eventsHome is a home with events, their rows, and rows without an x, which do not count: of other persons, and of those
// who have fewer than four rows.
func eventsHome(t *testing.T, budget string, persons int) (*curator.Session, []event) {
	t.Helper()
	policy := "version: 1\npopulation: {name: made-up}\nbudget: " + budget + "\ntables:\n  events:\n" +
		"    source: {csv: events.csv}\n    unit: person\n    rows_per_unit: 4\n    columns:\n      person: {type: integer}\n" +
		"      y: {type: integer, bounds: [0, 1]}\n      x: {type: real, bounds: [0, 2], nullable: true}\n" +
		"      ward: {type: text, values: [a, b, c, d, e, f, g, h, i, j, k, l]}\n"
	rows, many := events(persons), map[int]int{}
	var text strings.Builder
	text.WriteString("person,ward,x,y\n")
	for _, v := range rows {
		fmt.Fprintf(&text, "%d,%s,%g,%g\n", v.person, v.ward, v.x, v.y)
		many[v.person]++
	}
	for person := range persons + 50 {
		if many[person] < 4 {
			fmt.Fprintf(&text, "%d,a,,1\n", person)
		}
	}
	c, _ := testhome.Sealed(t, policy, "events", map[string]string{"events.csv": text.String()})
	return c, rows
}

// TestClusteredLogisticErrors: with little noise, the standard errors are those of the rows themselves, which are those of
// statsmodels.GLM(y, x, Binomial()).fit(cov_type="cluster") on the same rows (tools/peers/clusters.py). In 20 runs the
// noise moved the errors by a standard deviation of at most 0.2 per cent, and the estimates by at most 0.03 errors, both by
// minimize, whose errors are 1.8 per cent too large. So the test fails with a probability below 1e-9.
func TestClusteredLogisticErrors(t *testing.T) {
	pure, zcdp := "{epsilon: 1000}\nprice: {maximum: 900}", "{rho: 10000, delta: 1e-6}\nprice: {maximum: 140}"
	for _, of := range []struct {
		budget, column, method string
		cluster                func(event) string
	}{
		{pure, "PERSON", "", byPersonOf},
		{pure, "person", MethodNewton, byPersonOf},
		{zcdp, "person", "", byPersonOf},
		{zcdp, "person", MethodMinimize, byPersonOf},
		{pure, "ward", "", byWardOf},
	} {
		c, rows := eventsHome(t, of.budget, 3000)
		beta, errs := logisticSandwich(rows, of.cluster)
		q := GLM{
			Family: Logistic, Method: of.method, Table: "events", Formula: "y ~ x", Cluster: of.column, Rows: int64(len(rows)),
		}
		if q.Epsilon = "900"; of.budget == zcdp {
			q.Epsilon, q.Rho = "", "9000"
		}
		e, err := ExplainGLM(t.Context(), c, q)
		if err != nil || !e.Affordable || e.Replayed || len(e.Scores) < 2 {
			t.Fatalf("%+v, %v", e, err)
		}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range f.Coefficients {
			if math.Abs(*k.Estimate-beta[i]) > 0.3*errs[i] || math.Abs(*k.StdError/errs[i]-1) > 0.04 {
				t.Errorf("%s, %s: %g (%g), and of the rows %g (%g)", of.budget, of.column, *k.Estimate, *k.StdError, beta[i],
					errs[i])
			}
			if half := (*k.High - *k.Low) / 2; half < 1.95**k.StdError || half > 2.9**k.StdError || !(*k.P < 0.05) {
				t.Errorf("%s, %s: ± %g at a standard error of %g, p = %g", of.budget, of.column, half, *k.StdError, *k.P)
			}
		}
		clusters := map[string]float64{"person": 3000, "ward": 12}[f.Cluster]
		if f.Clusters == nil || math.Abs(*f.Clusters-clusters) > 2 || len(f.IDs) < 2 || f.Price != e.Price || f.Replayed {
			t.Errorf("%+v", f)
		}
		again, err := FitGLM(t.Context(), c, q)
		if err != nil || !again.Replayed || again.Remaining != f.Remaining ||
			*again.Coefficients[1].High != *f.Coefficients[1].High {
			t.Errorf("%+v, %v", again, err)
		}
		if e, err = ExplainGLM(t.Context(), c, q); err != nil || !e.Replayed {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

// TestLogisticClustersRefused: what clusters do not support is refused before anything is paid, and clusters without rows
// are no failure. A fit without intervals does not pay for scores.
func TestLogisticClustersRefused(t *testing.T) {
	c, _ := eventsHome(t, "{epsilon: 2}", 20)
	good := GLM{
		Family: Logistic, Table: "events", Formula: "y ~ x", Cluster: "person", Request: curator.Request{Epsilon: "1"}, Rows: 50,
	}
	for reason, change := range map[string]func(*GLM){
		"has no column":           func(q *GLM) { q.Cluster = "nobody" },
		"the values of x are not": func(q *GLM) { q.Cluster = "X" },
		"cannot be a predictor":   func(q *GLM) { q.Cluster, q.Formula = "ward", "y ~ x + WARD" },
		"more clusters than coefficients": func(q *GLM) {
			q.Cluster, q.Where, q.Formula = "ward", "ward IN ('a', 'b')", "y ~ x"
		},
		"--normalise and --choose":      func(q *GLM) { q.Normalise = "0.2" },
		"does not support --normalise":  func(q *GLM) { q.Choose = "auto" },
		"a --bound of at least 1.41421": func(q *GLM) { q.Bound = "1" },
		"--curvature 0 does not pay":    func(q *GLM) { q.Method, q.Curvature = MethodMinimize, "0" },
		"above the policy's maximum":    func(q *GLM) { q.Epsilon = "3" },
		"do not match":                  func(q *GLM) { q.Where = "x > 1) GROUP BY (ward" },
	} {
		q := good
		change(&q)
		if _, err := FitGLM(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if _, err := TryGLM(t.Context(), c, GLMTrials{GLM: good, Regularisers: []string{"1", "2"}}); err == nil ||
		!strings.Contains(err.Error(), "--choose and --cluster") {
		t.Error(err)
	}
	b, err := c.Budget()
	if err != nil || b.Remaining.Epsilon != "2" {
		t.Errorf("%+v, %v", b, err)
	}
	// Clusters without rows are no failure.
	for _, where := range []string{"x < -1", "x > 1.9"} {
		q := good
		q.Where, q.Epsilon = where, "0.5"
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range f.Coefficients {
			if k.Low != nil && k.High != nil && *k.Low > *k.High {
				t.Errorf("%+v", k)
			}
		}
		if none := f.Coefficients[0].Low == nil && f.Coefficients[1].Low == nil; none && f.Scores == nil && f.Price.Epsilon != "0.375" {
			t.Errorf("a fit without intervals costs %s", f.Price)
		}
	}
}

// TestLogisticClustersAreAffordable: the price of the fit and of the scores together is checked before the first release,
// whatever the method is.
func TestLogisticClustersAreAffordable(t *testing.T) {
	c, _ := eventsHome(t, "{epsilon: 2}", 20)
	q := GLM{Family: Logistic, Table: "events", Formula: "y ~ x", Request: curator.Request{Epsilon: "1"}, Rows: 50}
	if _, err := FitGLM(t.Context(), c, q); err != nil {
		t.Fatal(err)
	}
	q.Cluster, q.Epsilon = "person", "1.3" // of which three quarters are below the remaining ε = 1
	for _, method := range []string{MethodNewton, MethodObjective, MethodMinimize} {
		for _, rows := range []int64{0, 5000} {
			q.Method, q.Rows = method, rows
			if _, err := FitGLM(t.Context(), c, q); err == nil ||
				!strings.Contains(err.Error(), "ε = 1.3, is more than the remaining ε = 1") {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	if b, err := c.Budget(); err != nil || b.Remaining.Epsilon != "1" {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestLaterStepsAreAffordable: if the first step of a fit is a replay and the next is not, the price of what is left is
// checked before anything is paid.
func TestLaterStepsAreAffordable(t *testing.T) {
	c, _ := eventsHome(t, "{epsilon: 1.45}", 600)
	q := GLM{
		Family: Logistic, Method: MethodNewton, Table: "events", Formula: "y ~ x", Request: curator.Request{Epsilon: "0.75"}, Rows: 1500,
	}
	if _, err := FitGLM(t.Context(), c, q); err != nil {
		t.Fatal(err)
	}
	q.Cluster, q.Epsilon, q.Radius = "person", "1", "0.2" // another radius leads elsewhere from the first step
	if f, err := FitGLM(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), "is more than the remaining ε = 0.7") {
		t.Errorf("%+v, %v", f, err)
	}
	if b, err := c.Budget(); err != nil || b.Remaining.Epsilon != "0.7" {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestClustersAfterTheFit: a fit that stopped before the scores costs only those when it is repeated, as does the same fit
// that was asked for without clusters, at three quarters of the price.
func TestClustersAfterTheFit(t *testing.T) {
	for _, method := range []string{MethodNewton, MethodObjective, MethodMinimize} {
		c, _ := eventsHome(t, "{epsilon: 8}", 600)
		q := GLM{
			Family: Logistic, Method: method, Table: "events", Formula: "y ~ x", Request: curator.Request{Epsilon: "6"}, Rows: 1500,
		}
		first, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		q.Cluster, q.Epsilon = "person", "8"
		if e, err := ExplainGLM(t.Context(), c, q); err != nil || !e.Affordable || e.Replayed || e.Price.Epsilon != "8" {
			t.Errorf("%s: %+v, %v", method, e, err)
		}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		if f.Remaining.Epsilon != "0" || len(f.IDs) != len(first.IDs)+1 ||
			*f.Coefficients[1].Estimate != *first.Coefficients[1].Estimate {
			t.Errorf("%s: %+v after %+v", method, f, first)
		}
	}
}
