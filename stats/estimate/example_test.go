package estimate_test

import (
	"context"
	"fmt"
	"strings"

	"dither/curator"
	"dither/internal/testhome"
	"dither/stats/estimate"
)

// estimateClinic makes a home with 20,000 made-up visits: costs of 50 to 149, and lengths that go with them.
func estimateClinic() (c *curator.Session, done func()) {
	var rows strings.Builder
	rows.WriteString("cost,minutes,ward\n")
	for i := range 20_000 {
		cost := 50 + i*37%100
		fmt.Fprintf(&rows, "%d,%d,%s\n", cost, cost/5+i*53%10, []string{"east", "west"}[i%2])
	}
	return testhome.Example(testhome.Files(`
version: 1
population: {name: clinic}
budget: {epsilon: 100}
tables:
  visits:
    source: {csv: visits.csv}
    unit: row
    expected_rows: 20000
    columns:
      cost: {type: real, bounds: [0, 1000]}
      minutes: {type: real, bounds: [0, 240]}
      ward: {type: text, values: [east, west]}
`, map[string]string{"visits.csv": rows.String()}), "visits")
}

// A mean for each group, with its interval.
func ExampleMean() {
	c, done := estimateClinic()
	defer done()
	e, err := estimate.Mean(context.Background(), c, estimate.Sample{
		Request: curator.Request{Epsilon: "10"}, Table: "visits", Columns: []string{"minutes"}, By: []string{"ward"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range e.Values {
		fmt.Printf("%s in the %v is about %.0f, within one: %t\n",
			v.Name, v.Keys[0], v.Value.Real/2, v.High.Real-v.Low.Real < 1)
	}
	// Output:
	// mean(minutes) in the east is about 12, within one: true
	// mean(minutes) in the west is about 12, within one: true
}

// Which method is taken, why, and at what price: known before anything is spent.
func ExamplePlanCovariance() {
	c, done := estimateClinic()
	defer done()
	p, err := estimate.PlanCovariance(context.Background(), c, estimate.Sample{
		Request: curator.Request{Epsilon: "2"}, Table: "visits", Columns: []string{"cost", "minutes"},
		Deviations: []string{"40", "10"}, // about, as whoever knows clinics would say
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s in %d rounds for %s\n", p.Method, len(p.Accesses), p.Price)
	e, err := p.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range e.Values[5:] {
		fmt.Printf("%s is about %.1f\n", v.Name, v.Value.Real)
	}
	// Output:
	// coinpress in 3 rounds for ε = 2
	// corr(cost, minutes) is about 0.9
}

// Quartiles of one column: three quantiles of many possible values are drawn by the recursion.
func ExampleQuantile() {
	c, done := estimateClinic()
	defer done()
	e, err := estimate.Quantile(context.Background(), c, estimate.Sample{
		Request: curator.Request{Epsilon: "10"}, Table: "visits", Columns: []string{"cost"},
	}, "0.25", "0.5", "0.75")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range e.Values {
		fmt.Printf("%s is about %.0f\n", v.Name, v.Value.Real/5)
	}
	// Output:
	// quantile(cost, 0.25) is about 15
	// quantile(cost, 0.5) is about 20
	// quantile(cost, 0.75) is about 25
}

// The principal components of two columns that go together.
func ExampleComponents() {
	c, done := estimateClinic()
	defer done()
	e, err := estimate.Components(context.Background(), c, estimate.Sample{
		Request: curator.Request{Epsilon: "10"}, Table: "visits", Columns: []string{"cost", "minutes"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s is above .85: %t\n", e.Values[0].Name, e.Values[0].Value.Real > .85)
	for _, v := range e.Values[1:3] {
		fmt.Printf("%s is about %.1f\n", v.Name, v.Value.Real)
	}
	// Output:
	// share of component 1 is above .85: true
	// loading 1 of cost is about 0.7
	// loading 1 of minutes is about 0.7
}
