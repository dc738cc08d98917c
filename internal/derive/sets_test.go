package derive_test

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
	"dither/internal/value"
	"dither/noise"
)

// exactSets are the exact cells of a plan, over all its groupings in turn.
func exactSets(p *plan.Plan, rows []enginetest.Row) [][]*big.Int {
	var out [][]*big.Int
	for _, g := range p.Groupings() {
		first := len(out)
		for range g.Cells(&p.Statement) {
			cells := make([]*big.Int, len(p.Measures))
			for j := range cells {
				cells[j] = new(big.Int)
			}
			out = append(out, cells)
		}
		enginetest.Sum(&p.Statement, rows, func(keys []value.Value, sums []*big.Int) {
			cell := 0
			for _, k := range g.Keys {
				cell = cell*len(p.Keys[k].Values) + p.Keys[k].Index(keys[k])
			}
			for j, s := range sums {
				out[first+cell][j].Add(out[first+cell][j], s)
			}
		})
		distinctCells(p, g, rows, out[first:])
	}
	return out
}

// noisySets adds noise as it was planned.
func noisySets(t testing.TB, p *plan.Plan, exact [][]*big.Int) [][]*big.Int {
	t.Helper()
	out := make([][]*big.Int, len(exact))
	i := 0
	for _, g := range p.Groupings() {
		noises := make([]noise.Distribution, len(g.Measures))
		for j, m := range g.Measures {
			d, err := derive.NoiseOf(m)
			if err != nil {
				t.Fatal(err)
			}
			noises[j] = d
		}
		for range g.Cells(&p.Statement) {
			for j := range noises {
				out[i] = append(out[i], new(big.Int).Add(exact[i][j], noises[j].Draw()))
			}
			i++
		}
	}
	return out
}

const byBoth = "CASE WHEN x > 10 THEN 'high' WHEN x > 0 THEN 'low' ELSE 'none' END"

// leaving stands before groups of which WHERE leaves some without rows, whatever the rows are.
const leaving = "WHERE x > 0 GROUP BY "

func grouped(by string) string {
	if strings.HasPrefix(by, leaving) {
		return by
	}
	return "GROUP BY " + by
}

// The intervals of fitted numbers cover the exact bounded quantities, each column's in each kind of row, in at least 95
// % of releases.
func TestCoverageOfSets(t *testing.T) {
	rows := people(300)
	long := os.Getenv("DITHER_LONG") != ""
	for i, price := range []string{"1", "ρ 0.5", "30", "ρ 20"} {
		for j, groupBy := range []string{"ROLLUP (g, " + byBoth + ")", "CUBE (g, " + byBoth + ")", "GROUPING SETS (g, (" + byBoth + "))", leaving + "ROLLUP (g, " + byBoth + ")"} {
			if !long && i != j {
				continue
			}
			t.Run(price+" "+groupBy, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, "SELECT GROUPING(g, "+byBoth+"), COUNT(*), SUM(x), 2 * SUM(i) - COUNT(*), AVG(i), SUM(x) / COUNT(*), g, "+byBoth+" FROM t "+grouped(groupBy), price)
				answer, err := derive.New(p)
				if err != nil {
					t.Fatal(err)
				}
				exact := exactSets(p, rows)
				// of exact tables the fit is the tables themselves, but for AVG's rounding
				truth := answer.Rows(exact, 0.05)
				covered := promised(0.95, 5*len(truth))
				simulates(p)
				for stattest.AnyOpen(covered) {
					for r, row := range answer.Rows(noisySets(t, p, exact), 0.05) {
						for c := 1; c <= 5; c++ {
							e, v := row[c].Estimate, truth[r][c].Estimate
							if fmt.Sprint(row[6], row[7]) != fmt.Sprint(truth[r][6], truth[r][7]) {
								t.Fatal("rows are in another order")
							}
							slack := 1e-9 * max(1, v.Value, -v.Value)
							covered[5*r+c-1].Observe(e.Low-slack <= v.Value && v.Value <= e.High+slack)
						}
					}
				}
				kept(t, "5·row + column", covered)
			})
		}
	}
}

// Without noise in them the tables come out as they went in; with it they add up, and whole numbers do so too, exactly,
// none below 0.
func TestSetsAddUp(t *testing.T) {
	rows := people(60)
	for _, whole := range []bool{false, true} {
		for _, groupBy := range []string{"ROLLUP (g, " + byBoth + ")", "CUBE (g, " + byBoth + ")", "CUBE (g, " + byBoth + ", i > 50)", "GROUPING SETS (g, (" + byBoth + "), ())", "GROUPING SETS (g, (" + byBoth + "))", leaving + "CUBE (g, " + byBoth + ")"} {
			p := planOf(t, "SELECT g, "+byBoth+", COUNT(*), COUNT(x), GROUPING(g, "+byBoth+") FROM t "+grouped(groupBy), "0.3")
			answer, err := derive.New(p)
			if err != nil {
				t.Fatal(err)
			}
			if whole {
				answer.Whole()
			}
			for range 15 {
				type total struct{ sum [2]float64 }
				byKeys := map[string]*total{} // what a set's rows add up to, by set and first key
				for _, row := range answer.Rows(noisySets(t, p, exactSets(p, rows)), 0.05) {
					if strings.Contains(groupBy, "i > 50") {
						continue // its rows are told apart by a key that is not shown; see below
					}
					of := fmt.Sprint(row[4].Estimate.Whole)
					if byKeys[of] == nil {
						byKeys[of] = &total{}
					}
					for c := range 2 {
						e := row[2+c].Estimate
						byKeys[of].sum[c] += e.Value
						if whole && (e.Whole == nil || e.Whole.Sign() < 0 || e.Low > e.High || e.WholeLow != nil) {
							t.Fatalf("%+v is no whole number with the estimate's interval", e)
						}
					}
				}
				var first *total
				for of, x := range byKeys {
					if first == nil {
						first = x
					}
					for c := range 2 {
						if d := x.sum[c] - first.sum[c]; d > 1e-6 || d < -1e-6 || whole && d != 0 {
							t.Errorf("%s: set %s adds up to %v, another to %v", groupBy, of, x.sum, first.sum)
						}
					}
				}
			}
		}
	}
}

// Rounding down from the total, no number of a ROLLUP is moved further than what it is below 0 forces: tables that are
// whole already, and not negative, stay as they are.
func TestWholeStays(t *testing.T) {
	rows := people(60)
	for _, groupBy := range []string{"ROLLUP (g, " + byBoth + ")", "CUBE (g, " + byBoth + ")"} {
		p := planOf(t, "SELECT g, "+byBoth+", COUNT(*) FROM t GROUP BY "+groupBy, "0.3")
		exact := exactSets(p, rows)
		answer, _ := derive.New(p)
		plain := answer.Rows(exact, 0.05)
		answer.Whole()
		for r, row := range answer.Rows(exact, 0.05) {
			if row[2].Estimate.Value != plain[r][2].Estimate.Value {
				t.Errorf("%s: row %d: %v from %v", groupBy, r, row[2].Estimate.Value, plain[r][2].Estimate.Value)
			}
		}
	}
	p := planOf(t, "SELECT g, COUNT(*), SUM(i) FROM t GROUP BY g", "0.3")
	answer, _ := derive.New(p)
	answer.Whole()
	row := answer.Rows([][]*big.Int{{big.NewInt(-7), big.NewInt(-7)}, {big.NewInt(4), big.NewInt(4)}}, 0.05)
	if e := row[0][1].Estimate; e.Whole.Sign() != 0 || e.WholeLow == nil || e.High < -7 || e.Low > -7 {
		t.Errorf("%+v", e)
	}
	if e := row[0][2].Estimate; e.Value != -7 {
		t.Errorf("a sum is no count: %+v", e)
	}
}

// What earlier releases tell covers the exact bounded quantity too: a total of a release's cells, one of its values,
// several releases together.
func TestCoverageOfReuse(t *testing.T) {
	rows := people(200)
	key := "CASE WHEN x > 20 THEN 1 WHEN x > 15 THEN 2 WHEN x > 10 THEN 3 WHEN x > 5 THEN 4 ELSE 5 END"
	for _, c := range []struct {
		earlier []string
		asked   string
		combine bool
	}{
		{[]string{"SELECT COUNT(*), SUM(x) FROM t GROUP BY " + key}, "SELECT SUM(x) / COUNT(*), SUM(x), COUNT(*) FROM t", false},
		{[]string{"SELECT COUNT(*), SUM(x) FROM t GROUP BY " + key}, "SELECT COUNT(*) FROM t WHERE " + key + " IN (2, 5)", false},
		{[]string{"SELECT COUNT(*), AVG(x) FROM t GROUP BY CUBE (" + key + ", " + byBoth + ")"}, "SELECT COUNT(*), AVG(x) FROM t WHERE " + key + " = 2", false},
		{[]string{"SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t GROUP BY " + key}, "SELECT COUNT(*) FROM t", true},
		{[]string{"SELECT SUM(x), COUNT(*) FROM t", "SELECT SUM(x) FROM t GROUP BY " + key}, "SELECT SUM(x) FROM t", true},
	} {
		for _, price := range []string{"1", "ρ 0.5"} {
			t.Run(price+" "+c.asked, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, c.asked, price)
				answer, err := derive.New(p)
				if err != nil {
					t.Fatal(err)
				}
				truth := answer.Rows(exactSets(p, rows), 0.05)[0]
				var earlier []*derive.Earlier
				var exact [][][]*big.Int
				for _, sql := range c.earlier {
					q := planOf(t, sql, price)
					earlier, exact = append(earlier, &derive.Earlier{Plan: q}), append(exact, exactSets(q, rows))
				}
				covered := promised(0.95, len(truth))
				for stattest.AnyOpen(covered) {
					for i, e := range earlier {
						// another release, of which nothing is kept
						earlier[i] = &derive.Earlier{Plan: e.Plan, Numbers: noisySets(t, e.Plan, exact[i])}
					}
					used, ok := answer.From(earlier, c.combine, false)
					if !ok || c.combine && len(used) != len(earlier) {
						t.Fatalf("it follows from %v", used)
					}
					for i, cell := range answer.Rows(nil, 0.05)[0] {
						v := truth[i].Estimate.Value
						slack := 1e-9 * max(1, v, -v)
						covered[i].Observe(cell.Estimate.Low-slack <= v && v <= cell.Estimate.High+slack)
					}
				}
				kept(t, "column", covered)
			})
		}
	}
}
