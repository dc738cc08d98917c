package marginal_test

import (
	"context"
	"fmt"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// All marginals of up to two of three columns, measured together.
func Example() {
	files, _ := survey()
	session, done := testhome.Example(files, "people")
	defer done()

	ctx := context.Background()
	request := curator.Request{SQL: question, Rho: "5"}
	domain, err := marginal.DomainOf(ctx, session, request, "region", "smokes", "age")
	if err != nil {
		fmt.Println(err)
		return
	}
	workload, err := domain.Ways(1, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	choice := workload.Choose(strategy.Rho) // spends nothing
	for _, c := range choice.Candidates {
		fmt.Printf("%-27s %.4f\n", c.Name, c.RMSE)
	}
	fmt.Printf("%-27s %.4f\n", "lower bound", choice.Bound)
	estimate, err := choice.Plan.Measure(ctx, session, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := estimate.Marginal("region", "smokes")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Attributes, len(table.Values), "cells, each with a standard deviation below 1:", table.Variances[0] < 1)
	// Output:
	// identity                    2.0284
	// marginals                   2.3475
	// residual planner (sum)      1.5661
	// residual planner (maximum)  1.6897
	// decomposition               1.5661
	// lower bound                 1.5661
	// [region smokes] 6 cells, each with a standard deviation below 1: true
}
