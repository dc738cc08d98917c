package plan_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
)

// The canonical text has each measure as it stands in the plan that it is written of, however early its text was found: line by
// line, of every grouping.
func TestCanonicalTexts(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	extra := []string{
		"SELECT SUM(x, contribution_bounds_per_group => (0, 7)), COUNT(*) FROM p GROUP BY CUBE (k, b)", "SELECT VAR_POP(x), CORR(x, i), AVG(i) FROM t",
		"SELECT SUM(x, bounds => auto), AVG(i, bounds => auto), COUNT(*) FROM t",
	}
	built := 0
	check := func(t interface{ Fatalf(string, ...any) }, sql string) {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		built++
		first := q.Canonical(1)
		var want, got []string
		for _, g := range q.Groupings() {
			for _, m := range g.Measures {
				want = append(want, "measure "+plan.Rewritten(m)+" "+string(m.Noise)+" "+m.Parameter.RatString()+" "+m.Loss.String()+"\n")
			}
		}
		for line := range strings.Lines(first) {
			if strings.HasPrefix(line, "measure ") {
				got = append(got, line)
			}
		}
		if strings.Join(got, "") != strings.Join(want, "") {
			t.Fatalf("%s\n%q\nwant %q", sql, got, want)
		}
		if len(q.Measures) == 0 {
			return
		}
		other := *q
		other.Measures = other.Measures[:len(other.Measures)-1]
		if other.Sets == nil && other.Canonical(1) == first {
			t.Fatalf("%s: a plan with a measure less has the same text", sql)
		}
	}
	for _, sql := range extra {
		check(t, sql)
	}
	if built < 2 {
		t.Errorf("%d of %d are planned", built, len(extra))
	}
	rapid.Check(t, func(t *rapid.T) {
		first, second := related(t, rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table"))
		check(t, first)
		check(t, second)
	})
	if built < 100 {
		t.Errorf("%d plans: the test shows little", built)
	}
}

// What orders a unit's rows where none have ranks is one for all questions with one canonical text, and for all that one question looks at.
func TestReadsAreOfTheCanonicalText(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	names := func(b *bounded.Statement) (out []string) {
		for _, i := range b.Reads() {
			out = append(out, b.Columns[i].Name)
		}
		return out
	}
	want := []string{"b", "k", "s", "x"} // the unit's column is in every order
	for _, sql := range []string{
		"SELECT s, k, COUNT(DISTINCT person), COUNT(DISTINCT x) FROM p WHERE b GROUP BY CUBE (s, k)",
		"SELECT COUNT(DISTINCT x), k, s, COUNT(DISTINCT v.person) FROM (SELECT * FROM p WHERE b) v GROUP BY CUBE (s, k)",
	} {
		asked := builtOn(t, p, sql)
		if !slices.Equal(names(&asked.Statement), want) {
			t.Errorf("%s reads %v", sql, names(&asked.Statement))
		}
		for _, g := range asked.Groupings() {
			if look := asked.SetLook(g); look != nil && !slices.Equal(names(look), names(&asked.Statement)) {
				t.Errorf("%s over %v reads %v", sql, g.Keys, names(look))
			}
		}
	}
}
