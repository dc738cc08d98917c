package curator

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/audit"
)

// Found bounds beside quantiles, over grouping sets and of groups that are not known are one release each, which a replay gives again.
func TestFoundTogether(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	visits := zcdpTerms.home(t, "", crowd("%d,3,mon"))
	orders := shop(t, "add-remove", "8", "", popular(200, "pear", "apple"))
	for sql, c := range map[string]*Owner{
		"SELECT SUM(cost, bounds => auto) AS n, MEDIAN(cost), COUNT(*) FROM visits":                                                                visits,
		"SELECT day, AVG(cost, bounds => auto) AS n, MODE(cost > 2) FROM visits GROUP BY day":                                                      visits,
		"SELECT day, SUM(cost, bounds => auto) AS n, AVG(cost, bounds => auto), COUNT(*) FROM visits GROUP BY ROLLUP (day)":                        visits,
		"SELECT day, SUM(cost, contribution_bounds_per_group => (0, 4)) AS n FROM visits GROUP BY ROLLUP (day)":                                    visits,
		"SELECT product, SUM(cost, bounds => auto) AS n, COUNT(*) FROM orders GROUP BY product":                                                    orders,
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto) product, SUM(cost, bounds => auto) AS n FROM orders GROUP BY product": orders,
	} {
		q := Question{SQL: sql}
		searched := strings.Contains(sql, "auto) AS n")
		explained := must[*Explanation](t)(c.Explain(t.Context(), q))
		first, err := c.Answer(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		at := 0
		for i, column := range first.Columns {
			if column.Name == "n" {
				at = i
			}
		}
		if b := first.Columns[at].Bounds; (b != nil) != searched || searched && (b.Low < 0 || b.High > 10 || explained.Columns[at].Bounds.High != 10) {
			t.Errorf("%s: %+v", sql, b)
		}
		text := func(r *Release) string {
			return string(must[[]byte](t)(json.Marshal(r.Rows))) + string(must[[]byte](t)(json.Marshal(r.Columns)))
		}
		if again := must[*Release](t)(c.Answer(t.Context(), q)); !again.Replayed || text(again) != text(first) {
			t.Errorf("%s:\n%s, and again\n%s", sql, text(first), text(again))
		}
		if len(first.Rows) == 0 {
			t.Errorf("%s: no rows", sql)
		}
	}
}

// Found bounds over grouping sets, on twins: where both find the same, each grouping's vector moves by at most what its noise is made for.
func TestReplayFoundOverSets(t *testing.T) {
	visits := crowd("%d,3,mon")
	narrower := 0
	for relation, w := range map[string]twins{
		"add-remove": newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{visits, visits + somebodys}),
		"change-one": newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{visits + anothers, visits + somebodys}),
	} {
		for i, sql := range []string{
			"SELECT SUM(cost, bounds => auto) FROM visits GROUP BY ROLLUP (day)",
			"SELECT SUM(cost, bounds => auto), COUNT(DISTINCT person) FROM visits GROUP BY GROUPING SETS (day, ())",
			"SELECT SUM(cost, contribution_bounds_per_group => (0, 12)) FROM visits GROUP BY ROLLUP (day)",
		} {
			r, plans := w.asked(t, byte(i), asking(Question{SQL: sql, Epsilon: "16", Fresh: true}), allNumbers)
			name, p := fmt.Sprintf("%s: %s", relation, sql), plans[0].plan
			sameLedger(t, name, r, "reserve", "release")
			if p.Key(1) != plans[1].plan.Key(1) {
				continue
			}
			at := 0
			for _, g := range p.Sets {
				n := g.Cells(&p.Statement)
				for j, m := range g.Measures {
					var x, y []*big.Rat
					for i := range n {
						k := (at+i)*len(p.Measures) + j
						x, y = append(x, r.Data.Output[k]), append(y, r.Neighbor.Output[k])
					}
					d, err := audit.Distance(x, y)
					if err != nil {
						t.Fatal(err)
					}
					if err := d.Within(audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}); err != nil {
						t.Errorf("%s: %s over %v: %v", name, m, g.Keys, err)
					}
					if m.Search != nil && m.Hi < 10 {
						narrower++
					}
				}
				at += n
			}
		}
	}
	if narrower < 2 {
		t.Errorf("bounds were narrowed %d times: the test shows little", narrower)
	}
}
