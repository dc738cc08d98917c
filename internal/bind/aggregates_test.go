package bind_test

import (
	"slices"
	"testing"

	"dither/internal/bind"
	"dither/internal/query"
)

// GROUP BY ALL takes no aggregate for a key.
func TestAggregatesAreNoKeys(t *testing.T) {
	for _, name := range slices.Concat(bind.Aggregates(), bind.InnerAggregates()) {
		if !query.Aggregate(name) {
			t.Errorf("GROUP BY ALL would group by %s", name)
		}
	}
}
