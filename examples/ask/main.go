// Command ask asks a curator for an average. It is the program of docs/tutorials/programmer.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"dither/curator"
)

func main() {
	c, err := curator.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer c.Close()

	r, err := c.Answer(context.Background(), curator.Question{
		SQL: "SELECT AVG(mdvis) AS visits FROM visits", Epsilon: "0.2",
	})
	var e *curator.Error
	switch {
	case errors.As(err, &e) && e.Code == curator.CodeExhausted:
		fmt.Println("the budget is spent:", e.Hint)
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	visits := r.Rows[0][0].Estimate
	if visits.Value == nil {
		fmt.Println("the rows are too few: the noise hides the average")
		return
	}
	fmt.Printf("%.2f visits a year, between %.2f and %.2f\n",
		visits.Value.Real, visits.Low.Real, visits.High.Real)
}
