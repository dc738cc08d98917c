package curator

import (
	"errors"
	"math"
	"slices"
	"testing"

	"dither/internal/plan"
)

// A release of SUM beside AVG that measured each sum by itself, as every release did before they shared measures, is
// replayed, and its vectors are found by its name.
func TestSumsApartAreReplayed(t *testing.T) {
	c := zcdpTerms.alone(t)
	for _, sql := range []string{
		"SELECT SUM(age), AVG(age) FROM people",
		"SELECT region, AVG(height) AS a, SUM(height) AS s FROM people GROUP BY region",
		"SELECT region, age, SUM(height), AVG(height) FROM people GROUP BY ROLLUP (region, age)",
	} {
		old := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Rho: "0.5", sums: plan.SumsApart}))
		for _, c := range []*Owner{c, openHome(t, c.home)} {
			again := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Rho: "0.5"}))
			if !again.Replayed || again.ID != old.ID || !sameRows(again, old) {
				t.Errorf("%s: %s is not replayed: %v, %v", sql, old.ID, again.ID, again.Replayed)
			}
			if e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: sql, Rho: "0.5"})); !e.Replayed {
				t.Errorf("%s: explain says that it is paid again", sql)
			}
			if m, err := c.Measured(old.ID, ""); err != nil || len(m.Vectors)%3 != 0 {
				t.Errorf("%s: %v", sql, err)
			}
		}
		if fresh := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Rho: "0.5", Fresh: true})); fresh.Replayed {
			t.Errorf("%s: a fresh answer is replayed", sql)
		}
	}
}

// The question's own release comes first, then the one that measured each sum by itself, then the answers that follow from
// such releases. Dearer releases of averages change none of these.
func TestReleasesOfSumsComeInOrder(t *testing.T) {
	c := zcdpTerms.alone(t)
	ask := func(q Question) *Release { return must[*Release](t)(c.Answer(t.Context(), q)) }
	both := Question{SQL: "SELECT SUM(age) AS s, AVG(age) AS a FROM people", Rho: "0.5"}
	before := both
	before.sums = plan.SumsApart
	follows := Question{SQL: "SELECT AVG(age) AS a, COUNT(age), SUM(age) AS s FROM people"} // without a price
	old := ask(before)
	ask(Question{SQL: "SELECT AVG(age) FROM people", Rho: "2"})
	if again := ask(both); !again.Replayed || again.ID != old.ID || !sameRows(again, old) {
		t.Errorf("%s is not replayed, but %s from %v", old.ID, again.ID, again.From)
	}
	sum := old.Rows[0][0].Estimate.Value.Real
	if free := ask(follows); !slices.Contains(free.From, old.ID) || free.Rows[0][2].Estimate.Value.Real != sum {
		t.Errorf("the sum is not that of %s, but from %v", old.ID, free.From)
	}
	e := must[*Explanation](t)(c.Explain(t.Context(), both))
	if !e.Replayed || e.Columns[0].Mechanism == "derived" {
		t.Errorf("explain describes another plan than the one that is replayed: %+v", e.Columns[0])
	}
	afresh := both
	afresh.Fresh = true
	now := ask(afresh)
	if again := ask(both); !again.Replayed || again.ID != now.ID {
		t.Errorf("the question's own release %s is not replayed, but %s", now.ID, again.ID)
	}
}

// A question for an accuracy replays the release of the price that an earlier version found for it.
func TestSumsApartWithin(t *testing.T) {
	c := zcdpTerms.alone(t)
	q := Question{SQL: "SELECT SUM(age) FROM people HAVING AVG(age) > 0", Within: "400"}
	before := q
	before.sums = plan.SumsApart
	old := must[*Release](t)(c.Answer(t.Context(), before))
	if again := must[*Release](t)(c.Answer(t.Context(), q)); !again.Replayed || again.ID != old.ID {
		t.Errorf("%s is not replayed, but %s is", old.ID, again.ID)
	}
}

// With Combine, a sum is not computed from averages: the question is refused, as it was by earlier versions.
func TestCombinedSumsDoNotFollowFromAverages(t *testing.T) {
	c := zcdpTerms.alone(t)
	must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people", Rho: "1"}))
	_, err := c.Answer(t.Context(), Question{SQL: "SELECT SUM(age) FROM people", Combine: true})
	if e := (*Error)(nil); !errors.As(err, &e) || e.Code != CodeUsage {
		t.Errorf("%v", err)
	}
	free := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT SUM(age) FROM people"}))
	if len(free.From) != 1 {
		t.Errorf("without Combine, it is not free: %v", free.From)
	}
}

// sameRows reports whether two answers show the same values.
func sameRows(a, b *Release) bool {
	return slices.EqualFunc(a.Rows, b.Rows, func(x, y Row) bool {
		return slices.EqualFunc(x, y, func(x, y Cell) bool {
			return x.Key == y.Key && (x.Estimate == nil) == (y.Estimate == nil) &&
				(x.Estimate == nil || x.Estimate.Value == y.Estimate.Value ||
					x.Estimate.Value != nil && y.Estimate.Value != nil && x.Estimate.Value.Real == y.Estimate.Value.Real)
		})
	})
}

// A sum follows from a release of an average of the same values, with the value that it has beside the average before that
// is rounded to a whole number. A price that buys a more exact sum is paid.
func TestSumsFollowFromAverages(t *testing.T) {
	c := zcdpTerms.alone(t)
	both := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT SUM(age) AS s, AVG(age) AS a FROM people", Rho: "2"}))
	sum := both.Rows[0][0].Estimate.Value
	if sum.Whole == nil {
		t.Errorf("a sum of integers is %v", sum)
	}
	for _, q := range []Question{{SQL: "SELECT SUM(age) FROM people"}, {SQL: "SELECT SUM(age) FROM people", Rho: "0.5"}} {
		alone := must[*Release](t)(c.Answer(t.Context(), q))
		if !slices.Equal(alone.From, []string{both.ID}) || math.RoundToEven(alone.Rows[0][0].Estimate.Value.Real) != sum.Real {
			t.Errorf("%+v: %v from %v", q, alone.Rows[0][0].Estimate.Value, alone.From)
		}
	}
	if paid := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT SUM(age) FROM people", Rho: "2.2"})); paid.From != nil || paid.Replayed {
		t.Errorf("a more exact sum is taken from %v", paid.From)
	}
	// the same numbers in questions that compute with the answer
	outer := must[*Release](t)(c.Answer(t.Context(), Question{
		SQL: "SELECT s, s + 1 AS t, s - s AS none FROM (SELECT SUM(age) AS s, AVG(age) AS a FROM people) q", Rho: "2",
	}))
	row := outer.Rows[0]
	if !outer.Replayed || row[0].Estimate.Value.Real != sum.Real || row[1].Estimate.Value.Real != sum.Real+1 {
		t.Errorf("beside it, %v; computed, %v", sum, row[0].Estimate.Value)
	}
	width := func(e *Estimate) float64 { return e.High.Real - e.Low.Real }
	if w := width(both.Rows[0][0].Estimate); width(row[0].Estimate) > w+2 || width(row[0].Estimate) < w-2 {
		t.Errorf("its interval is %g wide, and %g when it is computed", w, width(row[0].Estimate))
	}
}
