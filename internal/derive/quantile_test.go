package derive_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/noise"
)

// quantilesOf are a plan's true values in order, with the mechanism that draws from them: no sums beside them, one
// value.
func quantilesOf(t testing.TB, p *plan.Plan, rows []enginetest.Row) (quantile.Cells, [][]int64) {
	t.Helper()
	return quantilesOver(t, p, enginetest.Tables{p.Table: rows})
}

// quantilesOver is that over a relation.
func quantilesOver(t testing.TB, p *plan.Plan, tables enginetest.Tables) (quantile.Cells, [][]int64) {
	t.Helper()
	v := p.Quantiles[0].Value
	m := quantile.Cells{
		Domain: quantile.Domain{Lower: v.Lo, Upper: v.Hi}, Unit: mechanism.Unit{Neighbours: p.Neighbours, MaxRows: p.OrderCaps.MostRows()}, Cells: p.Cells(),
	}
	for _, q := range p.Quantiles {
		m.Sought = append(m.Sought, q.Sought())
	}
	cells := make([][]int64, p.Cells())
	enginetest.OrderCellsOf(p.Ordered(v), tables, func(keys []value.Value, x int64) {
		for i := range cells {
			if slices.EqualFunc(keys, p.CellKeys(i), func(a, b value.Value) bool { return value.Compare(a, b) == 0 }) {
				cells[i] = append(cells[i], x)
			}
		}
	})
	for _, c := range cells {
		slices.Sort(c)
	}
	return m, cells
}

func inOrder(cells [][]int64) mechanism.OrderedCells {
	return mechanism.NewOrderedCells(len(cells), func(yield func(cell int, value, count int64) bool) error {
		for k, c := range cells {
			for _, v := range c {
				if !yield(k, v, 1) {
					return nil
				}
			}
		}
		return nil
	})
}

// drawQuantiles is one release.
func drawQuantiles(t testing.TB, m quantile.Cells, data mechanism.OrderedCells) (out [][]*big.Int) {
	t.Helper()
	found, err := m.Release(data)
	if err != nil {
		t.Fatal(err)
	}
	for cell, values := range found.Values {
		var row []*big.Int
		for i, x := range values {
			low, high := m.Interval(found, cell, i)
			row = append(row, big.NewInt(x), big.NewInt(low), big.NewInt(high))
		}
		out = append(out, row)
	}
	return out
}

// percentiles are PERCENTILE_DISC and PERCENTILE_CONT of true values, by their definitions.
func percentiles(values []float64, q float64) (disc, cont float64) {
	n := len(values)
	k := int(math.Ceil(q*float64(n) - 1e-9))
	disc = values[min(max(k, 1), n)-1]
	at := q * float64(n-1)
	low, high := int(math.Floor(at+1e-9)), int(math.Ceil(at-1e-9))
	return disc, values[low] + (at-float64(low))*(values[high]-values[low])
}

// The interval of a quantile covers PERCENTILE_DISC and PERCENTILE_CONT of the exact bounded rows with the probability
// that its bracket is made for, on skewed and tied values, of many rows and of one, in every cell.
func TestQuantileCoverage(t *testing.T) {
	tied := people(300)
	for k := range tied {
		if k%3 > 0 {
			// two thirds are one value, of x the end of the bounds
			tied[k]["i"], tied[k]["x"] = value.OfInt(41), value.OfReal(-3)
		}
	}
	for _, c := range []struct {
		sql   string
		rows  []enginetest.Row
		price string
	}{
		{"MEDIAN(i) FROM t", people(1000), "1"},
		{"MEDIAN(x) FROM t", people(1000), "1"},
		{"PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY i) FROM t", people(200), "2"},
		{"PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY x) FROM t", people(50), "30"},
		{"PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY i) FROM t", people(100), "10"},
		{"PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY x) FROM t", people(100), "10"},
		{"MEDIAN(i) FROM t", people(1), "300"},
		{"MEDIAN(x) FROM t", people(2), "300"},
		{"PERCENTILE_CONT(i, 0.3333) FROM t", people(3), "500"},
		{"MEDIAN(i) FROM t", tied, "1"},
		{"PERCENTILE_CONT(x, 0.7) FROM t", tied, "5"},
		{"g, MEDIAN(i) FROM t GROUP BY g", people(400), "3"},
		{"MEDIAN(i) FROM t", people(500), "ρ 0.5"},
		{"g, PERCENTILE_CONT(x, 0.25) FROM t GROUP BY g", people(500), "ρ 2"},
		{"APPROX_QUANTILES(i, 2) FROM t", people(300), "20"},
	} {
		t.Run(fmt.Sprintf("%s n=%d price=%s", c.sql, len(c.rows), c.price), func(t *testing.T) {
			t.Parallel()
			p := planOf(t, "SELECT "+c.sql, c.price)
			narrow, trials := bracketed(t, p, enginetest.Tables{"t": c.rows})
			if len(c.rows) >= 1000 && narrow < trials/2 {
				t.Errorf("of 1000 rows the interval is wider than 40 in %d of %d", trials-narrow, trials)
			}
		})
	}
}

// bracketed draws releases of a question for quantiles of one value, whose intervals are to hold them in every cell,
// with the probability that their brackets are made for; and counts how many of the first are narrower than 40.
func bracketed(t *testing.T, p *plan.Plan, tables enginetest.Tables) (narrow, trials int) {
	t.Helper()
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	simulates(p)
	m, cells := quantilesOver(t, p, tables)
	data := inOrder(cells)
	unit, _ := p.Quantiles[0].Value.Unit().Float64()
	covered := promised(math.Pow(1-plan.BracketAlpha, float64(len(cells))), len(p.Quantiles))
	width := 0.0
	for ; stattest.AnyOpen(covered); trials++ {
		hit := make([]bool, len(p.Quantiles))
		for i := range hit {
			hit[i] = true
		}
		for cell, row := range answer.Rows(drawQuantiles(t, m, data), 0.05) {
			values := make([]float64, len(cells[cell]))
			for j, v := range cells[cell] {
				values[j] = float64(v) * unit
			}
			for i, e := range row[len(row)-len(p.Quantiles):] {
				q, _ := p.Aggregates[p.Outputs[len(row)-len(p.Quantiles)+i].Post.Index].Quantile.Rank.Float64()
				disc, cont := percentiles(values, q)
				if e.Estimate.Low > min(disc, cont)+1e-12 || e.Estimate.High < max(disc, cont)-1e-12 {
					hit[i] = false
				}
				if e.Estimate.Value < e.Estimate.Low || e.Estimate.Value > e.Estimate.High {
					t.Fatalf("%+v is not within its interval", e.Estimate)
				}
				width += (e.Estimate.High - e.Estimate.Low) / float64(len(hit)*len(cells))
				if cell == 0 && i == 0 && e.Estimate.High-e.Estimate.Low < 40 {
					narrow++
				}
			}
		}
		for i, h := range hit {
			covered[i].Observe(h)
		}
	}
	kept(t, "quantile", covered)
	t.Logf("mean width %.3g, below 40 in %d of %d", width/float64(trials), narrow, trials)
	return narrow, trials
}

// Of no rows the interval is the bounds, but with the probability that the bracket fails with; the value is drawn
// uniformly. At a greater confidence than brackets are made for, it is the bounds always.
func TestQuantileOfNothing(t *testing.T) {
	p := planOf(t, "SELECT MEDIAN(i) FROM t", "1")
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	m, cells := quantilesOf(t, p, nil)
	const trials = 1500
	whole, observed, expected := 0, make([]int, 116), make([]float64, 116)
	for range trials {
		e := answer.Rows(drawQuantiles(t, m, inOrder(cells)), 0.05)[0][0].Estimate
		if e.Low == 0 && e.High == 115 {
			whole++
		}
		observed[int(e.Value)]++
	}
	for i := range expected {
		expected[i] = 1.0 / 116
	}
	if err := (stattest.Proportion{Successes: whole, Of: stattest.Binomial{Trials: trials, Probability: 1 - plan.BracketAlpha}, FalseAlarm: 1e-6}).CheckAtLeast(); err != nil {
		t.Error(err)
	}
	if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: 1e-6}).Check(); err != nil {
		t.Error(err)
	}
	e := answer.Rows([][]*big.Int{{big.NewInt(50), big.NewInt(49), big.NewInt(51)}}, 0.001)[0][0].Estimate
	if e.Low != 0 || e.High != 115 || e.Value != 50 {
		t.Errorf("at 99.9 %%: %+v", e)
	}
	e = answer.Rows([][]*big.Int{{big.NewInt(50), big.NewInt(51), big.NewInt(49)}}, 0.01)[0][0].Estimate
	if e.Low != 50 || e.High != 50 || e.WholeLow.Int64() != 50 || e.WholeHigh.Int64() != 50 {
		t.Errorf("ends that cross: %+v", e)
	}
}

// Draws of one value that cross are put in order; the interval of each is its own, and holds the value.
func TestQuantilesInOrder(t *testing.T) {
	p := planOf(t, "SELECT PERCENTILE_DISC(i, 0.75), MEDIAN(i), MEDIAN(x), PERCENTILE_DISC(i, 0.25) FROM t", "1")
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]*big.Int, p.Numbers())
	for i := range row {
		row[i] = big.NewInt(0)
	}
	for _, q := range p.Quantiles {
		drawn := map[string][3]int64{"1/4": {60, 10, 50}, "1/2": {20, 15, 40}, "3/4": {40, 30, 70}}[q.Rank.RatString()]
		if q.Value.X.Type == value.Integer {
			for i, x := range drawn {
				row[p.QuantileAt(q)+i] = big.NewInt(x)
			}
		}
	}
	cells := answer.Rows([][]*big.Int{row}, 0.05)[0]
	for i, want := range map[int][3]float64{3: {20, 10, 50}, 1: {40, 15, 40}, 0: {60, 30, 70}, 2: {0, -3, 1}} {
		e := cells[i].Estimate
		if got := [3]float64{e.Value, e.Low, e.High}; i != 2 && got != want || i == 2 && e.Value != 0 {
			t.Errorf("column %d: %v, want %v", i, got, want)
		}
	}
}

// What is computed from quantiles, and beside sums, has intervals that hold together.
func TestCoverageBesideQuantiles(t *testing.T) {
	rows := people(600)
	p := planOf(t, "SELECT COUNT(*) * MEDIAN(i), MEDIAN(i) / COUNT(*) FROM t", "20")
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	m, cells := quantilesOf(t, p, rows)
	values := make([]float64, len(rows))
	for i, v := range cells[0] {
		values[i] = float64(v)
	}
	disc, _ := percentiles(values, 0.5)
	count, err := noise.NewDiscreteLaplace(p.Measures[0].Parameter)
	if err != nil {
		t.Fatal(err)
	}
	covered := promised(0.95, 2)
	for stattest.AnyOpen(covered) {
		numbers := drawQuantiles(t, m, inOrder(cells))
		numbers[0] = append([]*big.Int{new(big.Int).Add(big.NewInt(600), count.Draw())}, numbers[0]...)
		row := answer.Rows(numbers, 0.05)[0]
		for i, truth := range []float64{600 * disc, disc / 600} {
			covered[i].Observe(row[i].Estimate.Low <= truth && truth <= row[i].Estimate.High)
		}
	}
	kept(t, "expression", covered)
}

// Conditions and order on dates and on what was chosen.
func TestConditionsOnChoices(t *testing.T) {
	for having, want := range map[string]int{
		"MODE(g) = 'b'": 1, "MODE(g) <> 'b'": 1, "MODE(g) IN ('a', 'b')": 2, "MODE(i) + 1 > 8": 1, "MODE(g) IS NULL": 0, "MODE(i > 3)": 1, "NOT MODE(i > 3)": 1, "MODE(i > 3) IS TRUE": 1,
		"MEDIAN(i) >= 20": 1, "MEDIAN(i) BETWEEN 1 AND MODE(i)": 0,
	} {
		p := planOf(t, "SELECT g, MODE(g), MODE(i), MODE(i > 3), MEDIAN(i) FROM t GROUP BY g HAVING "+having+" ORDER BY MODE(g) DESC, MODE(i > 3)", "1")
		answer, err := derive.New(p)
		if err != nil {
			t.Fatal(err)
		}
		numbers := make([][]*big.Int, 2)
		for cell := range numbers {
			numbers[cell] = make([]*big.Int, p.Numbers())
			for _, m := range p.Modes {
				numbers[cell][p.ModeAt(m)] = big.NewInt(int64(cell))
				if len(m.Of.Values) > 2 {
					numbers[cell][p.ModeAt(m)] = big.NewInt(int64(5 + 9*cell))
				}
			}
			for i, x := range []int64{10, 5, 15} {
				numbers[cell][p.QuantileAt(p.Quantiles[0])+i] = big.NewInt(x * int64(cell+1))
			}
		}
		rows := answer.Rows(numbers, 0.05)
		if len(rows) != want {
			t.Errorf("%s keeps %d groups, want %d", having, len(rows), want)
		}
		if len(rows) == 2 && rows[0][1].Estimate.Choice.Text != "b" {
			t.Errorf("%s: the greatest does not come first", having)
		}
	}
}

// Whatever was drawn, the answer to a generated question holds its values within their intervals, and nothing fails.
func TestAnyOrders(t *testing.T) {
	p, err := policy.Decode(enginetest.PolicyText("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	admitted := 0
	rapid.Check(t, func(t *rapid.T) {
		sql := enginetest.Orders(t, rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table"))
		sql += rapid.SampledFrom([]string{"", " HAVING MODE(k) > 0", " HAVING MODE(b) OR MEDIAN(d) > DATE '2000-01-01'", " ORDER BY MEDIAN(i) DESC, MODE(s)", " HAVING MEDIAN(x) * COUNT(*) > MODE(i) AND MODE(s) = 'a'"}).Draw(t, "after")
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil || q.Cells() > 300 {
			return
		}
		admitted++
		answer, err := derive.New(q)
		if err != nil {
			t.Fatal(err)
		}
		cells := q.Cells()
		if q.Sets != nil {
			cells = 0
			for _, g := range q.Sets {
				cells += g.Cells(&q.Statement)
			}
		}
		numbers := make([][]*big.Int, cells)
		for cell := range numbers {
			for range q.Measures {
				numbers[cell] = append(numbers[cell], big.NewInt(rapid.Int64Range(-50, 1<<40).Draw(t, "sum")))
			}
			for _, o := range q.Quantiles {
				for range 3 {
					numbers[cell] = append(numbers[cell], big.NewInt(rapid.Int64Range(o.Value.Lo, o.Value.Hi).Draw(t, "drawn")))
				}
			}
			for _, m := range q.Modes {
				numbers[cell] = append(numbers[cell], big.NewInt(int64(rapid.IntRange(0, len(m.Of.Values)-1).Draw(t, "chosen"))))
			}
		}
		for _, row := range answer.Rows(numbers, rapid.SampledFrom([]float64{0.05, 0.001}).Draw(t, "alpha")) {
			for i, c := range row {
				e := c.Estimate
				if q.Outputs[i].Post != nil && !e.Null && (e.Value < e.Low || e.Value > e.High) {
					t.Fatalf("%s: %+v", sql, e)
				}
			}
		}
	})
	if admitted < 20 {
		t.Errorf("%d questions were admitted: the test shows nothing", admitted)
	}
}
