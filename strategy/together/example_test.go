package together_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy/together"
)

// Two counts that may have rows in common: measuring their sum and their difference needs less noise than measuring each.
func Example() {
	session, done := testhome.Example(fstest.MapFS{
		"policy.yaml": {Data: []byte(`
version: 1
population: {name: example}
budget: {epsilon: 30}
price: {default: 10, maximum: 20}
tables:
  people:
    source: {csv: people.csv}
    unit: person
    rows_per_unit: 1
    columns:
      person: {type: integer}
      age: {type: integer, bounds: [0, 99]}
      ill: {type: boolean}
`)},
		"people.csv": {Data: []byte("person,age,ill\n1,60,true\n2,70,false\n3,20,true\n")},
	}, "people")
	defer done()

	batch := together.Batch{
		Questions: []string{
			"SELECT COUNT(*) AS old FROM people WHERE age > 50",
			"SELECT COUNT(*) AS ill FROM people WHERE ill",
		},
		Request: curator.Request{Epsilon: "20"},
	}
	plan, err := together.Explain(context.Background(), session, batch) // spends nothing
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Candidates {
		fmt.Printf("%-22s ± %.3f\n", c.Name, c.StdDev)
	}
	answer, err := together.Ask(context.Background(), session, batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range answer.Counts {
		fmt.Printf("%s: %.0f\n", c.Name, c.Value)
	}
	// Output:
	// sums and differences   ± 0.007
	// disjoint cells         ± 0.007
	// counts and differences ± 0.008
	// each count             ± 0.010
	// old: 2
	// ill: 2
}
