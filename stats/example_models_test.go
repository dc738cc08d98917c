package stats_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"dither/curator"
	"dither/stats"
	"dither/stats/internal/statstest"
)

// madeUpTrial makes a home of 20,000 made-up people, who were given doses about 2 and about 8: the more, the likelier they recovered, half of them at 5.
func madeUpTrial() (c *curator.Curator, done func()) {
	var rows strings.Builder
	rows.WriteString("dose,days,recovered\n")
	for i := range 20_000 {
		dose := []float64{2, 8}[i%2] + float64(i*37%200-100)/100
		recovered := float64(i*7919%1000)/1000 < 1/(1+math.Exp(5-dose))
		fmt.Fprintf(&rows, "%.2f,%.1f,%t\n", dose, 30-2*dose+float64(i*53%30-15)/10, recovered)
	}
	return statstest.Example(statstest.MadeUp(`
version: 1
population: {name: trial}
budget: {epsilon: 40, delta: 1e-4, selection_delta: 8e-5}
price: {maximum: 4}
tables:
  trial:
    source: {csv: trial.csv}
    unit: row
    expected_rows: 20000
    columns:
      dose: {type: real, bounds: [0, 10]}
      days: {type: real, bounds: [0, 40]}
      recovered: {type: boolean}
`, "trial.csv", rows.String()), "trial")
}

// By what the odds of recovery are multiplied for each unit of the dose, with an interval.
func ExampleFitGLM() {
	c, done := madeUpTrial()
	defer done()
	fit, err := stats.FitGLM(context.Background(), c, stats.GLM{
		Family: stats.Logistic, Table: "trial", Formula: "recovered ~ dose", Question: curator.Question{Epsilon: "2"},
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
	c, done := madeUpTrial()
	defer done()
	steps := 0
	model, err := stats.FitGradients(context.Background(), c, stats.Gradients{
		Table: "trial", Formula: "recovered ~ dose", Hidden: 4, Steps: 60, Multiplier: "2", Question: curator.Question{Delta: "1e-5"},
	}, func(stats.TrainingStep) { steps++ })
	if err != nil {
		log.Fatal(err)
	}
	// The intercept and the dose, which is scaled to between -1 and 1, of somebody who is given 8.
	chance := model.Outputs([]float64{1, 0.6})[1]
	fmt.Println(steps, "steps; more likely than not:", chance > 0.5)
	// Output:
	// 60 steps; more likely than not: true
}

// Two groups of people, by their doses and by how many days they were ill.
func ExampleKMeans() {
	c, done := madeUpTrial()
	defer done()
	found, err := stats.KMeans(context.Background(), c, stats.Clustering{Table: "trial", Columns: []string{"dose", "days"}, K: 2, Epsilon: "2"})
	if err != nil {
		log.Fatal(err)
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, cluster := range found.Clusters {
		least, most = math.Min(least, cluster.Centre[0].Value), math.Max(most, cluster.Centre[0].Value)
	}
	fmt.Printf("doses of about %.0f and %.0f\n", least, most)
	// Output:
	// doses of about 2 and 8
}
