package engine

import (
	"errors"
	"math"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// RehearsalRows is the number of made-up rows of a table in a rehearsal.
const RehearsalRows = 192

// RehearsalMemory is the largest memory of a rehearsal in MB, if the engine can limit it. RehearsalMemoryText is
// the same limit for messages.
const (
	RehearsalMemory     = 1024
	RehearsalMemoryText = "1 GB of memory"
)

// ErrRehearsal is wrapped by the error of Rehearse if the rehearsal took too much time or memory. The error depends
// on the statement and the made-up rows alone.
var ErrRehearsal = errors.New("the rehearsal takes too much time or memory")

// Mixed returns n rows, given the made-up values of each column. It combines them so that many different values of
// any two columns occur together in a row. Each column needs at least one value.
func Mixed[T any](columns [][]T, n int) [][]T {
	rows := make([][]T, n)
	for r := range rows {
		rows[r] = make([]T, len(columns))
		step := uint64(r) // may overflow for many columns, which does no harm
		for i, values := range columns {
			rows[r][i] = values[step%uint64(len(values))]
			step = step*31 + uint64(r/(i+2)+i+7) // any numbers that vary the combinations would do
		}
	}
	return rows
}

// Corners returns extreme values of type t that a table may hold, and the constants of b with the values next to
// them.
func Corners(b *bounded.Statement, t value.Type) []value.Value {
	values := []value.Value{value.NullOf(t)}
	integers := []int64{0, 1, -1, 2, 1 << 31, 1 << 53, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	reals := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, -2.5, 5e-324, -5e-324, 0x1p-60, 0x1p53, 0x1p63, -0x1p63,
		math.MaxFloat64,
		-math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
	}
	texts := []string{"", "a", "~", "%", "\\", "'", "|", "Straße", strings.Repeat("x", value.MaxTextBytes)}
	days := []int64{0, value.MinDay, value.MaxDay}
	micros := []int64{0, -1, value.MinMicro, value.MaxMicro}
	for _, x := range bounded.Constants(b) {
		switch x.Type {
		case value.Integer, value.Date, value.Timestamp, value.Time, value.Interval:
			integers = append(integers, x.Int-1, x.Int, x.Int+1)
			days = append(days, clampDay(x.Int-1), clampDay(x.Int), clampDay(x.Int+1))
			micros = append(micros, clampMicro(x.Int-1), clampMicro(x.Int), clampMicro(x.Int+1))
			reals = append(reals, float64(x.Int))
		case value.Real:
			reals = append(reals, x.Real, math.Nextafter(x.Real, math.Inf(1)), math.Nextafter(x.Real, math.Inf(-1)))
		case value.Text:
			texts = append(texts, x.Text)
		case value.Boolean:
		}
	}
	switch t {
	case value.Integer:
		values = appendValues(values, integers, value.OfInt)
	case value.Real:
		values = appendValues(values, reals, value.OfReal)
	case value.Text:
		values = appendValues(values, texts, value.OfText)
	case value.Date:
		values = appendValues(values, days, value.OfDay)
	case value.Timestamp:
		values = appendValues(values, micros, value.OfMicro)
	case value.Time:
		values = appendValues(values, micros, func(n int64) value.Value {
			return value.Value{Type: value.Time, Int: value.TimeOf(n)}
		})
	case value.Interval:
		values = appendValues(values, micros, func(n int64) value.Value {
			return value.Value{Type: value.Interval, Int: n}
		})
	case value.Boolean:
		values = append(values, value.OfBool(false), value.OfBool(true))
	}
	return values
}

func appendValues[T any](values []value.Value, more []T, of func(T) value.Value) []value.Value {
	for _, x := range more {
		values = append(values, of(x))
	}
	return values
}

func clampMicro(n int64) int64 { return min(max(n, value.MinMicro), value.MaxMicro) }

func clampDay(day int64) int64 { return min(max(day, value.MinDay), value.MaxDay) }
