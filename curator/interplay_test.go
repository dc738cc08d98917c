package curator

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const interplayPolicy = `
version: 1
population: {name: people, neighbours: NEIGH}
budget: {rho: 900000, delta: 0.5, selection_delta: 0.4}
price: {default: {rho: 1}, minimum: {rho: 0.0001}, maximum: {rho: 100}, delta: 1e-6}
tables:
  regions: {source: {csv: regions.csv}, public: true, rows_per_value: {r: 1}, columns: {r: {type: text}, big: {type: boolean}}}
  people:
    source: {csv: people.csv}
    unit: person
    rows_per_unit: 4
    max_groups: 2
    max_rows_per_group: 1
    min_units_per_group: 3
    part: {column: region}
    columns:
      person: {type: integer}
      age: {type: integer, bounds: [0, 115]}
      h: {type: real, bounds: [-3, 7.5]}
      region: {type: text, values: [north, south], nullable: true}
      reg: {type: text, values_from: regions.r}
      city: {type: text, nullable: true}
      born: {type: date, bounds: [1990-01-01, 2000-01-01]}
      d: {type: date}
      ok: {type: boolean, nullable: true}
`

// Random combinations of everything that a question can have are answered or refused: explaining foretells which, without a panic, nothing is charged for a
// refusal, the owner is told of no defect, and an answer is given again.
func TestInterplay(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for seed, neigh := range []string{"add-remove", "change-one"} {
		home := filepath.Join(t.TempDir(), "home")
		if err := Init(home); err != nil {
			t.Fatal(err)
		}
		write(t, home, "policy.yaml", strings.Replace(interplayPolicy, "NEIGH", neigh, 1))
		write(t, home, "regions.csv", "r,big\nx,true\ny,false\n")
		r := rand.New(rand.NewSource(int64(seed) + 1))
		var b strings.Builder
		b.WriteString("person,age,h,region,reg,city,born,d,ok\n")
		for p := range 300 {
			for range 1 + r.Intn(6) {
				fmt.Fprintf(&b, "%d,%d,%.3f,%s,%s,%s,199%d-05-0%d,20%02d-01-01,%s\n", p, r.Intn(120), r.NormFloat64(), pick(r, "north", "south", ""), pick(r, "x", "y"), pick(r, "a", "b", "c", "", "é", "\"q,|\""), r.Intn(9), 1+r.Intn(9), r.Intn(99), pick(r, "true", "false", ""))
			}
		}
		write(t, home, "people.csv", b.String())
		c, err := Open(home)
		if err != nil {
			t.Fatal(err)
		}
		var owner error
		c.listener = func(err error) { owner = err }
		for _, table := range []string{"regions", "people"} {
			if _, err := c.Seal(t.Context(), table, SealOptions{Shared: true}); err != nil {
				t.Fatal(err)
			}
		}
		refusals := map[string]int{}
		answered := 0
		n := 40
		if os.Getenv("DITHER_LONG") != "" {
			n = 3000
		}
		for range n {
			q := Question{SQL: interplayQuestion(r)}
			if r.Intn(4) == 0 {
				q.Other = true
			}
			if r.Intn(5) == 0 {
				q.MaxGroups = int64(1 + r.Intn(5))
			}
			if r.Intn(6) == 0 {
				q.MinUnits = int64(1 + r.Intn(9))
			}
			if r.Intn(8) == 0 {
				q.Within = pick(r, "20", "10%", "1")
			}
			if r.Intn(6) == 0 {
				q.Whole = true
			}
			if r.Intn(9) == 0 {
				q.Combine = true
			}
			if r.Intn(6) == 0 && q.Within == "" {
				q.Rho = pick(r, "0.01", "3", "50", "0.0001")
			}
			if r.Intn(9) == 0 {
				q.Confidence = pick(r, "0.5", "0.999")
			}
			func() {
				defer func() {
					if e := recover(); e != nil {
						t.Errorf("PANIC %+v: %v", q, e)
					}
				}()
				owner = nil
				_, err := c.Explain(t.Context(), q)
				rel, err2 := c.Answer(t.Context(), q)
				var e *Error
				if err2 != nil {
					errors.As(err2, &e)
					if e == nil || e.Charged || owner != nil || e.Code == CodeFailed || strings.Contains(e.Message, "recorded") || strings.Contains(e.Message, "defect") {
						t.Errorf("%s %+v: %v (owner: %v)", neigh, q, err2, owner)
					}
					m := err2.Error()
					if i := strings.Index(m, ": "); i > 0 && i < 9 {
						m = m[i:]
					}
					refusals[m]++
				} else {
					answered++
					again, err3 := c.Answer(t.Context(), q)
					if err3 != nil || !again.Replayed && !again.Free || len(again.Rows) != len(rel.Rows) {
						t.Errorf("neither replayed nor free %+v: %v", q, err3)
					}
				}
				// explain states the price of a list of unknown values, which an answer then needs to be told
				if (err == nil) != (err2 == nil) && (err2 == nil || !strings.Contains(err2.Error(), "--allow-selection to pay this price")) {
					t.Errorf("explain %v, answer %v: %+v", err, err2, q)
				}
			}()
		}
		if t.Logf("%d answered, %d refusals", answered, len(refusals)); answered < n/10 {
			t.Errorf("of %d questions %d were answered: %v", n, answered, refusals)
		}
		_ = c.Close()
	}
}

func pick(r *rand.Rand, of ...string) string { return of[r.Intn(len(of))] }

// interplayQuestion is a random one.
func interplayQuestion(r *rand.Rand) string {
	num := func() string {
		return pick(r, "age", "h", "age + 1", "age * h", "CASE WHEN ok THEN age END", "ABS(h)", "3", "age % 7", "-age")
	}
	arg := func() string {
		return pick(r, "", "", "", ", weight => 2", ", weight => 0.5", ", bounds => (1, 9)", ", bounds => auto", ", epsilon => 0.3")
	}
	filter := func() string { return pick(r, "", "", "", " FILTER (WHERE age > 30)", " FILTER (WHERE ok)") }
	agg := func() string {
		switch r.Intn(15) {
		case 0, 1:
			return "COUNT(*" + pick(r, "", "", ", weight => 3") + ")" + filter()
		case 2:
			return "SUM(" + num() + arg() + ")" + filter()
		case 3:
			return "AVG(" + num() + arg() + ")" + filter()
		case 4:
			return "COUNT(DISTINCT " + pick(r, "person", "city", "age", "h", "born", "ok") + ")" + filter()
		case 5, 6:
			return "MEDIAN(" + num() + arg() + ")" + filter()
		case 7:
			return "PERCENTILE_CONT(" + pick(r, "0", "0.1", "0.99", "1") + ") WITHIN GROUP (ORDER BY " + pick(r, num(), "born", "h DESC") + ")" + filter()
		case 8:
			return "APPROX_QUANTILES(" + pick(r, num(), "born") + ", " + pick(r, "1", "2", "5") + pick(r, "", "", ", weight => 2") + ")"
		case 9, 10:
			return "MODE() WITHIN GROUP (ORDER BY " + pick(r, "region", "reg", "ok", "age", "date_trunc('year', born)", "city") + ")" + filter()
		case 11:
			return "STDDEV_POP(" + num() + ")"
		case 12:
			return "MEDIAN(age) - MEDIAN(" + num() + ")"
		case 13:
			return "SUM(age, contribution_bounds_per_group => (0, 50))"
		}
		return "VAR_POP(age) / COUNT(*)"
	}
	keys := []string{"city", "region", "reg", "ok", "date_trunc('year', born)", "date_trunc('month', d)", "age", "COALESCE(city, region)", "FLOOR(h)", "CASE WHEN ok THEN city END", "CASE WHEN age > 40 THEN 'old' END", "d"}
	var groups []string
	for range r.Intn(3) {
		groups = append(groups, keys[r.Intn(len(keys))])
	}
	items := []string{}
	for range r.Intn(4) {
		items = append(items, agg())
	}
	items = append(groups[:len(groups):len(groups)], items...)
	if len(items) == 0 {
		items = []string{"COUNT(*)"}
	}
	from := pick(r, "people", "people", "people", "people", "(SELECT * FROM people WHERE age > 10) AS p", "people JOIN regions ON people.reg = regions.r",
		"(SELECT person, region, reg, city, ok, born, d, age, h FROM people UNION ALL SELECT person, region, reg, city, ok, born, d, age, h FROM people) AS u",
		"(SELECT person, MAX(age) AS age, AVG(h) AS h, MAX(born) AS born, MAX(d) AS d, COUNT(*) > 2 AS ok, region, reg, city FROM people GROUP BY person, region, reg, city) AS g")
	options := ""
	if r.Intn(8) == 0 {
		options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(" + pick(r, "epsilon=1", "max_groups_contributed=1", "max_rows_contributed=2", "delta=1e-7", "min_privacy_units_per_group=4", "group_selection_strategy=LAPLACE_THRESHOLD", "target_relative_error=0.5") + ") "
	}
	sql := "SELECT " + options + strings.Join(items, ", ") + " FROM " + from
	if r.Intn(3) == 0 {
		sql += " WHERE " + pick(r, "region = 'north'", "age < 50", "city = 'a'", "region IN ('north', 'south') AND ok", "d > DATE '2050-01-01'", "FALSE", "age < 0")
	}
	if len(groups) > 0 {
		switch r.Intn(8) {
		case 0:
			sql += " GROUP BY ROLLUP (" + strings.Join(groups, ", ") + ")"
		case 1:
			sql += " GROUP BY CUBE (" + strings.Join(groups, ", ") + ")"
		default:
			sql += " GROUP BY " + strings.Join(groups, ", ")
		}
	}
	if r.Intn(5) == 0 {
		sql += " HAVING " + pick(r, "COUNT(*) > 10", "MEDIAN(age) > 3", "MODE() WITHIN GROUP (ORDER BY ok)", "TRUE")
	}
	if r.Intn(5) == 0 {
		sql += " ORDER BY 1 DESC LIMIT 3"
	}
	return sql
}
