package duckdb

import (
	"syscall"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/policy"
)

// processors is the time that the process has had of all cores: what else the machine does has little part in it.
func processors() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkUnitCost holds what one person can cost against the processors' time.
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
	enginetest.UnitCost(b, processors, func(look *bounded.Statement, heavy bool) error {
		_, err := s.Aggregate(b.Context(), look, from[heavy])
		return err
	})
}
