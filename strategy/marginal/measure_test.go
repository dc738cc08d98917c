package marginal_test

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/curator"
	"dither/internal/stattest"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// question asks for the histogram over all three keys of survey.
const question = "SELECT COUNT(*) FROM people GROUP BY region, smokes, age"

// survey returns the files of a home with 600 made-up people, and the exact counts by region, smokes and age.
func survey() (files fs.FS, exact map[[3]int]float64) {
	policy := `
version: 1
population: {name: survey}
budget: {rho: 1000, delta: 1e-6}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      region: {type: text, values: [east, north, west]}
      smokes: {type: text, values: ["no", "yes"]}
      age: {type: integer, values: [1, 2, 3, 4]}
`
	exact = map[[3]int]float64{}
	var rows strings.Builder
	rows.WriteString("region,smokes,age\n")
	for i := range 600 {
		k := [3]int{i * i % 7 % 3, i % 5 % 2, i * 3 % 11 % 4}
		exact[k]++
		fmt.Fprintf(&rows, "%s,%s,%d\n", []string{"east", "north", "west"}[k[0]], []string{"no", "yes"}[k[1]], k[2]+1)
	}
	return testhome.Files(policy, map[string]string{"people.csv": rows.String()}), exact
}

// open seals the survey, and returns a session, the exact counts, and the domain.
func open(t *testing.T) (*curator.Session, map[[3]int]float64, *marginal.Domain) {
	t.Helper()
	files, exact := survey()
	o, _ := testhome.Opened(t, files, "people")
	s := o.Session()
	d := must(marginal.DomainOf(t.Context(), s, curator.Request{SQL: question, Rho: "5"}, "region", "smokes", "age"))(t)
	return s, exact, d
}

// measured measures ways of the survey with the decomposition, age by ranges.
func measured(t *testing.T) (*curator.Session, map[[3]int]float64, *marginal.Plan) {
	t.Helper()
	s, exact, d := open(t)
	attributes := d.Attributes()
	attributes[2].Queries = marginal.Ranges
	d = must(marginal.NewDomain(attributes...))(t)
	w := must(d.Ways(1, 2))(t)
	return s, exact, w.Decomposition(strategy.Rho)
}

// TestStatedVariancesHold measures the marginal of region and age six times at a price, and compares the errors of its
// twelve cells with their stated covariances: pooled, they are χ² with 72 degrees of freedom. The false-alarm rate is
// 1e-6, apart from the noise being discrete.
func TestStatedVariancesHold(t *testing.T) {
	s, exact, p := measured(t)
	const times, cells = 6, 12
	statistic := 0.0
	for range times {
		e := must(p.Measure(t.Context(), s, curator.Request{SQL: question, Rho: "5", Fresh: true}))(t)
		table := must(e.Marginal("age", "region"))(t)
		covariance, errors := mat.NewSymDense(cells, nil), mat.NewVecDense(cells, nil)
		for i := range cells {
			truth := exact[[3]int{i / 4, 0, i % 4}] + exact[[3]int{i / 4, 1, i % 4}]
			errors.SetVec(i, table.Values[i]-truth)
			for j := i; j < cells; j++ {
				covariance.SetSym(i, j, must(e.Covariance(cell(i), cell(j)))(t))
			}
			if v := covariance.At(i, i); math.Abs(v/table.Variances[i]-1) > 1e-9 {
				t.Fatalf("cell %d has the variance %v in the table and %v as a query", i, table.Variances[i], v)
			}
			value, _, err := e.Answer(cell(i))
			if err != nil || math.Abs(value-table.Values[i]) > 1e-6 {
				t.Fatalf("cell %d is %v in the table and %v as a query (%v)", i, table.Values[i], value, err)
			}
		}
		var c mat.Cholesky
		if !c.Factorize(covariance) {
			t.Fatal("the covariances are not positive definite")
		}
		var solved mat.VecDense
		if err := c.SolveVecTo(&solved, errors); err != nil {
			t.Fatal(err)
		}
		statistic += mat.Dot(&solved, errors)
	}
	if above := stattest.UpperGamma(times*cells/2, statistic/2); above < 5e-7 || above > 1-5e-7 {
		t.Errorf("χ² with %d degrees of freedom is %.1f: P = %v", times*cells, statistic, above)
	}
}

// cell returns the query of one cell of the marginal of region and age.
func cell(i int) marginal.Query {
	q := marginal.Query{"region": make([]float64, 3), "age": make([]float64, 4)}
	q["region"][i/4], q["age"][i%4] = 1, 1
	return q
}

// TestMarginalsAgree checks that marginals have the same sums, and that a measurement is replayed free.
func TestMarginalsAgree(t *testing.T) {
	s, exact, p := measured(t)
	e := must(p.Measure(t.Context(), s, curator.Request{SQL: question, Rho: "100"}))(t)
	both, one, total := must(e.Marginal("smokes", "age"))(t), must(e.Marginal("smokes"))(t), must(e.Marginal())(t)
	sum := 0.0
	for i, v := range one.Values {
		below := 0.0
		for _, c := range both.Values[4*i : 4*i+4] {
			below += c
		}
		sum += v
		if math.Abs(below-v) > 1e-9 {
			t.Errorf("smokes = %d: %v, and %v by age", i, v, below)
		}
	}
	if math.Abs(sum-total.Values[0]) > 1e-9 || math.Abs(sum-600) > 6*math.Sqrt(total.Variances[0]) {
		t.Errorf("the totals are %v and %v, of 600 people", sum, total.Values[0])
	}
	if math.Abs(both.Values[0]-exact[[3]int{0, 0, 0}]-exact[[3]int{1, 0, 0}]-exact[[3]int{2, 0, 0}]) > 2 {
		t.Errorf("cells are in another order: %v", both.Values)
	}
	// At ρ = 1 a count has the variance 1/2. At ρ = 100 the noise is so small that its discreteness lowers the variance.
	e = must(p.Measure(t.Context(), s, curator.Request{SQL: question, Rho: "1"}))(t)
	want := must(p.Variance("smokes", "region"))
	got := must(e.Marginal("region", "smokes"))(t)
	if w := want(t) / 2; math.Abs(got.Variances[0]/w-1) > 1e-3 {
		t.Errorf("a cell has the variance %v, expected %v", got.Variances[0], w)
	}
	again := must(p.Measure(t.Context(), s, curator.Request{SQL: question, Rho: "100"}))(t)
	if !again.Releases[0].Replayed || must(again.Marginal("smokes"))(t).Values[0] != one.Values[0] {
		t.Error("the measurement was not replayed")
	}
	e = again
	whole := must(e.Whole("age", "smokes"))(t)
	first := must(e.Whole("smokes"))(t)
	for i, n := range first {
		if whole[4*i]+whole[4*i+1]+whole[4*i+2]+whole[4*i+3] != n {
			t.Errorf("whole numbers: %v by age, %v without", whole, first)
		}
	}
}

// TestRefusals checks that nothing is spent on a plan for other data, and that queries outside the span are refused.
func TestRefusals(t *testing.T) {
	s, _, p := measured(t)
	request := curator.Request{SQL: "SELECT COUNT(*) FROM people GROUP BY region, smokes", Rho: "5"}
	if _, err := p.Measure(t.Context(), s, request); err == nil || !strings.Contains(err.Error(), "2 keys, and the domain 3") {
		t.Errorf("too few keys: %v", err)
	}
	request.SQL = "SELECT COUNT(*) FROM people GROUP BY smokes, region, age"
	if _, err := p.Measure(t.Context(), s, request); err == nil || !strings.Contains(err.Error(), "key 1 of the question has 2") {
		t.Errorf("keys in another order: %v", err)
	}
	request.SQL = question
	x := must(p.Explain(t.Context(), s, request))(t)
	if len(x.Parts) != 7 || x.Replayed || x.Remaining.String() == "" {
		t.Errorf("explained: %+v", x)
	}
	e := must(p.Measure(t.Context(), s, request))(t)
	if _, err := e.Marginal("region", "smokes", "age"); err == nil || !strings.Contains(err.Error(), "no marginal of the workload") {
		t.Errorf("a marginal outside the span: %v", err)
	}
	if _, _, err := e.Answer(marginal.Query{"age": {1}}); err == nil || !strings.Contains(err.Error(), "1 coefficients") {
		t.Errorf("a query with too few coefficients: %v", err)
	}
	if _, err := e.Marginal("height"); err == nil {
		t.Error("an unknown attribute was accepted")
	}
	if _, err := p.Variance("age"); err == nil {
		t.Error("cells of ranges have one variance")
	}
}
