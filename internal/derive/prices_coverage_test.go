package derive_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/noise"
	"dither/privacy"
)

// The 95 % interval covers the quantity within its bounds, whether they are given by row or by group, and whatever
// share of the price the aggregate has.
func TestCoverageWithinBounds(t *testing.T) {
	rows := people(600)
	for k := range rows {
		rows[k]["person"] = rows[k]["i"]
	}
	rows = enginetest.Ranked(rows, "person")
	for _, price := range []string{"1", "ρ 0.5"} {
		for _, sql := range []string{
			"SELECT SUM(i, bounds => (10, 60)) FROM t",
			"SELECT SUM(x, contribution_bounds_per_row => (-1, 5.5)), COUNT(*, weight => 9) FROM t",
			"SELECT AVG(x, bounds => (-1, 5.5), weight => 0.2), COUNT(*) FROM t",
			"SELECT SUM(i, contribution_bounds_per_group => (5, 100)), COUNT(*, weight => 3) FROM w",
			"SELECT COUNT(*, contribution_bounds_per_group => (0, 1)), SUM(x) FROM w",
			"SELECT CLIPPED(i, bounds => (10, 60)) FROM v",
		} {
			t.Run(price+" "+sql, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, sql, price)
				exact, noises := released(t, p, rows)
				covers(t, p, exact, noises, boundedTruth(p, exact))
			})
		}
	}
}

// Found bounds, from rows to interval: a search, and then a sum or an average within what it found, of which the
// interval covers 95 %. The bounds are seldom wider than the least power of two above the values, and seldom miss where
// there are rows enough.
func TestCoverageWithinFoundBounds(t *testing.T) {
	rows := people(2000)
	for _, item := range []string{"SUM(i, bounds => auto)", "SUM(x, bounds => auto)", "AVG(i, bounds => auto)"} {
		for _, price := range []string{"2", "ρ 1"} {
			t.Run(fmt.Sprintf("%s at %s", item, price), func(t *testing.T) {
				t.Parallel()
				planned := planOf(t, "SELECT "+item+" FROM t", price)
				coversFound(t, planned, enginetest.Tables{"t": rows})
			})
		}
	}
}

// coversFound draws releases of a question for one aggregate, each within bounds that were found first.
func coversFound(t *testing.T, planned *plan.Plan, tables enginetest.Tables) {
	t.Helper()
	simulates(planned)
	search, within := searchOf(t, planned, tables), map[string]*bounds{}
	covered, found, trials := promised(0.95, 1), 0, 0
	for ; covered[0].Open(); trials++ {
		lower, upper, narrowed := search()
		if narrowed {
			found++
		}
		name := fmt.Sprint(lower, upper)
		if within[name] == nil { // few bounds are found, and of each the sums are known
			within[name] = boundsOf(t, planned, lower, upper, tables)
		}
		covered[0].Observe(within[name].covered())
	}
	kept(t, "interval", covered)
	if found < trials*9/10 {
		t.Errorf("bounds were found in %d of %d: the test shows little", found, trials)
	}
}

// bounds are some that were found, with what is within them.
type bounds struct {
	answer *derive.Answer
	exact  []*big.Int
	noises []noise.Distribution
	truth  float64
}

func boundsOf(t *testing.T, planned *plan.Plan, lower, upper []*big.Int, tables enginetest.Tables) *bounds {
	t.Helper()
	p, err := planned.Found(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	exact, noises := released(t, p, nil)
	enginetest.SumOf(&p.Statement, tables, addTo(exact))
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &bounds{answer, exact, noises, boundedTruth(p, exact)}
}

// covered draws one release.
func (b *bounds) covered() bool {
	e, slack := draw(b.answer, b.exact, b.noises), 1e-9*max(1, b.truth, -b.truth)
	return e.Low-slack <= b.truth && b.truth <= e.High+slack
}

// searchOf makes a plan's searches over rows, as often as it is called.
func searchOf(t *testing.T, p *plan.Plan, tables enginetest.Tables) func() (lower, upper []*big.Int, found bool) {
	t.Helper()
	counts, values := make([]map[int64]int64, len(p.Searches)), make([][]int64, len(p.Searches))
	for i, s := range p.Searches {
		counts[i] = enginetest.OrderOf(&s.Look, tables)
		values[i] = slices.Sorted(maps.Keys(counts[i]))
	}
	return func() (lower, upper []*big.Int, found bool) {
		for range p.Measures {
			lower, upper = append(lower, new(big.Int)), append(upper, new(big.Int))
		}
		for i, s := range p.Searches {
			bounds, err := quantile.AutomaticBounds{
				Domain: quantile.Domain{Lower: s.Outer().Lo, Upper: s.Outer().Hi}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: s.Look.Caps.MostRows()},
				Loss: s.Loss, FalsePositive: s.FalsePositive,
			}.Measure(mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
				for _, v := range values[i] {
					if !yield(v, counts[i][v]) {
						return nil
					}
				}
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			found = bounds.Found
			for j, m := range p.Measures {
				if m.Search == s {
					lower[j], upper[j] = big.NewInt(bounds.Lower), big.NewInt(bounds.Upper)
				}
			}
		}
		return lower, upper, found
	}
}
