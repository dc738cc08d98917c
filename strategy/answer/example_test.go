package answer_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/answer"
)

// All ranges of 16 hours, answered from one measurement.
func Example() {
	session, done := testhome.Example(testhome.Files(fmt.Sprintf(policy, "rho: 10, delta: 1e-6"), map[string]string{
		"visits.csv": "hour,day,cost\n" + strings.Repeat("9,1,5\n10,2,5\n10,,5\n14,3,5\n", 50),
	}), "visits")
	defer done()

	ctx := context.Background()
	column, err := answer.Open(ctx, session, curator.Request{SQL: "SELECT COUNT(*) FROM visits GROUP BY hour", Rho: "5"})
	if err != nil {
		log.Fatal(err)
	}
	ranges, err := strategy.Ranges(len(column.Values))
	if err != nil {
		log.Fatal(err)
	}
	choice, err := column.Choose(ranges) // spends nothing
	if err != nil {
		log.Fatal(err)
	}
	estimate, err := column.MeasureChoice(ctx, choice)
	if err != nil {
		log.Fatal(err)
	}
	whole, err := estimate.Whole() // whole numbers of 0 or more, which add up
	if err != nil {
		log.Fatal(err)
	}
	morning, all := strategy.Query{Low: 0, High: 12}.Coefficients(16), strategy.Query{Low: 0, High: 16}.Coefficients(16)
	a, err := whole.Answer(morning, 0.95)
	if err != nil {
		log.Fatal(err)
	}
	covariance, err := estimate.Covariance(morning, all)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("measured:", choice.Chosen.Name)
	fmt.Println("the morning has 150 visits, up to 4:", a.Value > 146 && a.Value < 154)
	fmt.Println("a whole number:", a.Value == float64(int(a.Value)), "with a deviation below 1:", a.Deviation < 1)
	fmt.Println("the answers share noise:", covariance > 0)
	// Output:
	// measured: optimal
	// the morning has 150 visits, up to 4: true
	// a whole number: true with a deviation below 1: true
	// the answers share noise: true
}
