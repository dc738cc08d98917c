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

// visit is a row of a person with several.
type visit struct {
	person int
	ward   string
	x, y   float64
}

// visits makes up 1 to 4 rows of each person about y = 1 + 2x, which share most of their residual and of x; and of each
// ward, which shares some.
func visits(persons int) (out []visit) {
	words := splitmix.At(splitmix.Mix(uint64(persons)))
	wards := make([]float64, 12)
	for i := range wards {
		wards[i] = 0.4 * standardNoise(&words, false)
	}
	for person := range persons {
		ward := words.Below(12)
		shared, place := standardNoise(&words, false), float64(words.Below(1001))/1000
		for range 1 + words.Below(4) {
			x := place + float64(words.Below(1001))/1000
			y := 1 + 2*x + shared + wards[ward] + 0.3*standardNoise(&words, false)
			out = append(out, visit{person, string(rune('a' + ward)), x, math.Round(1e6*math.Max(-5, math.Min(10, y))) / 1e6})
		}
	}
	return out
}

// sandwich are the coefficients and the standard errors of y ~ x by statsmodels' definition of cov_type="cluster".
func sandwich(rows []visit, cluster func(visit) string) (beta, errors []float64) {
	a, b := mat.NewSymDense(2, nil), mat.NewVecDense(2, nil)
	for _, v := range rows {
		z := mat.NewVecDense(2, []float64{1, v.x})
		a.SymRankOne(a, 1, z)
		b.AddScaledVec(b, v.y, z)
	}
	var inverse, half, out mat.Dense
	if err := inverse.Inverse(a); err != nil {
		panic(err)
	}
	var of mat.VecDense
	of.MulVec(&inverse, b)
	scores := map[string]*mat.VecDense{}
	for _, v := range rows {
		g := cluster(v)
		if scores[g] == nil {
			scores[g] = mat.NewVecDense(2, nil)
		}
		scores[g].AddScaledVec(scores[g], v.y-of.AtVec(0)-of.AtVec(1)*v.x, mat.NewVecDense(2, []float64{1, v.x}))
	}
	m := mat.NewSymDense(2, nil)
	for _, s := range scores {
		m.SymRankOne(m, 1, s)
	}
	half.Mul(&inverse, m)
	out.Mul(&half, &inverse)
	g, n := float64(len(scores)), float64(len(rows))
	for i := range 2 {
		errors = append(errors, math.Sqrt(out.At(i, i)*g/(g-1)*(n-1)/(n-2)))
	}
	return of.RawVector().Data, errors
}

func visitsHome(t *testing.T, budget string, persons int) (*curator.Session, []visit) {
	t.Helper()
	policy := "version: 1\npopulation: {name: made-up}\nbudget: " + budget + "\ntables:\n  visits:\n" +
		"    source: {csv: visits.csv}\n    unit: person\n    rows_per_unit: 4\n    columns:\n      person: {type: integer}\n" +
		"      y: {type: real, bounds: [-5, 10]}\n      x: {type: real, bounds: [0, 2]}\n" +
		"      ward: {type: text, values: [a, b, c, d, e, f, g, h, i, j, k, l]}\n" +
		"      none: {type: real, bounds: [0, 1], nullable: true}\n      other: {type: text}\n"
	rows := visits(persons)
	var text strings.Builder
	text.WriteString("person,ward,x,y,none,other\n")
	for _, v := range rows {
		fmt.Fprintf(&text, "%d,%s,%g,%.6f,,o\n", v.person, v.ward, v.x, v.y)
	}
	c, _ := testhome.Sealed(t, policy, "visits", map[string]string{"visits.csv": text.String()})
	return c, rows
}

// TestClusteredErrors: with little noise, the standard errors are those of the rows themselves, which are those of
// statsmodels.OLS(y, x).fit(cov_type="cluster") on the same rows (tools/peers/clusters.py). The noise moves them
// by a standard deviation of at most 0.65 per cent (40 runs), so by five per cent with a probability below 1e-9.
func TestClusteredErrors(t *testing.T) {
	for _, of := range []struct {
		budget, column string
		price          curator.Request
		cluster        func(visit) string
	}{
		{"{epsilon: 1000}\nprice: {maximum: 900}", "PERSON", curator.Request{Epsilon: "900"}, byPerson},
		{"{rho: 10000, delta: 1e-6}\nprice: {maximum: 140}", "person", curator.Request{Rho: "9000"}, byPerson},
		{"{epsilon: 1000}\nprice: {maximum: 900}", "ward", curator.Request{Epsilon: "900"}, byWard},
	} {
		c, rows := visitsHome(t, of.budget, 3000)
		beta, errs := sandwich(rows, of.cluster)
		q := Linear{Table: "visits", Formula: "y ~ x", Cluster: of.column, Request: of.price}
		e, err := ExplainLinear(t.Context(), c, q)
		if err != nil || !e.Affordable || e.Replayed {
			t.Fatalf("%+v, %v", e, err)
		}
		f, err := FitLinear(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range f.Coefficients {
			if math.Abs(*k.Estimate-beta[i]) > 0.1*errs[i] || math.Abs(*k.StdError/errs[i]-1) > 0.05 {
				t.Errorf("%s, %s: %g (%g), and of the rows %g (%g)", of.budget, of.column, *k.Estimate, *k.StdError, beta[i], errs[i])
			}
			if half := (*k.High - *k.Low) / 2; half < 1.96**k.StdError || half > 2.7**k.StdError {
				t.Errorf("%s, %s: ± %g at a standard error of %g", of.budget, of.column, half, *k.StdError)
			}
		}
		clusters := map[string]float64{"person": 3000, "ward": 12}[f.Cluster]
		if f.Clusters == nil || math.Abs(*f.Clusters-clusters) > 2 || len(f.Releases) != 2 || f.Price != e.Price || f.Replayed {
			t.Errorf("%+v", f)
		}
		again, err := FitLinear(t.Context(), c, q)
		if err != nil || !again.Replayed || again.Remaining != f.Remaining || *again.Coefficients[1].High != *f.Coefficients[1].High {
			t.Errorf("%+v, %v", again, err)
		}
		if e, err = ExplainLinear(t.Context(), c, q); err != nil || !e.Replayed {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

func byPerson(v visit) string { return fmt.Sprint(v.person) }
func byWard(v visit) string   { return v.ward }

// TestClustersRefused: what clusters do not support is refused before anything is paid.
func TestClustersRefused(t *testing.T) {
	c, _ := visitsHome(t, "{epsilon: 2}", 20)
	good := Linear{Table: "visits", Formula: "y ~ x", Cluster: "person", Request: curator.Request{Epsilon: "1"}}
	for reason, change := range map[string]func(*Linear){
		"has no column":                   func(q *Linear) { q.Cluster = "nobody" },
		`has no column "a\"; SELECT"`:     func(q *Linear) { q.Cluster = "a\"; SELECT" },
		"the values of other are not":     func(q *Linear) { q.Cluster = "other" },
		"the values of x are not":         func(q *Linear) { q.Cluster = "X" },
		"--cluster supports the method":   func(q *Linear) { q.Method = Lecture },
		"without --find-bounds":           func(q *Linear) { q.FindBounds = "0.2" },
		"--normalise, --choose":           func(q *Linear) { q.Choose = "auto" },
		"above the policy's maximum":      func(q *Linear) { q.Epsilon = "3" },
		"only adassp and lecture support": func(q *Linear) { q.Method, q.Rows = TheilSen, 50 },
		"do not match":                    func(q *Linear) { q.Where = "x > 1) GROUP BY (ward" },
	} {
		q := good
		change(&q)
		if _, err := FitLinear(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	b, err := c.Budget()
	if err != nil || b.Remaining.Epsilon != "2" {
		t.Errorf("%+v, %v", b, err)
	}
	// Clusters without rows, and rows without clusters, are no failure.
	for _, where := range []string{"x < -1", "x > 1.9"} {
		q := good
		q.Where, q.Epsilon = where, "0.5"
		f, err := FitLinear(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range f.Coefficients {
			if k.Low != nil && k.High != nil && *k.Low > *k.High {
				t.Errorf("%+v", k)
			}
		}
	}
	good.Epsilon = "1.2"
	if _, err := FitLinear(t.Context(), c, good); err == nil || !strings.Contains(err.Error(), "is more than the remaining ε = 1") {
		t.Error(err)
	}
}

// TestUndeclaredClusters: rows without a declared value of the cluster's column are left out of the coefficients too, so
// the fit of all rows equals, but for the noise, that of the rows with a declared value.
func TestUndeclaredClusters(t *testing.T) {
	policy := "version: 1\npopulation: {name: made-up}\nbudget: {epsilon: 1000}\nprice: {maximum: 900}\ntables:\n  visits:\n" +
		"    source: {csv: visits.csv}\n    unit: person\n    rows_per_unit: 4\n    columns:\n      person: {type: integer}\n" +
		"      y: {type: real, bounds: [-5, 10]}\n      x: {type: real, bounds: [0, 2]}\n" +
		"      ward: {type: text, values: [a, b, \"it's\"], nullable: true}\n"
	var text strings.Builder
	text.WriteString("person,ward,x,y\n")
	for i := range 4000 {
		x, ward, slope := float64(i%41)/20, []string{"a", "b", "it's", "elsewhere", ""}[i%5], 1.0
		if i%5 > 2 {
			slope = -1
		}
		fmt.Fprintf(&text, "%d,%s,%g,%g\n", i, ward, x, 1+slope*x)
	}
	c, _ := testhome.Sealed(t, policy, "visits", map[string]string{"visits.csv": text.String()})
	f, err := FitLinear(t.Context(), c, Linear{Table: "visits", Formula: "y ~ x", Cluster: "ward", Request: curator.Request{Epsilon: "900"}})
	if err != nil {
		t.Fatal(err)
	}
	if b := f.Coefficients[1].Estimate; b == nil || math.Abs(*b-1) > 0.05 {
		t.Errorf("the slope is %v, and 1 in all rows with a declared ward", b)
	}
}
