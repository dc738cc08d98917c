package plan_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// ageFields returns the months, the days and the microseconds of AGE(a, b) of two timestamps, by the steps of
// PostgreSQL's timestamp_age: differences of fields, which borrow from the next field.
func ageFields(a, b time.Time) (months, days, micros int64) {
	sign := int64(1)
	earlier := b
	if a.Before(b) {
		sign, earlier = -1, a
		a, b = b, a
	}
	clock := func(t time.Time) int64 { return t.Sub(t.Truncate(24 * time.Hour)).Microseconds() }
	months = int64(12*(a.Year()-b.Year()) + int(a.Month()) - int(b.Month()))
	days, micros = int64(a.Day()-b.Day()), clock(a)-clock(b)
	if micros < 0 {
		micros += value.DayMicros
		days--
	}
	if days < 0 {
		days += int64(time.Date(earlier.Year(), earlier.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		months--
	}
	return sign * months, sign * days, sign * micros
}

// AGE of two timestamps, compared with an interval, and its parts, are those of PostgreSQL.
func TestAgeOfTimestamps(t *testing.T) {
	stattest.Cases(t, 300)
	p, err := policy.Decode([]byte(`
version: 1
population: {name: calendar}
budget: {epsilon: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      a: {type: timestamp, bounds: [2023-01-01, 2025-12-31]}
      b: {type: timestamp, bounds: [2023-01-01, 2025-12-31]}
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		moment := func(name string) time.Time {
			day := time.Date(2023, time.Month(rapid.IntRange(1, 36).Draw(t, name)), rapid.SampledFrom([]int{1, 2, 15, 28, 29, 30}).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
			return day.Add(time.Duration(rapid.SampledFrom([]int64{0, 1, 3600e6, 43200e6, value.DayMicros - 1}).Draw(t, "micros")) * time.Microsecond)
		}
		a, b := moment("a"), moment("b")
		months, days, micros := ageFields(a, b)
		rows := []enginetest.Row{{"a": value.OfMicro(a.UnixMicro()), "b": value.OfMicro(b.UnixMicro())}}
		count := func(where string) int64 {
			q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t WHERE " + where})
			if err != nil {
				t.Fatal(where, err)
			}
			n := new(big.Int)
			enginetest.SumOf(&q.Statement, enginetest.Tables{"t": rows}, func(_ []value.Value, sums []*big.Int) { n.Add(n, sums[0]) })
			return n.Int64()
		}
		of := fmt.Sprintf("%d seconds", 86400*(30*months+days)+micros/1e6)
		span := (30*months+days)*value.DayMicros + micros - micros%1e6
		exact := micros%1e6 == 0
		for where, want := range map[string]bool{
			"AGE(a, b) = INTERVAL '" + of + "'":                          exact,
			"AGE(a, b) < INTERVAL '" + of + "'":                          !exact && micros < 0,
			fmt.Sprintf("EXTRACT(year FROM AGE(a, b)) = %d", months/12):  true,
			fmt.Sprintf("EXTRACT(month FROM AGE(a, b)) = %d", months%12): true,
			fmt.Sprintf("EXTRACT(day FROM AGE(a, b)) = %d", days):        true,
		} {
			if got := count(where) == 1; got != want {
				t.Fatalf("%s of %s and %s is %t; months %d, days %d, micros %d, span %d", where, a, b, got, months, days, micros, span)
			}
		}
	})
}
