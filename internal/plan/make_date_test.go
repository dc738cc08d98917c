package plan_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

const madeDates = `
version: 1
population: {name: calendar}
budget: {epsilon: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      y: {type: integer, bounds: [1, 9999], nullable: true}
      m: {type: integer, bounds: [1, 12]}
      d: {type: integer, bounds: [1, 28]}
      n: {type: integer, bounds: [-1000000, 4000000]}
      born: {type: integer, bounds: [1980, 1983]}
      score: {type: integer, bounds: [0, 50000]}
      x: {type: real, bounds: [1, 10]}
`

// make_date of columns is the day of the calendar, in 9999 years, and in each month of 400 years, after which the calendar repeats.
func TestMakeDateOfColumns(t *testing.T) {
	p, err := policy.Decode([]byte(madeDates), ".")
	if err != nil {
		t.Fatal(err)
	}
	count := func(sql string, rows ...enginetest.Row) int64 {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(sql, err)
		}
		n := new(big.Int)
		enginetest.SumOf(&q.Statement, enginetest.Tables{"t": rows}, func(_ []value.Value, sums []*big.Int) { n.Add(n, sums[0]) })
		return n.Int64()
	}
	var rows []enginetest.Row
	for year := 1; year <= 9999; year++ {
		for month := 1; month <= 12; month++ {
			if month != 1+year*5%12 && (year < 1600 || year > 2000) {
				continue
			}
			day := 1 + (year*7+month*5)%28
			at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
			rows = append(rows, enginetest.Row{
				"y": value.OfInt(int64(year)), "m": value.OfInt(int64(month)), "d": value.OfInt(int64(day)), "n": value.OfInt(at.Unix() / 86400),
			})
		}
	}
	if got := count("SELECT COUNT(*) FROM t WHERE make_date(y, m, d) - DATE '1970-01-01' = n", rows...); got != int64(len(rows)) {
		t.Errorf("%d of %d days are those of the calendar", got, len(rows))
	}
	null := enginetest.Row{"y": value.NullOf(value.Integer), "m": value.OfInt(1), "d": value.OfInt(1)}
	if got := count("SELECT COUNT(*) FROM t WHERE make_date(y, m, d) IS NULL", null); got != 1 {
		t.Error("the date of no year is not NULL")
	}
	// the range of the dates is sharp, so a group is known for each year
	q, err := plan.Build(p, plan.Request{SQL: "SELECT EXTRACT(year FROM make_date(born, 7, 31)), COUNT(*) FROM t GROUP BY 1"})
	if err != nil || q.Cells() != 4 {
		t.Errorf("not 4 years: %v", err)
	}
}

// make_date is refused if it could make a day that does not exist, and the hint works when pasted.
func TestMakeDateRefuses(t *testing.T) {
	p, err := policy.Decode([]byte(madeDates), ".")
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"make_date(score, 1, 1)": "LEAST(GREATEST(score, 1900), 2100)", "make_date(born, 2, 29)": "does not exist", "make_date(born, m, 29)": "does not exist",
		"make_date(born, d, 1)": "does not exist", "make_date(born, 1, d - 1)": "does not exist", "make_date(2023, 2, 29)": "there is no such day",
		"make_date(x, 1, 1)": "whole numbers", "make_date(NULL, 1, 1)": "whole numbers",
	} {
		_, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t WHERE DATE '2000-01-01' > " + call})
		if err == nil || !strings.Contains(err.Error()+hintOf(err), want) {
			t.Errorf("%s: %v", call, err)
		}
	}
	for _, call := range []string{
		"make_date(born, 1, 31)", "make_date(born, 2, 28)", "make_date(LEAST(GREATEST(score, 1900), 2100), 1, 1)", "make_date(2024, 2, 29)",
		"make_date(born, CASE WHEN x > 2 THEN 4 ELSE 6 END, 30)", "make_date(EXTRACT(year FROM make_date(born, m, d)), 12, 31)",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM t WHERE DATE '2000-01-01' > " + call}); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}
