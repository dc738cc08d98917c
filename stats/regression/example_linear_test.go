package regression_test

import (
	"context"
	"fmt"
	"log"

	"dither/curator"
	"dither/examples/randhie"
	"dither/internal/testhome"
	"dither/stats/regression"
)

// A regression of the yearly visits to a physician on the insurance plan and health, of the RAND Health Insurance
// Experiment.
func ExampleFitLinear() {
	c, done := testhome.Example(randhie.Files, "visits")
	defer done()
	ctx := context.Background()
	question := regression.Linear{
		Table: "visits", Formula: "mdvis ~ lncoins + physlm",
		Request: curator.Request{Epsilon: "0.3"},
	}
	told, err := regression.ExplainLinear(ctx, c, question) // free
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(told.Price, told.Columns)
	fit, err := regression.FitLinear(ctx, c, question)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range fit.Coefficients {
		fmt.Println(k.Name, k.Estimate != nil && k.StdError != nil)
	}
	// free: from what was released
	fewer, err := regression.FitLinear(ctx, c, regression.Linear{From: fit.ID, Choose: "1"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(fewer.Choice.Chosen), "of", len(fewer.Choice.Of), fewer.Replayed)
	fmt.Println(fit.Remaining)
	// Output:
	// ε = 0.3 [(Intercept) lncoins physlm]
	// (Intercept) true
	// lncoins true
	// physlm true
	// 1 of 2 true
	// ε = 0.9
}
