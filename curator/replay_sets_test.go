package curator

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/audit"
)

// Grouping sets: of twins, the same reads, charges and records; each grouping's vector moves by at most what its own noise is made for, in L1
// and in L2 norm. And a question that follows from the release is answered without any read, charge or record.
func TestReplaySets(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"capped":           newTwins(t, cappedTerms, [2]string{another, somebody}, [2]string{"4,1,mon\n4,1,mon\n4,1,tue\n", "4,9,fri\n4,9,thu\n"}),
	} {
		attained, all := 0, 0
		for i, sql := range []string{
			"SELECT COUNT(*), SUM(age), AVG(change) FROM people GROUP BY ROLLUP (region)",
			"SELECT COUNT(*), SUM(cost) FROM visits GROUP BY CUBE (day, cost > 5)",
			"SELECT COUNT(*), SUM(cost - 5) FROM visits GROUP BY GROUPING SETS (day, ())",
			"SELECT SUM(cost) FROM visits GROUP BY GROUPING SETS (day, (cost > 5))",
			"SELECT COUNT(DISTINCT person), COUNT(*) FROM visits GROUP BY ROLLUP (day)",
			"SELECT COUNT(DISTINCT person), COUNT(DISTINCT cost) FROM visits GROUP BY GROUPING SETS (day, (cost > 5), ())",
		} {
			name := relation + ": " + sql
			question := Question{SQL: sql, Fresh: true}
			a, err := w[audit.Data].ask(question)
			if err != nil {
				t.Fatal(err)
			}
			var vectors []Vector
			r := w.replay(t, byte(i), func(c *Owner) (numbers []*big.Int, err error) {
				m, err := c.Measure(t.Context(), question)
				if err != nil {
					return nil, err
				}
				vectors = m.Vectors
				for _, v := range m.Vectors {
					numbers = append(numbers, v.Values...)
				}
				return numbers, nil
			})
			sameFlow(t, name, r, "reserve", "release")
			first := 0
			for j, m := range a.plan.Vectors() {
				n := len(vectors[j].Values)
				d, err := audit.Distance(r.Data.Output[first:first+n], r.Neighbor.Output[first:first+n])
				if err != nil {
					t.Fatal(err)
				}
				first += n
				allowed := audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}
				if err := d.Within(allowed); err != nil {
					t.Errorf("%s: vector %d, %s: %v", name, j, m, err)
				}
				if all++; d.L1.Cmp(allowed.L1) == 0 {
					attained++
				}
			}
		}
		t.Logf("%s: %d of %d L1 sensitivities are attained", relation, attained, all)
		if attained == 0 {
			t.Errorf("%s: no sensitivity is attained: this pair shows nothing", relation)
		}
	}
}

// What follows from a release costs nothing, reads nothing and records nothing; what does not is charged.
func TestReuse(t *testing.T) {
	c := pureTerms.alone(t)
	ask := func(q Question) *Release {
		t.Helper()
		return must[*Release](t)(c.Answer(t.Context(), q))
	}
	first := ask(Question{SQL: "SELECT cost > 5, COALESCE(day, 'none') AS d, COUNT(*), SUM(cost) FROM visits GROUP BY cost > 5, COALESCE(day, 'none')"})
	if first.From != nil || first.Replayed {
		t.Fatalf("%+v", first)
	}
	before := len(ledgerOf(t, c))
	for sql, follows := range map[string]bool{
		"SELECT COALESCE(day, 'none'), COUNT(*) FROM visits GROUP BY COALESCE(day, 'none') HAVING COUNT(*) > 1": true, // sealing refuses rows without a cost
		"SELECT cost > 5, SUM(cost) / COUNT(*) FROM visits GROUP BY cost > 5":                                   true,
		"SELECT cost > 5, COUNT(*) AS n FROM visits GROUP BY ROLLUP (cost > 5)":                                 true,
		"SELECT cost > 5, COUNT(*) FROM visits WHERE COALESCE(day, 'none') = 'mon' GROUP BY cost > 5":           false, // a cap keeps other rows
		"SELECT COUNT(*) FROM visits":                                        true,
		"SELECT COUNT(*) FROM visits GROUP BY COALESCE(cost - 5 > 1, FALSE)": false, // no function of a key
	} {
		e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: sql}))
		if (e.Reuse != nil) != follows || follows && (!e.Reuse.Taken || fmt.Sprint(e.Reuse.From) != fmt.Sprint([]string{first.ID})) {
			t.Errorf("%s: %+v", sql, e.Reuse)
			continue
		}
		if !follows {
			continue
		}
		r := ask(Question{SQL: sql})
		if !r.Replayed || fmt.Sprint(r.From) != fmt.Sprint([]string{first.ID}) || r.Columns[len(r.Columns)-1].Mechanism != EarlierReleases {
			t.Errorf("%s: %+v", sql, r)
		}
	}
	if after := len(ledgerOf(t, c)); after != before {
		t.Errorf("%d entries were added", after-before)
	}
	// The sums are those of the release's own numbers.
	total := 0.0
	for _, row := range first.Rows {
		if row[0].Key == true {
			total += row[2].Estimate.Value.Real
		}
	}
	for _, row := range ask(Question{SQL: "SELECT cost > 5, COUNT(*) FROM visits GROUP BY cost > 5"}).Rows {
		if row[0].Key == true && row[1].Estimate.Value.Real != total {
			t.Errorf("%v, and the parts are %v", row[1].Estimate.Value.Real, total)
		}
	}
	// A price that is named buys what it buys.
	if r := ask(Question{SQL: "SELECT cost > 5, COUNT(*) FROM visits GROUP BY cost > 5", Epsilon: "10"}); r.From != nil || r.Replayed {
		t.Errorf("%+v", r)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(cost) FROM visits", Combine: true}); codeOf(err) != CodeUsage {
		t.Errorf("%v", err)
	}
	both := ask(Question{SQL: "SELECT cost > 5, COUNT(*) FROM visits GROUP BY cost > 5", Combine: true})
	if len(both.From) != 2 || !strings.HasPrefix(both.ID, "r") {
		t.Errorf("%+v", both.From)
	}
}
