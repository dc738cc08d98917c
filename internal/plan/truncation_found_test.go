package plan_test

import (
	"math/big"
	"testing"

	"dither/internal/plan"
)

// If no bound cuts anything before a search finds a smaller bound on rows, the price is divided without an estimate. The
// plan with the bound that was found then has none either, and is not refused: the price is already paid.
func TestFoundRowsKeepTheEstimate(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for _, lost := range []int64{0, 1000} {
		q, err := plan.Build(p, plan.Request{
			SQL:        "SELECT days > 3, COUNT(DISTINCT person) FROM visits GROUP BY days > 3",
			AutoRows:   true,
			Truncation: plan.Estimate{Share: big.NewRat(1, 20), Rows: lost},
		})
		if err != nil {
			t.Fatal(err)
		}
		for rows := int64(1); rows <= q.Rows.Most; rows++ {
			found, err := q.WithRows(rows)
			if err != nil {
				t.Fatalf("%d rows: %v", rows, err)
			}
			if (found.Truncation == nil) != (q.Truncation == nil) {
				t.Errorf("%d rows: an estimate before: %t, after: %t", rows, q.Truncation != nil, found.Truncation != nil)
			}
		}
	}
}
