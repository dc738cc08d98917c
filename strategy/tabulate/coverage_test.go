package tabulate_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"dither/strategy/tabulate"
)

// TestErrorsUnderBothRelations measures the same tables repeatedly, under add-remove and under change-one, and in ε and in
// ρ. It compares the squared errors of all estimates with their stated variances. The estimates of one draw have at least
// 12 independent parts (one for each county and sex), and the fourth moment of a normal or Laplace error is at most 6
// squared variances. So the mean ratio of n draws has a deviation of at most √(5/12n). The test fails beyond five
// deviations, so with a probability of about 10⁻⁵ for true variances. In the short form, stated variances that are too small by a
// factor of 4 fail almost surely. The factor of change-one under ε is 4.
func TestErrorsUnderBothRelations(t *testing.T) {
	draws := 6
	if os.Getenv("DITHER_LONG") != "" {
		draws = 100
	}
	const text = `
version: 1
price: {PRICE}
hierarchies:
  place: {key: county, levels: [county, state], total: country, places: {north: [c1, c2], south: [c3, c4, c5, c6]}}
tables:
  - {name: residents, from: people, rows: [county, state], columns: [sex]}
  - {name: totals, from: people, rows: [state, country]}
`
	for _, relation := range []string{"add-remove", "change-one"} {
		for _, of := range []struct{ budget, price string }{
			{"epsilon: 1000", "epsilon: 1"}, {"rho: 1000, delta: 1e-6", "rho: 0.2"},
		} {
			c := sessionWith(t, strings.Replace(policyText, "{name: town}", "{name: town, neighbours: "+relation+"}", 1), of.budget)
			s := parse(t, strings.Replace(text, "PRICE", of.price, 1))
			s.Fresh = true
			sum, n := 0.0, 0
			for range draws {
				r, err := tabulate.Tabulate(t.Context(), c, s, "")
				if err != nil {
					t.Fatal(err)
				}
				for _, cell := range r.Tables[0].Cells {
					e := cell.Estimate - truth(cell)
					sum += e * e / (cell.StdDev * cell.StdDev)
					n++
				}
			}
			ratio := sum / float64(n)
			t.Logf("%s, %s: the squared errors are %.3f times the stated variances", relation, of.price, ratio)
			if math.Abs(ratio-1) > 5*math.Sqrt(5/(12*float64(draws))) {
				t.Errorf("%s, %s: the squared errors are %.3f times the stated variances", relation, of.price, ratio)
			}
		}
	}
}

// truth returns the number of people of [session] in a cell by county or state and by sex.
func truth(cell tabulate.Cell) (n float64) {
	states := map[string]string{"c1": "north", "c2": "north", tabulate.NotStated: tabulate.NotStated}
	for i := range 600 {
		county := []string{"c1", "c2", "c3", "c4", "c5", "c6", tabulate.NotStated}[i%7]
		place := county
		if cell.Level == "state" {
			if place = states[county]; place == "" {
				place = "south"
			}
		}
		if place == cell.Place && []string{"f", "m"}[i%2] == cell.Values[0] {
			n++
		}
	}
	return n
}
