package derive_test

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/privacy"
)

// The 95 % interval covers the quantity within its bounds, whether they are given by row or by group, and whatever share of the price
// the aggregate has. Each case fails by chance with probability 1e-6 at most.
func TestCoverageWithinBounds(t *testing.T) {
	rows := people(600)
	for k := range rows {
		rows[k]["person"] = rows[k]["i"]
	}
	rows = enginetest.Ranked(rows, "person")
	for _, price := range []string{"1", "ρ 0.5"} {
		for _, c := range []struct {
			sql    string
			trials int
		}{
			{"SELECT SUM(i, bounds => (10, 60)) FROM t", 5000},
			{"SELECT SUM(x, contribution_bounds_per_row => (-1, 5.5)), COUNT(*, weight => 9) FROM t", 5000},
			{"SELECT AVG(x, bounds => (-1, 5.5), weight => 0.2), COUNT(*) FROM t", 300},
			{"SELECT SUM(i, contribution_bounds_per_group => (5, 100)), COUNT(*, weight => 3) FROM w", 5000},
			{"SELECT COUNT(*, contribution_bounds_per_group => (0, 1)), SUM(x) FROM w", 5000},
			{"SELECT CLIPPED(i, bounds => (10, 60)) FROM v", 5000},
		} {
			t.Run(price+" "+c.sql, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, c.sql, price)
				exact, noises := released(t, p, rows)
				if os.Getenv("DITHER_LONG") != "" {
					c.trials *= 20
				}
				covers(t, p, exact, noises, boundedTruth(p, exact), c.trials)
			})
		}
	}
}

// Found bounds, from rows to interval: a search, and then a sum or an average within what it found, of which the interval covers 95 %.
// The bounds are seldom wider than the least power of two above the values, and seldom miss where there are rows enough.
func TestCoverageWithinFoundBounds(t *testing.T) {
	trials := 100
	if os.Getenv("DITHER_LONG") != "" {
		trials = 10_000
	}
	rows := people(2000)
	for _, item := range []string{"SUM(i, bounds => auto)", "SUM(x, bounds => auto)", "AVG(i, bounds => auto)"} {
		for _, price := range []string{"2", "ρ 1"} {
			t.Run(fmt.Sprintf("%s at %s", item, price), func(t *testing.T) {
				t.Parallel()
				planned := planOf(t, "SELECT "+item+" FROM t", price)
				covered, found := 0, 0
				for range trials {
					p, narrowed := searched(t, planned, rows)
					if narrowed {
						found++
					}
					exact, noises := released(t, p, rows)
					answer, err := derive.New(p)
					if err != nil {
						t.Fatal(err)
					}
					truth := boundedTruth(p, exact)
					slack := 1e-9 * max(1, truth, -truth)
					if e := draw(answer, exact, noises); e.Low-slack <= truth && truth <= e.High+slack {
						covered++
					}
				}
				if p := (stattest.Binomial{Trials: trials, Probability: 0.95}).AtMost(covered); p < 1e-6 {
					t.Errorf("covered %d of %d: probability %.2g at 95 %%", covered, trials, p)
				}
				t.Logf("covered %d of %d, bounds found in %d", covered, trials, found)
				if found < trials*9/10 {
					t.Errorf("bounds were found in %d of %d: the test shows little", found, trials)
				}
			})
		}
	}
}

// searched makes a plan's searches over rows.
func searched(t *testing.T, p *plan.Plan, rows []enginetest.Row) (_ *plan.Plan, found bool) {
	t.Helper()
	lower, upper := make([]*big.Int, len(p.Measures)), make([]*big.Int, len(p.Measures))
	for i := range lower {
		lower[i], upper[i] = new(big.Int), new(big.Int)
	}
	for _, s := range p.Searches {
		counts := enginetest.Order(&s.Look, rows)
		values := make([]int64, 0, len(counts))
		for v := range counts {
			values = append(values, v)
		}
		slices.Sort(values)
		bounds, err := mechanism.AutomaticBounds{
			Domain: mechanism.Domain{Lower: s.Outer().Lo, Upper: s.Outer().Hi}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			Loss: s.Loss, FalsePositive: s.FalsePositive,
		}.Measure(mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
			for _, v := range values {
				if !yield(v, counts[v]) {
					return nil
				}
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		found = bounds.Found
		for i, m := range p.Measures {
			if m.Search == s {
				lower[i], upper[i] = big.NewInt(bounds.Lower), big.NewInt(bounds.Upper)
			}
		}
	}
	out, err := p.Found(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	return out, found
}
