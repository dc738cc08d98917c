package curator

import (
	"fmt"
	"path/filepath"
	"testing"
)

// What is asked with a bound, in the text or beside it, is told by what was released with the same bound, wherever that stood; and by nothing else.
func TestFollowsAcrossSpellings(t *testing.T) {
	const option, byGroups = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=2) ", "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1) "
	const first, second = "cost > 5, COUNT(*), AVG(cost) FROM visits GROUP BY cost > 5", "cost > 5, COUNT(*) * 2 AS n FROM visits GROUP BY cost > 5"
	const days, day = "day, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY day", "day, COUNT(*) + 1 AS n FROM visits GROUP BY day"
	for _, with := range []homeTerms{pureTerms, zcdpTerms} {
		for _, of := range []struct {
			released, asked []Question
			not             []Question
		}{
			{
				[]Question{{SQL: "SELECT " + first, MaxRows: "2"}, {SQL: "SELECT " + option + first}, {SQL: "SELECT " + option + first, MaxRows: "2"}},
				[]Question{{SQL: "SELECT " + second, MaxRows: "2"}, {SQL: "SELECT " + option + second}},
				[]Question{{SQL: "SELECT " + second}, {SQL: "SELECT " + second, MaxRows: "1"}},
			},
			{ // the policy's bound, named and not
				[]Question{{SQL: "SELECT " + first}, {SQL: "SELECT " + first, MaxRows: "3"}, {SQL: "SELECT " + first, MaxRows: "30"}},
				[]Question{{SQL: "SELECT " + second}, {SQL: "SELECT " + second, MaxRows: "3"}, {SQL: "SELECT " + second, MaxRows: "30"}},
				[]Question{{SQL: "SELECT " + option + second}},
			},
			{
				[]Question{{SQL: "SELECT " + days, MaxGroups: 1}, {SQL: "SELECT " + byGroups + days}},
				[]Question{{SQL: "SELECT " + day, MaxGroups: 1}, {SQL: "SELECT " + byGroups + day}},
				nil,
			},
			{ // a cap on the groups of a distinct count alone, which what is asked has none of
				[]Question{{SQL: "SELECT " + days, MaxGroups: 1, MaxRows: "2"}},
				[]Question{{SQL: "SELECT " + day, MaxRows: "2"}},
				[]Question{{SQL: "SELECT " + day}, {SQL: "SELECT day, COUNT(DISTINCT person) * 2 AS n FROM visits GROUP BY day", MaxRows: "2"}},
			},
		} {
			for _, q := range of.released {
				c := with.alone(t)
				first := must[*Release](t)(c.Answer(t.Context(), q))
				for _, other := range of.released { // which is the same question
					if r := must[*Release](t)(c.Answer(t.Context(), other)); !r.Replayed || r.ID != first.ID {
						t.Errorf("%+v after %+v: %s, replayed %t", other, q, r.ID, r.Replayed)
					}
				}
				before := len(ledgerOf(t, c))
				for _, next := range of.asked {
					if e := must[*Explanation](t)(c.Explain(t.Context(), next)); e.Reuse == nil || !e.Reuse.Taken {
						t.Errorf("%+v after %+v: %+v", next, q, e.Reuse)
						continue
					}
					if r := must[*Release](t)(c.Answer(t.Context(), next)); fmt.Sprint(r.From) != fmt.Sprint([]string{first.ID}) {
						t.Errorf("%+v after %+v: from %v", next, q, r.From)
					}
				}
				if after := len(ledgerOf(t, c)); after != before {
					t.Errorf("%+v: %d entries were added", q, after-before)
				}
				for _, next := range of.not {
					if e := must[*Explanation](t)(c.Explain(t.Context(), next)); e.Reuse != nil {
						t.Errorf("%+v after %+v: %+v", next, q, e.Reuse)
					}
				}
			}
		}
	}
}

// Groups whose values are a public table's are followed from like any, as long as the version of that table is the same.
func TestFollowsValuesFromPublicTable(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", valuesFromPolicy)
	write(t, home, "people.csv", "region,age\nnorth,30\nnorth,40\nsouth,50\nnowhere,60\n")
	c := openHome(t, home)
	seal := func(table, rows string) {
		t.Helper()
		write(t, home, table+".csv", rows)
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	seal("people", "region,age\nnorth,30\nnorth,40\nsouth,50\nnowhere,60\n")
	seal("regions", "region,inhabitants\nwest,1\nsouth,3\nnorth,2\n")
	const released, twice, picked = "SELECT region, COUNT(*), SUM(age) FROM people GROUP BY region", "SELECT region, 2 * SUM(age) AS x FROM people GROUP BY region",
		"SELECT COUNT(*) AS n FROM people WHERE region = 'north'"
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: released}))
	for _, sql := range []string{twice, picked} {
		r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		if fmt.Sprint(r.From) != fmt.Sprint([]string{first.ID}) {
			t.Errorf("%s: from %v", sql, r.From)
		}
		if sql == picked && r.Rows[0][0].Estimate.Value.Real != first.Rows[0][1].Estimate.Value.Real {
			t.Errorf("%s: %+v of %+v", sql, r.Rows, first.Rows)
		}
	}
	// Of another version, whose values are others, nothing follows, from what was planned before either.
	seal("regions", "region,inhabitants\nnorth,1\nnowhere,3\n")
	for _, sql := range []string{twice, picked} {
		if e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: sql})); e.Reuse != nil {
			t.Errorf("%s: %+v", sql, e.Reuse)
		}
	}
	again := must[*Release](t)(c.Answer(t.Context(), Question{SQL: released}))
	if again.Replayed || again.From != nil {
		t.Errorf("%+v", again)
	}
	if r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: picked})); fmt.Sprint(r.From) != fmt.Sprint([]string{again.ID}) {
		t.Errorf("from %v, and the newest is %s", r.From, again.ID)
	}
}

// A price is the same as an ε, as a ρ, in the question, as the policy's default, and as what an accuracy came to.
func TestPricesAcrossSpellings(t *testing.T) {
	c := zcdpTerms.alone(t) // by default ρ = 0.5, which is ε²/2 of ε = 1
	const sql, option = "SELECT COUNT(*) FROM people", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM people"
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
	for _, q := range []Question{{SQL: sql, Epsilon: "1"}, {SQL: sql, Epsilon: "1.00"}, {SQL: sql, Rho: "0.5"}, {SQL: option}, {SQL: option, Rho: "0.5"}, {SQL: option, Epsilon: "1"}} {
		if r := must[*Release](t)(c.Answer(t.Context(), q)); !r.Replayed || r.ID != first.ID || r.From != nil {
			t.Errorf("%+v: %s, replayed %t", q, r.ID, r.Replayed)
		}
	}
	within := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT region, COUNT(*) FROM people GROUP BY region", Within: "4"}))
	again := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT region, COUNT(*) AS n FROM people GROUP BY 1", Within: "4", At: "95%"}))
	if !again.Replayed || again.ID != within.ID {
		t.Errorf("%s, replayed %t, after %s", again.ID, again.Replayed, within.ID)
	}
}
