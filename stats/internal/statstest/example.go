package statstest

import (
	"fmt"
	"math"
	"strings"

	"dither/curator"
	"dither/internal/testhome"
)

// Trial makes a home with a table of 20,000 made-up people. Half of them got doses near 2, the others near 8. The
// probability of recovery rises with the dose and is one half at dose 5.
func Trial() (c *curator.Session, done func()) {
	var rows strings.Builder
	rows.WriteString("dose,days,recovered\n")
	for i := range 20_000 {
		dose := []float64{2, 8}[i%2] + float64(i*37%200-100)/100
		recovered := float64(i*7919%1000)/1000 < 1/(1+math.Exp(5-dose))
		fmt.Fprintf(&rows, "%.2f,%.1f,%t\n", dose, 30-2*dose+float64(i*53%30-15)/10, recovered)
	}
	return testhome.Example(testhome.Files(`
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
`, map[string]string{"trial.csv": rows.String()}), "trial")
}
