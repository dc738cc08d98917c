package bind

import (
	"math/rand"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
	"dither/internal/zone"
)

// evaluated evaluates an expression of one column.
func evaluated(e *bounded.Expr, column value.Value) value.Value {
	if e.Op == bounded.OpColumn {
		return column
	}
	if e.Op == bounded.OpConst {
		return e.Const
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		args[i] = evaluated(a, column)
	}
	return e.Apply(args...)
}

// TestClocksAreThoseOfTheZone compares the times that clocks of some zones show with those of Go's package time, at random
// moments, and around the changes and the ends of years, of which some are leap years.
func TestClocksAreThoseOfTheZone(t *testing.T) {
	lo, hi := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC)
	column := &bounded.Expr{
		Op: bounded.OpColumn, Type: value.Timestamp, Range: bounded.Range{IntLo: lo.UnixMicro(), IntHi: hi.UnixMicro()},
	}
	r := rand.New(rand.NewSource(1))
	for _, name := range []string{
		"America/New_York", "Europe/Berlin", "Europe/Dublin", "Asia/Kolkata", "Asia/Tokyo", "Australia/Lord_Howe", "Africa/Casablanca",
		"Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo", "Etc/GMT+5", "Europe/Moscow", "Pacific/Chatham", "Asia/Tehran",
	} {
		rules, err := zone.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := clocksOf(rules, column, query.Pos{})
		if err != nil {
			t.Fatal(name, err)
		}
		var moments []time.Time
		for range 500 {
			moments = append(moments, time.UnixMicro(lo.UnixMicro()+r.Int63n(hi.UnixMicro()-lo.UnixMicro())))
		}
		changes, _ := offsets(rules, lo.UnixMicro(), hi.UnixMicro())
		for _, c := range changes {
			moments = append(moments, time.UnixMicro(c.from-1), time.UnixMicro(c.from))
		}
		for year := 1990; year < 2060; year++ {
			for day := 29; day <= 33; day++ {
				moments = append(moments, time.Date(year, 12, day, 12, 0, 0, 0, time.UTC))
			}
		}
		for _, m := range moments {
			_, seconds := m.In(rules).Zone()
			if got, want := evaluated(e, value.OfMicro(m.UnixMicro())).Int, m.UnixMicro()+int64(seconds)*1_000_000; got != want && !m.Before(lo) {
				t.Fatalf("%s at %s: %s, want %s", name, m.UTC(), value.OfMicro(got), value.OfMicro(want))
			}
		}
	}
}
