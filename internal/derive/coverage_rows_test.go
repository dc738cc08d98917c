package derive_test

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// Found bounds on rows, from rows to interval: a draw, and then a sum, an average or a count with the bound that it
// gave, of which the interval covers 95 %, about what is left of the rows with that bound. The draw is no more units
// off than it says, but for 5 %.
func TestCoverageWithFoundRows(t *testing.T) {
	trials := 300
	if os.Getenv("DITHER_LONG") != "" {
		trials = 20_000
	}
	rows := people(1500)
	for k := range rows { // of 1,000 persons half have one row, and half two: and ten have many
		rows[k]["person"] = value.OfInt(int64(k % 1000))
	}
	for k, r := range people(90) {
		r["person"] = value.OfInt(int64(k % 10))
		rows = append(rows, r)
	}
	rows = enginetest.Ranked(rows, "person")
	for _, item := range []string{"COUNT(*)", "SUM(x)", "AVG(i)", "SUM(i, bounds => (0, 40))"} {
		for _, price := range []string{"4", "ρ 1"} {
			t.Run(fmt.Sprintf("%s at %s", item, price), func(t *testing.T) {
				t.Parallel()
				planned := planOf(t, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto, max_rows_quantile=0.8) "+item+" FROM v", price)
				covered, near, found, with := 0, 0, map[int64]int{}, map[int64]func() bool{}
				trials := trials
				if strings.Contains(item, "AVG") { // searched for, and slow
					trials /= 4
				}
				counts := enginetest.Order(&planned.Rows.Look, rows)
				for range trials {
					k, off := rowsDrawn(t, planned, counts)
					if off <= planned.Rows.RankError(0.05) {
						near++
					}
					found[k]++
					if with[k] == nil {
						with[k] = measuredWith(t, planned, k, rows)
					}
					if with[k]() {
						covered++
					}
				}
				for what, n := range map[string]int{"covered": covered, "near enough": near} {
					if p := (stattest.Binomial{Trials: trials, Probability: 0.95}).AtMost(n); p < 1e-6 {
						t.Errorf("%s %d of %d: probability %.2g at 95 %%", what, n, trials, p)
					}
				}
				t.Logf("covered %d of %d, bounds %v", covered, trials, found)
				if found[2] < trials/2 {
					t.Errorf("bounds %v were found: the test shows little", found)
				}
			})
		}
	}
}

// measuredWith measures with a bound on rows, as often as it is called, and reports that the interval covers what is
// left of the rows with it.
func measuredWith(t *testing.T, planned *plan.Plan, k int64, rows []enginetest.Row) func() bool {
	t.Helper()
	p, err := planned.WithRows(k)
	if err != nil {
		t.Fatal(err)
	}
	exact, noises := released(t, p, rows)
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	truth := boundedTruth(p, exact)
	slack := 1e-9 * max(1, truth, -truth)
	return func() bool {
		e := draw(answer, exact, noises)
		return e.Low-slack <= truth && truth <= e.High+slack
	}
}

// rowsDrawn draws a bound on rows, and tells by how many units its place is off the quantile's.
func rowsDrawn(t *testing.T, p *plan.Plan, counts map[int64]int64) (int64, float64) {
	t.Helper()
	values := make([]int64, 0, len(counts))
	for v := range counts {
		values = append(values, v)
	}
	slices.Sort(values)
	found, err := quantile.Single{
		Domain: quantile.Domain{Lower: 1, Upper: p.Rows.Most}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, Rank: p.Rows.Rank, Epsilon: p.Rows.Draw(),
	}.Release(mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
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
	o, below, upTo, n := found.Values[0], int64(0), int64(0), int64(0)
	for v, k := range counts {
		n += k
		if v < o {
			below += k
		}
		if v <= o {
			upTo += k
		}
	}
	at, _ := new(big.Rat).Mul(p.Rows.Rank, big.NewRat(n, 1)).Float64()
	return o, max(0, float64(below)-at, at-float64(upTo))
}
