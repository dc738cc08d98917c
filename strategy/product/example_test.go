package product_test

import (
	"fmt"

	"dither/strategy"
	"dither/strategy/product"
)

// All running totals of 64 days in each of 50 regions: the best measurement and its error are known before anything is
// spent.
func Example() {
	days, err := strategy.Prefixes(64)
	if err != nil {
		fmt.Println(err)
		return
	}
	workload, err := product.NewWorkload(product.Term{Factors: []product.Factor{product.Of(days), product.Values(50)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	choice, err := product.Choose(workload, strategy.Rho)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f questions about %.0f cells\n", workload.Queries(), workload.Cells())
	for _, c := range choice.Candidates {
		fmt.Printf("%-9s %.2f\n", c.Name, c.RMSE)
	}
	fmt.Printf("no strategy has less than %.2f\n", choice.Bound)
	// Output:
	// 3200 questions about 3200 cells
	// identity  5.70
	// product   2.10
	// residuals 2.19
	// no strategy has less than 2.10
}
