package regression_test

import (
	"context"
	"fmt"
	"log"

	"dither/curator"
	"dither/stats/internal/statstest"
	"dither/stats/regression"
)

// By what the odds of recovery are multiplied for each unit of the dose, with an interval.
func ExampleFitGLM() {
	c, done := statstest.Trial()
	defer done()
	fit, err := regression.FitGLM(context.Background(), c, regression.GLM{
		Family: regression.Logistic, Table: "trial", Formula: "recovered ~ dose",
		Request: curator.Request{Epsilon: "2"},
	})
	if err != nil {
		log.Fatal(err)
	}
	dose := fit.Coefficients[1]
	fmt.Printf("%s: %.0f, above 0: %t\n", dose.Name, *dose.Estimate, *dose.Low > 0)
	// Output:
	// dose: 1, above 0: true
}

// A network of four units, trained by noisy gradients: all steps are paid before the first.
func ExampleFitGradients() {
	c, done := statstest.Trial()
	defer done()
	steps := 0
	model, err := regression.FitGradients(context.Background(), c, regression.Gradients{
		Table: "trial", Formula: "recovered ~ dose", Hidden: 4, Steps: 60, Multiplier: "2",
		Delta: "1e-5",
	}, func(regression.TrainingStep) { steps++ })
	if err != nil {
		log.Fatal(err)
	}
	// The intercept and the dose, which is scaled to between -1 and 1, of somebody who is given 8.
	chance := model.Outputs([]float64{1, 0.6})[1]
	fmt.Println(steps, "steps; more likely than not:", chance > 0.5)
	// Output:
	// 60 steps; more likely than not: true
}
