package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/release"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// manyRows lets a person have up to 20 rows, of whom nearly all have one.
func manyRows(terms homeTerms) homeTerms {
	terms.caps = "rows_per_unit: 20"
	return terms
}

// A search for a bound on rows and what is measured with it, on twins: where both find the same bound, each measure moves by at most the
// sensitivity of that bound, and the reads, charges and records are the same.
func TestReplayFoundRows(t *testing.T) {
	visits := crowd("%d,3,mon")
	lower := 0
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, manyRows(pureTerms), [2]string{"", somebody}, [2]string{visits, visits + somebodys}),
		"change-one":       newTwins(t, manyRows(changeTerms), [2]string{another, somebody}, [2]string{visits + anothers, visits + somebodys}),
		"add-remove, zCDP": newTwins(t, manyRows(zcdpTerms), [2]string{"", somebody}, [2]string{visits, visits + somebodys}),
	} {
		for i, sql := range []string{
			"SELECT COUNT(*), SUM(cost) FROM visits",
			"SELECT day, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY day",
			"SELECT day, COUNT(*) FROM visits WHERE cost > 2 GROUP BY ROLLUP (day)",
			"SELECT SUM(cost, bounds => auto) FROM visits",
			"SELECT AVG(n) FROM (SELECT v.cost AS n FROM visits v JOIN visits w ON v.person = w.person) q",
		} {
			sql = strings.Replace(sql, "SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto, max_rows_quantile=0.5)", 1)
			question := Question{SQL: sql, Epsilon: "16", Fresh: true}
			if w[0].policy.Budget.Loss.Accountant() == privacy.Pure {
				question.Epsilon = "20"
			}
			r, plans := w.asked(t, byte(i), asking(question), allNumbers)
			name := relation + ": " + sql
			sameLedger(t, name, r, "reserve", "release")
			p := plans[0].plan
			if p.Key(1, 1) != plans[1].plan.Key(1, 1) {
				t.Logf("%s: %d rows, and %d", name, p.Rows.Found, plans[1].plan.Rows.Found)
				continue
			}
			sameFlow(t, name, r, "reserve", "release")
			if p.Rows.Found < p.Rows.Most/2 {
				lower++
			}
			vectors := p.Groupings()
			at := 0
			for _, g := range vectors {
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
						t.Errorf("%s: %s: %v", name, m, err)
					}
				}
				at += n
			}
		}
	}
	if lower < 8 {
		t.Errorf("the bound was lowered and the same %d times: the test shows little", lower)
	}
}

// The draw and the sum are what was planned: on the same bytes, the mechanisms with the parameters that are typed here, one after the other,
// give the bound and the sum that the curator releases.
func TestFoundRowsAsPlanned(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := manyRows(pureTerms).home(t, "", crowd("%d,3,mon")+somebodys)
	counts := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		_ = yield(1, 43) && yield(5, 1) // persons 1 to 3, the crowd of 40, and somebody
		return nil
	})
	one := someEpsilon(t)
	seen := map[int64]bool{}
	for seed := range byte(10) {
		got := drawnFrom(seed, func() *Release {
			return must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits", Epsilon: "10", MaxRows: "auto", Fresh: true}))
		})
		rows, sum := int64(0), new(big.Int)
		drawnFrom(seed, func() any {
			found := must[quantile.OrderStatistics](t)(quantile.Single{
				Domain: quantile.Domain{Lower: 1, Upper: 20}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, Rank: big.NewRat(99, 100), Epsilon: one,
			}.Release(counts))
			rows = found.Values[0]
			drawn := must[mechanism.Measurement](t)(mechanism.Laplace{Sensitivity: big.NewInt(rows), Epsilon: one.Times(9)}.Measure(sealed(43 + min(5, rows))))
			sum = drawn.Values[0]
			return nil
		})
		if b := got.RowsBound; b == nil || b.Rows != rows || b.Most != 20 || b.Share.Epsilon != "1" || got.Rows[0][0].Estimate.Value.Whole.Cmp(sum) != 0 {
			t.Errorf("seed %d: %+v, %v; the planned mechanisms find %d, and give %s", seed, b, got.Rows[0][0].Estimate.Value, rows, sum)
		}
		seen[rows] = true
	}
	if len(seen) < 3 {
		t.Errorf("only %v were found: the test shows little", seen)
	}
}

// The bound and what is measured with it are one release, whatever is asked with it: a replay gives both again, free, also to Measure, and after
// the home is opened again. What it costs is the price.
func TestFoundRowsAreOneRelease(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := manyRows(zcdpTerms).home(t, "", crowd("%d,3,mon")+somebodys)
	for i, sql := range []string{
		"SELECT COUNT(*) AS n FROM visits",
		"SELECT day, COUNT(*) AS n FROM visits GROUP BY ROLLUP (day)",
		"SELECT MEDIAN(cost) AS n FROM visits",
		"SELECT SUM(cost, bounds => auto) AS n FROM visits WHERE cost > 1",
		"SELECT COUNT(DISTINCT cost) AS n, PERCENTILE_DISC(cost, 0.9) FROM visits",
	} {
		question := Question{SQL: sql, MaxRows: "auto", Whole: strings.Contains(sql, "ROLLUP")}
		before := must[*Explanation](t)(c.Explain(t.Context(), question))
		if b := before.RowsBound; before.Replayed || b == nil || b.Rows != 0 || b.Most != 20 || b.Unit != "person" || !strings.Contains(strings.Join(before.Notes, "\n"), "A bound on the rows of one person is found first") {
			t.Errorf("%s: %+v, %q", sql, b, before.Notes)
		}
		first := must[*Release](t)(c.Answer(t.Context(), question))
		if b := first.RowsBound; b == nil || b.Rows < 1 || b.Rows > 20 || first.Replayed {
			t.Errorf("%s: %+v", sql, b)
		}
		text := func(r *Release) string {
			return fmt.Sprint(r.RowsBound.Rows, string(must[[]byte](t)(json.Marshal(r.Columns))), string(must[[]byte](t)(json.Marshal(r.Rows))))
		}
		for range 2 {
			again := must[*Release](t)(c.Answer(t.Context(), question))
			if !again.Replayed || text(again) != text(first) {
				t.Errorf("%s:\n%s, and again\n%s", sql, text(first), text(again))
			}
			measured := question
			measured.Whole = false
			m, err := c.Measure(t.Context(), measured)
			if strings.Contains(sql, "MEDIAN") || strings.Contains(sql, "PERCENTILE") {
				if codeOf(err) != CodeUsage {
					t.Error(err)
				}
			} else if err != nil || !m.Replayed || m.ID != first.ID || m.RowsBound.Rows != first.RowsBound.Rows {
				t.Errorf("%+v, %v", m, err)
			}
			home := c.home
			_ = c.Close()
			c = openHome(t, home)
		}
		if e := must[*Explanation](t)(c.Explain(t.Context(), question)); !e.Replayed {
			t.Errorf("%s: %+v", sql, e.Price)
		}
		if b := must[*Budget](t)(c.Budget()); b.Answers != i+1 || b.Spent.Rho != []string{"0.5", "1", "1.5", "2", "2.5"}[i] {
			t.Errorf("%s: %+v", sql, b.Spent)
		}
		a := must[*asked](t)(c.ask(question))
		if err := chargeable(c, a.plan); err != nil {
			t.Error(err)
		}
		a.plan.Rows.Loss = a.plan.Rows.Loss.Plus(a.plan.Price.Share(1, 100))
		if err := chargeable(c, a.plan); !errors.Is(err, release.ErrUnplanned) {
			t.Error(err)
		}
	}
	same := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=auto) COUNT(*) AS n FROM visits"}))
	if !same.Replayed || same.ID == "" {
		t.Errorf("the clause and the flag are two releases: %+v", same.ID)
	}
	for _, s := range []struct {
		q    Question
		code Code
		want string
	}{
		{Question{SQL: "SELECT COUNT(*) FROM visits", MaxRows: "some"}, CodeUsage, "a bound on rows must be a whole number"},
		{Question{SQL: "SELECT COUNT(*) FROM visits", MaxRows: "0"}, CodeUsage, "a bound on rows must be a whole number"},
		{Question{SQL: "SELECT COUNT(*) FROM visits", MaxRows: "auto", Within: "5"}, CodePolicy, "depends on that bound"},
		{Question{SQL: "SELECT COUNT(*) FROM people", MaxRows: "auto"}, CodePolicy, "each row is a unit here"},
	} {
		if _, err := c.Explain(t.Context(), s.q); codeOf(err) != s.code || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%+v: %v", s.q, err)
		}
	}
}

// Groups that are not known are selected with the bound that was found, and recorded beside it.
func TestFoundRowsOfOpenGroups(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shop(t, "add-remove", "8", "", popular(200, "pear", "apple"))
	for _, q := range []Question{
		{SQL: "SELECT product, COUNT(*) AS n FROM orders GROUP BY product", MaxRows: "auto"},
		{SQL: "SELECT product FROM orders GROUP BY product", MaxRows: "auto", AllowSelection: true},
		{SQL: "SELECT product, SUM(cost) AS n FROM orders GROUP BY product", MaxRows: "auto", Other: true, Whole: true},
	} {
		first, err := c.Answer(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", q.SQL, err)
			continue
		}
		again := must[*Release](t)(c.Answer(t.Context(), q))
		x, y := string(must[[]byte](t)(json.Marshal(first.Rows))), string(must[[]byte](t)(json.Marshal(again.Rows)))
		if !again.Replayed || x != y || first.RowsBound.Rows != again.RowsBound.Rows || len(first.Rows) < 2 {
			t.Errorf("%s: %s, and again %s", q.SQL, x, y)
		}
	}
}
