package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/cost"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// UnitCostPolicy is the policy for [UnitCost]. Persons may have up to a thousand stored rows.
const UnitCostPolicy = `
version: 1
population: {name: clinic}
budget: {epsilon: 1000}
limits: {unit_cost: 100000000000}
tables:
  visits:
    source: {csv: visits.csv}
    unit: pid
    rows_per_unit: 4
    columns:
      pid: {type: integer}
      age: {type: real, bounds: [0, 115]}
      days: {type: integer, bounds: [0, 1000]}
      day: {type: date, bounds: [2000-01-01, 2030-12-31]}
      kind: {type: text, values: [ward, home, street]}
      note: {type: text}
`

// UnitCostQuestions returns the questions whose planned cost is compared with time, the simplest first. The last
// eight join the table with itself three times. They compute with columns from both ends of the join, so no engine
// can compute before the join.
func UnitCostQuestions() []string {
	several := func(n int, text string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(text, i))
		}
		return strings.Join(all, " OR ")
	}
	join := func(n int) string {
		var b strings.Builder
		for i := 2; i <= n; i++ {
			fmt.Fprintf(&b, " JOIN visits AS v%d ON v1.pid = v%d.pid", i, i)
		}
		return " FROM visits AS v1" + b.String()
	}
	ends := func(column string) string {
		return "CASE WHEN v1.days < v4.days THEN v1." + column + " ELSE v4." + column + " END"
	}
	trunc := func(part string) string { return "date_trunc('" + part + "', " + ends("day") + ") = DATE '1999-01-01'" }
	four := "SELECT COUNT(*)" + join(4) + " WHERE "
	return []string{
		"SELECT COUNT(*) FROM visits",
		"SELECT kind, COUNT(*), AVG(days) FROM visits WHERE age > 30 GROUP BY kind",
		"SELECT SUM(days) FROM visits WHERE EXTRACT(month FROM day) = 3 AND date_trunc('year', " +
			"day) > DATE '2004-01-01'",
		"SELECT COUNT(*) FROM visits WHERE " + several(150, "EXP(age / 9) > 9999999%d"),
		"SELECT COUNT(*) FROM visits WHERE note LIKE '%special%requests%'",
		"SELECT COUNT(*) FROM visits WHERE " + several(8, "note LIKE '%%special%d%%requests%%'"),
		"SELECT COUNT(*) FROM visits WHERE note LIKE '%" + strings.Repeat("x", 20) + "y%'",
		"SELECT COUNT(*) FROM (SELECT pid, COUNT(DISTINCT note) AS notes, MAX(day) AS last FROM visits " +
			"GROUP BY pid) AS p WHERE notes > 3",
		"SELECT COUNT(*)" + join(2) + " WHERE v1.days < v2.days",
		"SELECT COUNT(*)" + join(3) + " WHERE v1.note LIKE '%y%'",
		"SELECT COUNT(*) FROM visits WHERE " + several(150, "note LIKE '%%special%d%%requests%%'"),
		"SELECT COUNT(*)" + join(5),
		"SELECT COUNT(*)" + join(5) + " WHERE " + several(30, "EXP((v1.age + v5.age) / 20) > 9999999%d"),
		"SELECT COUNT(*)" + join(5) + " WHERE v1.note < v2.note OR v1.note < v3.note",
		"SELECT v1.kind, AVG(v1.days + v5.days)" + join(5) + " GROUP BY v1.kind",
		four + several(30, "LN(v1.age + v4.age + 1) > 9999999%d"),
		four + several(30, "EXTRACT(day FROM "+ends("day")+") = 4%d"),
		four + trunc("month") + " OR " + trunc("quarter") + " OR " + trunc("year"),
		four + several(30, "ROUND((v1.age + v4.age) / 7) = 9999%d"),
		four + several(30, "(v1.days + v4.days) %% 77 > 70 + %d"),
		four + ends("note") + " LIKE '%xxxxxxxxxxy%'",
		"SELECT COUNT(DISTINCT v1.days + v4.days)" + join(4),
		"SELECT COUNT(*) FROM (SELECT v1.pid, COUNT(DISTINCT " + ends("note") + ") AS notes" + join(4) +
			" GROUP BY v1.pid) AS p WHERE notes > 3",
	}
}

// UnitCostRows returns rows of light persons with one visit each. If heavy is set, one more person has a thousand
// visits, which are slow to process.
func UnitCostRows(light int, heavy bool) (rows []Row) {
	row := func(pid int64, note string) Row {
		return Row{
			"pid": value.OfInt(pid), "age": value.OfReal(90.5), "days": value.OfInt(pid % 1000),
			"day":  value.Value{Type: value.Date, Int: 17000},
			"kind": value.OfText("street"), "note": value.OfText(note),
		}
	}
	for i := range light {
		rows = append(rows, row(int64(i+10), "nothing"))
	}
	for i := 0; heavy && i < 1000; i++ {
		note := fmt.Sprintf("%03d", i)
		rows = append(rows, row(1, strings.Repeat("x", value.MaxTextBytes-len(note))+note))
	}
	return rows
}

// UnitCost benchmarks each question with and without the heavy person. It reports the planned steps of one unit, and
// the extra time in nanoseconds per step. The function ask runs a statement, with the heavy person or without, and the
// function clock returns the time.
func UnitCost(b *testing.B, clock func() time.Duration, ask func(look *bounded.Statement, heavy bool) error) {
	p, err := policy.Decode([]byte(UnitCostPolicy), ".")
	if err != nil {
		b.Fatal(err)
	}
	for i, sql := range UnitCostQuestions() {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			b.Fatal(sql, err)
		}
		steps := cost.Of(p, q.AllLooks()...).Steps
		b.Run(fmt.Sprintf("question %d", i+1), func(b *testing.B) {
			b.Logf("%.100s", sql)
			var took [2][]time.Duration
			for b.Loop() {
				for i, heavy := range []bool{false, true} {
					start := clock()
					if err := ask(&q.Statement, heavy); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], clock()-start)
				}
			}
			median := func(all []time.Duration) float64 {
				slices.Sort(all)
				return float64(all[len(all)/2])
			}
			without, with := median(took[0]), median(took[1])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(steps)/1e6, "Msteps")
			b.ReportMetric(without/1e6, "ms/without")
			b.ReportMetric((with-without)/1e6, "ms/more")
			b.ReportMetric((with-without)/float64(steps), "ns/step")
		})
	}
}
