package enginetest

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"dither/internal/bounded"
	"dither/internal/value"
)

// clock evaluates a function of a date or a time. It uses package time and rounding of rationals, and not the functions
// of package value, so that it checks them.
func clock(e *bounded.Expr, n int64) int64 {
	length := map[string]int64{"hour": 3600_000_000, "minute": 60_000_000, "second": 1_000_000}[e.Text]
	switch e.Op {
	case bounded.OpDayOf:
		return floorOf(n, value.DayMicros)
	case bounded.OpTimeOf:
		return n - value.DayMicros*floorOf(n, value.DayMicros)
	case bounded.OpStartOf:
		return n * value.DayMicros
	case bounded.OpTimeTrunc:
		return floorOf(n, length) * length
	case bounded.OpAddMonths:
		months, err := strconv.Atoi(e.Text)
		if err != nil {
			panic(err)
		}
		day := time.Unix(n*86400, 0).UTC()
		first := time.Date(day.Year(), day.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		out := first.AddDate(0, 0, day.Day()-1)
		for out.Month() != first.Month() {
			out = out.AddDate(0, 0, -1)
		}
		return floorOf(out.Unix(), 86400)
	}
	at := time.UnixMicro(n).UTC()
	switch e.Text {
	case "hour":
		return int64(at.Hour())
	case "minute":
		return int64(at.Minute())
	case "second":
		return int64(at.Second())*1_000_000 + int64(at.Nanosecond()/1000)
	}
	panic(fmt.Sprintf("enginetest: no part %q of a time", e.Text))
}

// floorOf returns ⌊a / b⌋ for b > 0.
func floorOf(a, b int64) int64 {
	return new(big.Int).Div(big.NewInt(a), big.NewInt(b)).Int64() // rounds down, because b is positive
}
