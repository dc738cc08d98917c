package strategy_test

import (
	"fmt"

	"dither/strategy"
)

// All ranges of a day's 24 hours: what to measure, and how far it is from the lower bound.
func ExampleChoose() {
	w, err := strategy.Ranges(24)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := strategy.Choose(w, strategy.Rho)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.3f, and at least %.3f\n", c.Chosen.Name, c.Chosen.RMSE, c.Bound)
	afternoon := strategy.Query{Low: 12, High: 18}.Coefficients(24)
	d, err := c.Chosen.Deviation(afternoon)
	fmt.Printf("%d rows; the afternoon has a deviation of %.3f counts' noise %v\n", len(c.Chosen.Matrix.Rows), d, err)
	// Output:
	// optimal: 1.900, and at least 1.900
	// 24 rows; the afternoon has a deviation of 1.889 counts' noise <nil>
}
