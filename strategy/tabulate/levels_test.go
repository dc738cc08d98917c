package tabulate_test

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/internal/stattest"
	"dither/strategy/tabulate"
)

const levelsText = `
version: 1
price: {PRICE}
hierarchies:
  place: {key: county, levels: [county, state], total: country, places: {north: [c1, c2], south: [c3, c4, c5], west: [c6]}}
  ages:
    key: age
    levels: [year, class]
    places: {children: [0..17], adults: [18..64], older: [65..99]}
tables:
  - {name: classes, from: people, rows: [county, state, country], columns: [class]}
  - {name: years, from: people, rows: [country], columns: [year]}
`

// TestLevelsAreMeasuredApart tabulates classes of ages by county, and single years for the country. Years by county are not
// measured for that: their sums would have more than three times the error. The error is near the bound for all linear
// measurements, and the years add up to the classes.
//
// Repeated releases count how often margins of error hold. The share of errors beyond them is at most 5 %, and at least a
// third of it for estimates; the false-alarm rate is 10⁻⁶ for each check. Under Laplace noise margins are wider, so that
// only the first holds.
func TestLevelsAreMeasuredApart(t *testing.T) {
	times := 25
	if os.Getenv("DITHER_LONG") != "" {
		times = 1000
	}
	for budget, price := range map[string]string{"rho: 1000, delta: 1e-6": "rho: 0.1", "epsilon: 1000": "epsilon: 0.5"} {
		c, s := session(t, budget), parse(t, strings.Replace(levelsText, "PRICE", price, 1))
		p, err := tabulate.Explain(t.Context(), c, s, "")
		if err != nil {
			t.Fatal(err)
		}
		g := p.Groups[0]
		for _, part := range g.Parts {
			if part.Level != "country" && slices.Contains(part.Columns, "year") {
				t.Errorf("%s: %s × %v is measured", price, part.Level, part.Columns)
			}
		}
		best := math.Inf(1)
		for _, of := range g.Candidates {
			best = min(best, of.Error)
		}
		t.Logf("%s: the error is %.3f, and its bound %.3f", price, best, g.SVDBound)
		if p.Price.Rho != "" && best > 1.02*g.SVDBound {
			t.Errorf("the error is %g, and its bound %g", best, g.SVDBound)
		}
		s.Fresh = true
		beyond, shown := make([]int, 3), make([]int, 3)
		for range times {
			r, err := tabulate.Tabulate(t.Context(), c, s, "")
			if err != nil {
				t.Fatal(err)
			}
			sums := map[string]*big.Rat{}
			for i := range r.Tables {
				for _, cell := range r.Tables[i].Cells {
					if cell.Level != "country" {
						continue
					}
					name := fmt.Sprint(i, classOf(cell.Values[0]))
					if sums[name] == nil {
						sums[name] = new(big.Rat)
					}
					sums[name].Add(sums[name], cell.Value)
				}
			}
			for _, class := range []string{"children", "adults", "older"} {
				if a, b := sums["0"+class], sums["1"+class]; a.Cmp(b) != 0 {
					t.Fatalf("%s: the class has %s, and its years %s", class, a, b)
				}
			}
			// one cell of each table and level at a time, so that the tries are independent
			for i, cell := range []tabulate.Cell{r.Tables[0].Cells[1], r.Tables[0].Cells[len(r.Tables[0].Cells)-2], r.Tables[1].Cells[40]} {
				margin := cell.Margin - math.Abs(float(cell.Value)-cell.Estimate)
				if math.Abs(cell.Estimate-residents(cell)) > margin {
					beyond[i]++
				}
				if math.Abs(float(cell.Value)-residents(cell)) > cell.Margin {
					shown[i]++
				}
			}
		}
		for i := range beyond {
			few, many := stattest.Binomial{Trials: times, Probability: 0.05 / 3}, stattest.Binomial{Trials: times, Probability: 0.05}
			if many.AtLeast(beyond[i]) < 1e-6 || many.AtLeast(shown[i]) < 1e-6 || p.Price.Rho != "" && few.AtMost(beyond[i]) < 1e-6 {
				t.Errorf("%s: cell %d was beyond its margin in %d of %d releases, and its value in %d", price, i, beyond[i], times, shown[i])
			}
		}
	}
}

// classOf returns the class of a year of age, and a class as it is.
func classOf(label string) string {
	year, err := strconv.Atoi(label)
	switch {
	case err != nil:
		return label
	case year < 18:
		return "children"
	case year < 65:
		return "adults"
	}
	return "older"
}

func float(x *big.Rat) float64 { v, _ := x.Float64(); return v }

// residents returns the number of people of [session] in a cell by county or in the country, and by age.
func residents(cell tabulate.Cell) (n float64) {
	for i := range 600 {
		county := []string{"c1", "c2", "c3", "c4", "c5", "c6", tabulate.NotStated}[i%7]
		age := strconv.Itoa(i % 100)
		if (cell.Level == "country" || county == cell.Place) && (age == cell.Values[0] || classOf(age) == cell.Values[0]) {
			n++
		}
	}
	return n
}
