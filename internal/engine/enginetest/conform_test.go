package enginetest

import (
	"math/big"
	"testing"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

type reference struct{}

func (reference) ranked(rows Tables, b *bounded.Statement) Tables {
	if b.Unit == nil || b.Source != nil {
		return rows
	}
	return Tables{b.Table: Ranked(rows[b.Table], b.Unit.Name)}
}

func (r reference) Sums(
	_ testing.TB, _ *policy.Policy, rows Tables, b *bounded.Statement, add func([]value.Value, []*big.Int),
) error {
	SumOf(b, r.ranked(rows, b), add)
	return nil
}

func (r reference) Order(_ testing.TB, _ *policy.Policy, rows Tables, b *bounded.Statement) (map[int64]int64, error) {
	return OrderOf(b, r.ranked(rows, b)), nil
}

// The reference means what the scripts say.
func TestReferenceConforms(t *testing.T) { Conform(t, reference{}) }
