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

// A line through a hundred rows, a tenth of them wrong: the height of plants by the hours of light that they had.
func ExampleFitLinear_theilSen() {
	const policy = `
version: 1
population: {name: plants}
budget: {epsilon: 20}
price: {default: 1, maximum: 20}
tables:
  plants:
    source: {csv: plants.csv}
    unit: row
    expected_rows: 100
    columns:
      hours: {type: real, bounds: [0, 10]}
      height: {type: real, bounds: [0, 50]}
`
	rows := []string{"hours,height"}
	for i := range 100 {
		hours := float64(i) / 10
		height := 10 + 2*hours + float64(i*37%11-5)/5
		if i%10 == 7 {
			height = 0 // it was not measured
		}
		rows = append(rows, fmt.Sprintf("%.1f,%.1f", hours, height))
	}
	c, done := testhome.Example(testhome.Files(policy, map[string]string{"plants.csv": strings.Join(rows, "\n") + "\n"}), "plants")
	defer done()
	ctx := context.Background()
	question := regression.Linear{
		Table: "plants", Formula: "height ~ hours", Method: regression.TheilSen,
		Request: curator.Request{Epsilon: "20"},
	}
	told, err := regression.ExplainLinear(ctx, c, question) // free
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range told.Line.Draws {
		fmt.Println(d.Name, d.Price)
	}
	fit, err := regression.FitLinear(ctx, c, question)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range fit.Coefficients {
		fmt.Printf("%s about %.0f, between two ends: %t\n", k.Name, *k.Estimate, k.Low != nil && k.High != nil)
	}
	// Output:
	// slope ε = 8
	// height ε = 3
	// half-width of the slope ε = 6
	// half-width of the height ε = 3
	// (Intercept) about 10, between two ends: true
	// hours about 2, between two ends: true
}
