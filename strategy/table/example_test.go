package table_test

import (
	"fmt"

	"dither/strategy/table"
)

// Noisy counts of three counties and their states are fitted to each other, and rounded to whole numbers that add up.
func Example() {
	places, err := table.NewHierarchy([]string{"county", "state"}, [][]string{{"c1", "north"}, {"c2", "north"}, {"c3", "south"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	space := &table.Space{Hierarchy: places}
	counties, states := table.Margin{Level: 0}, table.Margin{Level: 1}
	fit, err := table.NewFit(space, []table.Measured{
		{Noisy: table.Noisy{Margin: counties, Variance: 4}, Values: []float64{12, 7, 21}},
		{Noisy: table.Noisy{Margin: states, Variance: 4}, Values: []float64{22, 18}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("counties %.2f, states %.2f\n", fit.Values(counties), fit.Values(states))
	fmt.Printf("variances %.2f and %.2f\n", fit.Variances(counties), fit.Variances(states))
	whole, err := table.NewWhole(fit, []table.Margin{counties, states}, nil, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("whole", whole.Values(counties), whole.Values(states))
	// Output:
	// counties [13.00 8.00 19.50], states [21.00 19.50]
	// variances [2.67 2.67 2.00] and [2.67 2.00]
	// whole [13 8 20] [21 20]
}
