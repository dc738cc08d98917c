package curator

import (
	"math"
	"strings"
	"testing"

	"dither/internal/plan"
)

// unitsHome returns the owner of a home with four declared units.
func unitsHome(t *testing.T) *Owner {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := t.TempDir() + "/home"
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", unitsPolicy)
	write(t, home, "people.csv", fourPeople)
	c := openHome(t, home)
	if _, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// A variance alone determines the other variances and deviations of its column, and no average. A release of an average
// and a variance determines both.
func TestVariancesFollow(t *testing.T) {
	c := unitsHome(t)
	ask := func(sql string) *Release { return must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql})) }
	free := func(r *Release) bool { return r.Replayed || len(r.From) > 0 }
	first := ask("SELECT VAR_SAMP(age) FROM people")
	if free(first) || len(first.Columns[0].Parts) != 1 || first.Columns[0].Parts[0].Name != "spread" {
		t.Fatalf("%+v", first)
	}
	of := first.Rows[0][0].Estimate.Value.Real
	again := ask("SELECT VAR_POP(age) AS v FROM people")
	if v := again.Rows[0][0].Estimate.Value.Real; !free(again) || math.Abs(v-of*3/4) > 1e-9 {
		t.Errorf("VAR_POP: %+v, after a VAR_SAMP of %v", again, of)
	}
	for _, sql := range []string{
		"SELECT STDDEV(age) FROM people", "SELECT COUNT(*) AS n, STDDEV_POP(age) FROM people HAVING VARIANCE(age) >= 0",
	} {
		if r := ask(sql); !free(r) {
			t.Errorf("%s is paid", sql)
		}
	}
	for _, sql := range []string{
		"SELECT AVG(age) FROM people", "SELECT VAR_POP(height) FROM people", "SELECT VAR_POP(age * 2) FROM people",
		"SELECT VAR_SAMP(height), AVG(height) FROM people",
	} {
		if r := ask(sql); free(r) {
			t.Errorf("%s is free: %v", sql, r.From)
		}
	}
	// those of height come from its first release, which measured the variance alone
	if r := ask("SELECT STDDEV_POP(height) FROM people"); !free(r) || len(r.Columns[0].Parts) > 1 {
		t.Errorf("STDDEV_POP: %+v", r)
	}
	must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT VAR_SAMP(grade), AVG(grade) FROM people", Epsilon: "2"}))
	if r := ask("SELECT STDDEV(grade) FROM people"); len(r.From) != 1 {
		t.Errorf("STDDEV(grade) does not follow from VAR_SAMP(grade) and AVG(grade): %+v", r)
	}
	priced := Question{SQL: "SELECT STDDEV(grade) FROM people", Epsilon: "1"}
	if r := must[*Release](t)(c.Answer(t.Context(), priced)); free(r) {
		t.Errorf("a price is not spent, although the error from sums depends on the rows: %+v", r)
	}
	must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT AVG(age), VAR_SAMP(age) FROM people", Epsilon: "2"}))
	if r := ask("SELECT STDDEV(age) FROM people"); !free(r) || len(r.Columns[0].Parts) != 1 {
		t.Errorf("later sums replace the spread from which a deviation follows: %+v", r)
	}
	m := must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: "SELECT VAR_SAMP(age) FROM people"}))
	v := m.Vectors[0]
	if !m.Replayed || v.Name != "spread" || v.Of == "" || v.Bounds[0].Sign() != 0 || v.Bounds[1].RatString() != "100" {
		t.Errorf("%+v", v)
	}
}

// A release that computed a variance from two sums, as every release did before spreads were measured, is replayed, and its
// vectors are found by its name.
func TestVariancesOfSumsAreReplayed(t *testing.T) {
	c := unitsHome(t)
	for _, sql := range []string{
		"SELECT VAR_SAMP(age) FROM people", "SELECT STDDEV(height), SUM(age), AVG(age) FROM people",
		"SELECT VAR_POP(grade), MEDIAN(age) FROM people",
	} {
		for i, sums := range []plan.Sums{plan.SumsApart, plan.SumsBeside} {
			q := Question{SQL: sql, Epsilon: []string{"1", "2"}[i]}
			before := q
			before.sums, before.variances = sums, plan.VariancesOfSums
			old := must[*Release](t)(c.Answer(t.Context(), before))
			for _, c := range []*Owner{c, openHome(t, c.home)} {
				again := must[*Release](t)(c.Answer(t.Context(), q))
				if !again.Replayed || again.ID != old.ID || !sameRows(again, old) {
					t.Errorf("%s: %s is not replayed: %v, %v", sql, old.ID, again.ID, again.Replayed)
				}
				if e := must[*Explanation](t)(c.Explain(t.Context(), q)); !e.Replayed {
					t.Errorf("%s: explain says that it is paid again", sql)
				}
				if _, err := c.Measured(old.ID, ""); err != nil && !strings.Contains(sql, "MEDIAN") {
					t.Errorf("%s: %v", sql, err)
				}
			}
			afresh := q
			afresh.Fresh = true
			now := must[*Release](t)(c.Answer(t.Context(), afresh))
			if again := must[*Release](t)(c.Answer(t.Context(), q)); now.Replayed || again.ID != now.ID {
				t.Errorf("%s: the question's own release %s is not replayed, but %s", sql, now.ID, again.ID)
			}
		}
	}
}
