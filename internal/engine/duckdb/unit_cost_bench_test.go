package duckdb

import (
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

// BenchmarkUnitCost holds what one person can cost against time.
func BenchmarkUnitCost(b *testing.B) {
	s := newBench(b)
	var err error
	if s.policy, err = policy.Decode([]byte(enginetest.UnitCostPolicy), s.dir); err != nil {
		b.Fatal(err)
	}
	from := map[bool]engine.Sealed{}
	for _, heavy := range []bool{false, true} {
		known := engine.Sealed{File: s.write(b, "visits", enginetest.UnitCostRows(20_000, heavy))}
		known.Tables = map[string]engine.Sealed{"visits": known}
		from[heavy] = known
	}
	enginetest.UnitCost(b, func(look *plan.Bounded, heavy bool) error {
		_, err := s.Aggregate(b.Context(), look, from[heavy])
		return err
	})
}
