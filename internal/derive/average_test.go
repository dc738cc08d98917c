package derive

import (
	"math"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

// Ages of at most 115 at ε = 1 under add/remove: to first order the average's deviation is 163/n in the middle of the
// bounds and 170/n at a mean of 40, beside 325/n for an uncentred sum at half the budget.
func TestAverageOfAges(t *testing.T) {
	p, err := policy.Decode([]byte(`
version: 1
population: {name: people}
budget: {epsilon: 1}
tables: {people: {source: {csv: p.csv}, unit: row, columns: {age: {type: integer, bounds: [0, 115]}}}}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	planned, err := plan.Build(p, plan.Request{SQL: "SELECT AVG(age) FROM people", Price: p.Budget.Loss})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(planned)
	if err != nil {
		t.Fatal(err)
	}
	avg := newAverage(planned.Aggregates[0], a.measures)
	for mean, want := range map[float64]float64{57.5: 163, 40: 170} {
		theta := mean/avg.sum.unit - float64(avg.sum.Centre)
		if got := avg.spread(theta); math.Abs(got-want) > 0.5 { // the last digit
			t.Errorf("at a mean of %v: %.2f/n, want %.0f/n", mean, got, want)
		}
	}
}
