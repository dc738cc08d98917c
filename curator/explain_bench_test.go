package curator

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dither/internal/release"
)

// widePolicy declares as much as a policy may: thousands of values, keys and parts, tables along references, values of a public table.
func widePolicy() string {
	list := func(n int, prefix string) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("%s%04d", prefix, i))
		}
		return "[" + strings.Join(names, ", ") + "]"
	}
	return `
version: 1
population: {name: wide, neighbours: add-remove}
budget: {rho: 900000, delta: 0.5, selection_delta: 0.4}
price: {default: {rho: 0.1}, minimum: {rho: 0.000001}, maximum: {rho: 100}, delta: 1e-6}
limits: {unit_cost: 1e12}
tables:
  towns:
    source: {csv: towns.csv}
    public: true
    rows_per_value: {town: 1}
    columns: {town: {type: text}, state: {type: integer, bounds: [1, 50]}}
  people:
    source: {csv: people.csv}
    unit: id
    rows_per_unit: 1
    columns:
      id: {type: integer}
      age: {type: integer, bounds: [0, 115]}
      income: {type: real, bounds: [0, 1000000]}
      height: {type: real, bounds: [50, 250]}
      born: {type: date, bounds: [1900-01-01, 2025-01-01]}
      town: {type: text, values_from: towns.town}
      street: {type: text}
      job: {type: text, values: ` + list(10_000, "j") + `}
      a: {type: boolean, nullable: true}
      b: {type: boolean, nullable: true}
      c: {type: boolean}
      d: {type: boolean}
      e: {type: boolean}
      f: {type: boolean}
      g: {type: integer, bounds: [1, 8]}
      h: {type: integer, bounds: [1, 8]}
      i: {type: integer, bounds: [1, 4]}
  orders:
    source: {csv: orders.csv}
    unit: person
    rows_per_unit: 100
    columns:
      order: {type: integer}
      person: {type: integer}
      at: {type: date, bounds: [2020-01-01, 2024-12-31]}
      total: {type: real, bounds: [0, 5000]}
      town: {type: text, values_from: towns.town}
  days:
    source: {csv: days.csv}
    unit: person
    rows_per_unit: 100
    part: {column: day, per_unit: 3}
    columns:
      person: {type: integer}
      day: {type: text, values: ` + list(10_000, "d") + `}
      x: {type: integer, bounds: [0, 10]}
`
}

// wideHome is a sealed home of that policy, with a few rows.
func wideHome(t testing.TB) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", widePolicy())
	var towns strings.Builder
	towns.WriteString("town,state\n")
	for i := range 10_000 {
		fmt.Fprintf(&towns, "t%d,%d\n", i, 1+i%50)
	}
	write(t, home, "towns.csv", towns.String())
	write(t, home, "people.csv", "id,age,income,height,born,town,street,job,a,b,c,d,e,f,g,h,i\n1,30,100,170,1990-01-01,t1,s,j0001,t,f,t,f,t,f,1,2,3\n")
	write(t, home, "orders.csv", "order,person,at,total,town\n1,1,2020-01-01,12.5,t1\n")
	write(t, home, "days.csv", "person,day,x\n1,d0001,4\n")
	c := openHome(t, home)
	for _, table := range []string{"towns", "people", "orders", "days"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// wideQuestions are as large as questions get, each in another way.
func wideQuestions() map[string]Question {
	repeat := func(n int, sep, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(format, i))
		}
		return strings.Join(parts, sep)
	}
	var pairs []string
	for i, x := range "abcdefghi" {
		for _, y := range "abcdefghi"[:i] {
			pairs = append(pairs, fmt.Sprintf("(%c, %c)", y, x))
		}
	}
	sql := func(s string) Question { return Question{SQL: s} }
	return map[string]Question{
		"one count":            sql("SELECT COUNT(*) FROM people"),
		"255 quantiles":        sql("SELECT APPROX_QUANTILES(income, 100), APPROX_QUANTILES(age, 100), APPROX_QUANTILES(height, 50) FROM people"),
		"percentiles of one":   sql("SELECT " + repeat(250, ", ", "PERCENTILE_CONT(income, 0.%04d)") + " FROM people"),
		"quantiles by group":   sql("SELECT g, h, APPROX_QUANTILES(income, 100) FROM people GROUP BY g, h"),
		"modes":                sql("SELECT " + repeat(8, ", ", "MODE(age + %d)") + ", MODE(job) FROM people"),
		"moments":              sql("SELECT " + repeat(100, ", ", "CORR(income, height + %d)") + " FROM people"),
		"moments, averages":    sql("SELECT " + repeat(200, ", ", "AVG(income + %d)") + " FROM people"),
		"cube of six":          sql("SELECT a, b, c, d, e, f, COUNT(*), AVG(income) FROM people GROUP BY CUBE(a, b, c, d, e, f)"),
		"cube of six, wide":    sql("SELECT a, b, d, g, h, i, COUNT(*) FROM people GROUP BY CUBE(a, b, d, g, h, i)"),
		"cube, many sums":      sql("SELECT a, b, c, d, e, COUNT(*), " + repeat(40, ", ", "AVG(income + %d)") + " FROM people GROUP BY CUBE(a, b, c, d, e)"),
		"36 sets, of pairs":    sql("SELECT COUNT(*), SUM(age) FROM people GROUP BY GROUPING SETS (" + strings.Join(pairs, ", ") + ")"),
		"rollup of years":      sql("SELECT COUNT(*), SUM(income) FROM people GROUP BY ROLLUP(date_trunc('year', born), g, h)"),
		"10,000 groups":        sql("SELECT job, COUNT(*), AVG(income) FROM people GROUP BY job"),
		"80,000 groups":        sql("SELECT job, g, COUNT(*) FROM people GROUP BY job, g"),
		"groups of CASE":       sql("SELECT CASE WHEN job < 'j5' THEN job ELSE 'other' END, COUNT(*) FROM people GROUP BY CASE WHEN job < 'j5' THEN job ELSE 'other' END"),
		"values of a table":    sql("SELECT town, COUNT(*) FROM people GROUP BY town"),
		"unknown groups":       sql("SELECT street, job, COUNT(*), SUM(income) FROM people GROUP BY street, job"),
		"one part of 10,000":   sql("SELECT COUNT(*) FROM days WHERE day = 'd0007'"),
		"1,000 parts":          sql("SELECT COUNT(*) FROM days WHERE day IN (" + repeat(1000, ", ", "'d%04d'") + ")"),
		"every part a group":   sql("SELECT day, COUNT(*), SUM(x) FROM days GROUP BY day"),
		"IN of 1,000 values":   sql("SELECT COUNT(*) FROM people WHERE job IN (" + repeat(1000, ", ", "'j%04d'") + ")"),
		"join":                 sql("SELECT towns.state, COUNT(*), SUM(total) FROM orders JOIN people ON orders.person = people.id JOIN towns ON orders.town = towns.town GROUP BY towns.state"),
		"join by town":         sql("SELECT o.town, p.town = o.town, SUM(total) FROM orders o JOIN people p ON o.person = p.id GROUP BY o.town, p.town = o.town"),
		"union of 15":          sql("SELECT COUNT(*), SUM(x) FROM (" + repeat(15, " UNION ALL ", "SELECT id, age + %d AS x FROM people") + ") u"),
		"per person":           sql("SELECT n, COUNT(*), AVG(s) FROM (SELECT person, COUNT(*) AS n, SUM(total) AS s FROM orders GROUP BY person) t GROUP BY n"),
		"having 300":           sql("SELECT g, COUNT(*) FROM people GROUP BY g HAVING " + repeat(190, " AND ", "SUM(age) > %d")),
		"having, other sums":   sql("SELECT g, COUNT(*) FROM people GROUP BY g HAVING " + repeat(140, " AND ", "COUNT(*) * SUM(age + %d) > 1")),
		"deep expression":      sql("SELECT SUM(LEAST(age" + repeat(190, "", " + %d") + ", 100)) FROM people"),
		"nested subqueries":    sql("SELECT SUM(x) FROM " + strings.Repeat("(SELECT id, LEAST(x + 1, 100) AS x FROM ", 10) + "(SELECT id, age AS x FROM people) t" + strings.Repeat(") t", 10)),
		"found bounds":         sql("SELECT g, " + repeat(20, ", ", "SUM(income + %d, bounds => auto)") + " FROM people GROUP BY g"),
		"within":               {SQL: "SELECT g, COUNT(*), SUM(age) FROM people GROUP BY g", Within: "100"},
		"within, 10,000":       {SQL: "SELECT job, COUNT(*), SUM(age) FROM people GROUP BY job", Within: "100000"},
		"within, cube":         {SQL: "SELECT a, b, c, d, e, COUNT(*) FROM people GROUP BY CUBE(a, b, c, d, e)", Within: "100"},
		"within, 255 sums":     {SQL: "SELECT " + repeat(255, ", ", "SUM(age + %d)") + " FROM people", Within: "100000"},
		"within, cube of sums": {SQL: "SELECT a, b, c, d, e, " + repeat(40, ", ", "SUM(age + %d)") + " FROM people GROUP BY CUBE(a, b, c, d, e)", Within: "100000"},
		"whole numbers, cube":  {SQL: "SELECT a, b, c, d, e, f, COUNT(*) FROM people GROUP BY CUBE(a, b, c, d, e, f)", Whole: true},
		"256 columns of sums":  sql("SELECT " + repeat(255, ", ", "SUM(age + %d)") + " FROM people"),
		"arithmetic of counts": sql("SELECT " + repeat(60, " + ", "%d * COUNT(*)") + " - SUM(age) / COUNT(*) FROM people"),
	}
}

// released fills the ledger with answers, of made-up numbers: what questions find there, without the time that answering takes.
func released(t testing.TB, c *Owner, n int, ask func(int) Question) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 32 { // which the ledger writes together
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				a, err := c.ask(ask(i))
				if err != nil {
					t.Error(err)
					return
				}
				numbers := make([][]*big.Int, a.look.Shape()[0])
				for j := range numbers {
					for range a.look.Shape()[1] {
						numbers[j] = append(numbers[j], big.NewInt(int64(1000+i+j)))
					}
				}
				text, err := inside(nil).Encode(a.query, release.Values{Numbers: numbers})
				if err == nil {
					var id uint64
					if id, _, err = inside(c).Charge(a.look); err == nil {
						err = inside(c).Ledger.Release(id, text)
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkExplainAfter explains questions where many answers stand in the ledger, of which the last hundred that are looked at
// tell something of it, or nothing; first is the first such question of a process, which plans those again.
func BenchmarkExplainAfter(b *testing.B) {
	home := wideHome(b)
	c := openHome(b, home)
	n := 1000 // of which a hundred are looked at, as of any more; DITHER_BENCH_RELEASES says another number
	if text := os.Getenv("DITHER_BENCH_RELEASES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	released(b, c, n, func(i int) Question {
		rho := fmt.Sprintf("0.00%04d", 1000+i%8000)
		if i%2 == 0 {
			return Question{SQL: fmt.Sprintf("SELECT g, COUNT(*), SUM(income) AS of%d FROM people GROUP BY g", i), Rho: rho}
		}
		return Question{SQL: fmt.Sprintf("SELECT a, b, g, h, COUNT(*) AS n%d, SUM(age) FROM people WHERE age > %d GROUP BY a, b, g, h", i, i/2%2), Rho: rho}
	})
	released(b, c, 20, func(i int) Question {
		rho := fmt.Sprintf("0.00%04d", 1000+i)
		if i%2 == 0 {
			return Question{SQL: "SELECT at, COUNT(*), SUM(total) FROM orders GROUP BY at", Rho: rho}
		}
		return Question{SQL: "SELECT job, COUNT(*) FROM people GROUP BY job", Rho: rho}
	})
	for name, q := range map[string]Question{
		"by month, of days":      {SQL: "SELECT date_trunc('month', at), COUNT(*), SUM(total) FROM orders GROUP BY 1"},
		"some of 10,000":         {SQL: "SELECT job LIKE '%7' OR job LIKE 'j0%' AND job < 'j05', COUNT(*) FROM people GROUP BY 1"},
		"that tell it":           {SQL: "SELECT g, h, COUNT(*), SUM(age) FROM people WHERE age > 1 GROUP BY g, h"},
		"combined":               {SQL: "SELECT g, h, COUNT(*), SUM(age) FROM people WHERE age > 1 GROUP BY g, h", Combine: true},
		"combined, in sets":      {SQL: "SELECT a, b, g, h, COUNT(*), SUM(age) FROM people WHERE age > 1 GROUP BY CUBE(a, b, g, h)", Combine: true},
		"a hundred that tell it": {SQL: "SELECT g, SUM(income) FROM people GROUP BY g"},
		"that tell other things": {SQL: "SELECT g, AVG(income) FROM people WHERE age > 2 GROUP BY g"},
		"within":                 {SQL: "SELECT g, h, COUNT(*), SUM(age) FROM people WHERE age > 1 GROUP BY g, h", Within: "100"},
		"its own, within":        {SQL: "SELECT a, b, g, h, COUNT(*), SUM(age) FROM people WHERE age > 1 GROUP BY a, b, g, h", Within: "10%"},
	} {
		for _, first := range []bool{true, false} {
			label := strings.ReplaceAll(name, " ", "_")
			if first {
				label += ",_first"
			}
			b.Run(label, func(b *testing.B) {
				used := processor()
				for b.Loop() {
					if first {
						c.plans = plans{}
					}
					if _, err := c.Explain(b.Context(), q); err != nil {
						b.Log(name, err)
					}
				}
				b.ReportMetric((processor()-used).Seconds()*1000/float64(b.N), "cpu-ms")
			})
		}
	}
}

// processor is the time that the process has used.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkExplain(b *testing.B) {
	home := wideHome(b)
	c := openHome(b, home)
	qs := wideQuestions()
	for name, q := range qs {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			used := processor()
			for b.Loop() {
				if _, err := c.Explain(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processor()-used).Seconds()*1000/float64(b.N), "cpu-ms")
		})
	}
}
