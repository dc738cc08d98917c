package derive_test

import (
	"fmt"
	"math/big"
	"os"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
	"dither/internal/value"
)

// distinctCells puts the exact cells of measures that are no sums into a grouping's.
func distinctCells(p *plan.Plan, g plan.Grouping, rows []enginetest.Row, cells [][]*big.Int) {
	look := p.SetLook(g)
	if look == nil {
		return
	}
	var own []int
	for j, m := range p.Measures {
		if !m.Additive() {
			own = append(own, j)
		}
	}
	for _, cell := range cells[:g.Cells(&p.Statement)] {
		for _, j := range own {
			cell[j] = new(big.Int)
		}
	}
	enginetest.Sum(look, rows, func(keys []value.Value, sums []*big.Int) {
		cell := 0
		for i, k := range g.Keys {
			cell = cell*len(p.Keys[k].Values) + p.Keys[k].Index(keys[i])
		}
		for k, j := range own {
			cells[cell][j].Add(cells[cell][j], sums[k])
		}
	})
}

// Counts of persons and of distinct values over grouping sets are each set's own: exact tables come out as they went
// in, where sets do not add up; the intervals cover them in at least 95 % of releases (false alarms 1e-6 each), also of
// what is computed of one beside a fitted sum.
func TestCoverageOfDistinctOverSets(t *testing.T) {
	trials := 150
	if os.Getenv("DITHER_LONG") != "" {
		trials = 30_000
	}
	rows := people(300)
	for k := range rows { // of 100 persons three rows each, in up to three groups
		rows[k]["person"] = value.OfInt(int64(k % 100))
	}
	rows = enginetest.Ranked(rows, "person")
	for i, price := range []string{"1", "ρ 0.5"} {
		for j, groupBy := range []string{"ROLLUP (g, " + byBoth + ")", "CUBE (g, " + byBoth + ")", "GROUPING SETS (g, (" + byBoth + "))"} {
			if os.Getenv("DITHER_LONG") == "" && i != j%2 {
				continue
			}
			t.Run(price+" "+groupBy, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, "SELECT COUNT(DISTINCT person), COUNT(*), COUNT(DISTINCT i), COUNT(*) - 2 * COUNT(DISTINCT person), g, "+byBoth+" FROM v GROUP BY "+groupBy, price)
				answer, err := derive.New(p)
				if err != nil {
					t.Fatal(err)
				}
				exact := exactSets(p, rows)
				truth := answer.Rows(exact, 0.05)
				persons := map[string]float64{}
				for _, row := range truth {
					persons[fmt.Sprint(row[4].Summed, row[5].Summed)] += row[0].Estimate.Value
				}
				if len(p.Sets) > 2 && (persons["true true"] != 100 || persons["false false"] <= 100) {
					t.Errorf("of 100 persons %v are counted: the test shows nothing", persons)
				}
				covered := make([][4]int, len(truth))
				for range trials {
					for r, row := range answer.Rows(noisySets(t, p, exact), 0.05) {
						for c := range covered[r] {
							e, v := row[c].Estimate, truth[r][c].Estimate.Value
							slack := 1e-9 * max(1, v, -v)
							if e.Low-slack <= v && v <= e.High+slack {
								covered[r][c]++
							}
							if whole := e.High == float64(int64(e.High)); (c == 0 || c == 2) && !whole {
								t.Fatalf("an interval of whole numbers ends at %v", e.High)
							}
						}
					}
				}
				for r := range covered {
					for c, n := range covered[r] {
						if q := (stattest.Binomial{Trials: trials, Probability: 0.95}).AtMost(n); q < 1e-6 {
							t.Errorf("row %d, column %d: covered %d of %d: probability %.2g", r, c, n, trials, q)
						}
					}
				}
			})
		}
	}
}

// Whole numbers are each set's own, too, and none is below 0.
func TestWholeDistinctOverSets(t *testing.T) {
	rows := enginetest.Ranked(many(60), "person")
	for _, groupBy := range []string{"ROLLUP (g, " + byBoth + ")", "GROUPING SETS (g, (" + byBoth + "))"} {
		p := planOf(t, "SELECT COUNT(DISTINCT person), COUNT(DISTINCT i), COUNT(*) FROM v GROUP BY "+groupBy, "0.3")
		answer, err := derive.New(p)
		if err != nil {
			t.Fatal(err)
		}
		noisy := noisySets(t, p, exactSets(p, rows))
		plain := answer.Rows(noisy, 0.05)
		answer.Whole()
		for r, row := range answer.Rows(noisy, 0.05) {
			for c := range 2 {
				if x := row[c].Estimate; x.Whole == nil || x.Whole.Sign() < 0 || x.Value != max(0, plain[r][c].Estimate.Value) {
					t.Errorf("%v of %v", x.Whole, plain[r][c].Estimate.Value)
				}
				if x := plain[r][c].Estimate; x.Whole == nil || !x.Whole.IsInt64() || float64(x.Whole.Int64()) != x.Value || float64(x.WholeLow.Int64()) != x.Low || float64(x.WholeHigh.Int64()) != x.High {
					t.Errorf("a released count is no whole number: %+v", x)
				}
			}
		}
	}
}
