package enginetest

import (
	"math/big"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

type reference struct{}

func (reference) rows(rows []Row, b *plan.Bounded) []Row {
	if b.Unit == nil {
		return rows
	}
	return Ranked(rows, b.Unit.Name)
}

func (r reference) Sums(_ testing.TB, _ *policy.Policy, rows []Row, b *plan.Bounded, add func([]value.Value, []*big.Int)) error {
	Sum(b, r.rows(rows, b), add)
	return nil
}

func (r reference) Order(_ testing.TB, _ *policy.Policy, rows []Row, b *plan.Bounded) (map[int64]int64, error) {
	return Order(b, r.rows(rows, b)), nil
}

// The reference means what the scripts say.
func TestReferenceConforms(t *testing.T) { Conform(t, reference{}) }
