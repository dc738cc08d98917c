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

// Who is in fair health, of the RAND Health Insurance Experiment: a model fitted to those with few visits, and held
// against those with many.
func ExampleGLMFit_Calibrate() {
	c, done := testhome.Example(randhie.Files, "visits")
	defer done()
	ctx := context.Background()
	fit, err := regression.FitGLM(ctx, c, regression.GLM{
		Family: regression.Logistic, Table: "visits", Formula: "hlthf ~ disea", Where: "mdvis < 5", Rows: 15000,
		Request: curator.Request{Epsilon: "0.4"},
	})
	if err != nil {
		log.Fatal(err)
	}
	held, err := fit.Calibrate(ctx, c,
		regression.Calibration{Request: curator.Request{Epsilon: "0.2"}, Where: "mdvis >= 5", Bins: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(held.Price, held.Response, held.Same, len(held.Bins) > 0)
	// Output:
	// ε = 0.2 hlthf false true
}
