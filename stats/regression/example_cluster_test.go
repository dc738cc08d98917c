package regression_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"dither/curator"
	"dither/internal/testhome"
	"dither/stats/regression"
)

// A regression of a score on a dose, of people with three rows each, whose errors allow for dependence within a person.
func ExampleFitLinear_clusters() {
	var rows strings.Builder
	rows.WriteString("person,dose,score\n")
	for i := range 6000 {
		person := i / 3
		dose := float64((person*37+i)%200) / 10
		fmt.Fprintf(&rows, "%d,%.1f,%.1f\n", person, dose, 20+2*dose+float64(person*53%30-15)+float64(i%3))
	}
	c, done := testhome.Example(testhome.Files(`
version: 1
population: {name: trial}
budget: {epsilon: 40}
price: {maximum: 20}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      dose: {type: real, bounds: [0, 20]}
      score: {type: real, bounds: [0, 80]}
`, map[string]string{"visits.csv": rows.String()}), "visits")
	defer done()
	fit, err := regression.FitLinear(context.Background(), c, regression.Linear{
		Table: "visits", Formula: "score ~ dose", Cluster: "person", Request: curator.Request{Epsilon: "20"},
	})
	if err != nil {
		log.Fatal(err)
	}
	slope := fit.Coefficients[1]
	fmt.Println(slope.Name, *slope.Low < 2.1 && *slope.High > 1.9, *slope.StdError > 0)
	fmt.Println(fit.Cluster, len(fit.Releases), "releases,", fit.Price)
	// Output:
	// dose true true
	// person 2 releases, ε = 20
}

// A logistic model of recovery by the dose, of people with three visits each, whose errors allow for dependence within a
// person.
func ExampleFitGLM_clusters() {
	var rows strings.Builder
	rows.WriteString("person,dose,better\n")
	for i := range 9000 {
		person := i / 3
		dose, luck := person*37%200, (person*53+i%3*7)%100
		fmt.Fprintf(&rows, "%d,%.1f,%t\n", person, float64(dose)/10, luck < dose/2)
	}
	c, done := testhome.Example(testhome.Files(`
version: 1
population: {name: trial}
budget: {epsilon: 40}
price: {maximum: 20}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    expected_rows: 9000
    columns:
      person: {type: integer}
      dose: {type: real, bounds: [0, 20]}
      better: {type: boolean}
`, map[string]string{"visits.csv": rows.String()}), "visits")
	defer done()
	fit, err := regression.FitGLM(context.Background(), c, regression.GLM{
		Family: regression.Logistic, Table: "visits", Formula: "better ~ dose", Cluster: "person",
		Request: curator.Request{Epsilon: "20"},
	})
	if err != nil {
		log.Fatal(err)
	}
	slope := fit.Coefficients[1]
	fmt.Println(slope.Name, *slope.Low > 0, *slope.StdError > 0)
	fmt.Println(fit.Cluster, len(fit.IDs), "releases,", fit.Price)
	// Output:
	// dose true true
	// person 2 releases, ε = 20
}
