package curator

import (
	"strings"
	"testing"
)

// An accuracy is of the numbers of each grouping once they are fitted, and is found from their release as from any other.
func TestWithinSets(t *testing.T) {
	c := pureTerms.alone(t)
	q := Question{SQL: "SELECT region, COUNT(*) AS n FROM people GROUP BY ROLLUP (region)", Within: "10"}
	widest := func(price string) (most float64) {
		e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: q.SQL, Epsilon: price}))
		for _, g := range e.Groupings {
			most = max(most, g.Expected[0].HalfWidth)
		}
		return most
	}
	price := must[*Explanation](t)(c.Explain(t.Context(), q)).Price.Epsilon
	if x := widest(price); x > 10 || x < 9 {
		t.Errorf("within 10: ± %g at %s", x, price)
	}
	first := must[*Release](t)(c.Answer(t.Context(), q))
	if r := must[*Release](t)(c.Answer(t.Context(), q)); !r.Replayed || r.ID != first.ID {
		t.Errorf("%s is not %s", r.ID, first.ID)
	}
	q.Within = "5"
	e := must[*Explanation](t)(c.Explain(t.Context(), q))
	if x := widest(e.Price.Epsilon); x > 5 || x < 4.5 || !strings.Contains(strings.Join(e.Notes, "\n"), "according to an earlier answer, "+first.ID) {
		t.Errorf("within 5: ± %g at %s: %q", x, e.Price.Epsilon, e.Notes)
	}
	for _, sql := range []string{"SELECT MEDIAN(age) FROM people", "SELECT COUNT(*), MODE(region) FROM people"} {
		must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		if _, err := c.Explain(t.Context(), Question{SQL: sql, Within: "5"}); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "depends on the rows around it") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A price in the question's own text is a price: what is free answers it only where it is as exact.
func TestNamedPriceIsBought(t *testing.T) {
	c := pureTerms.alone(t)
	poor := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT change, COUNT(*) FROM people GROUP BY change", Epsilon: "0.05"}))
	for _, sql := range []string{
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2) COUNT(*) FROM people WHERE change = 1",
		"SELECT COUNT(*, epsilon => 2) FROM people WHERE change = 2",
	} {
		if r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql})); r.Replayed || r.Price.Epsilon != "2" {
			t.Errorf("%s: answered from %v at %s", sql, r.From, r.Price)
		}
	}
	if r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people WHERE change = 0"})); r.ID != poor.ID {
		t.Errorf("answered by %s", r.ID)
	}
}

// Where a price was found from expected_rows, and a cap on rows may leave fewer, an explanation says so; and only there.
func TestFewerThanExpected(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := initHome(t, `
version: 1
population: {name: town, neighbours: add-remove}
budget: {epsilon: 1000}
price: {default: 1, maximum: 100, minimum: 0.001}
tables:
  rows: {source: {csv: rows.csv}, unit: row, expected_rows: 1000, columns: {x: {type: real, bounds: [0, 10]}}}
  visits: {source: {csv: visits.csv}, unit: person, rows_per_unit: 3, expected_rows: 1000, columns: {person: {type: integer}, x: {type: real, bounds: [0, 10]}, y: {type: boolean}}}
  few: {source: {csv: few.csv}, unit: person, rows_per_unit: 3, expected_rows: 3, columns: {person: {type: integer}, x: {type: real, bounds: [0, 10]}}}
`)
	write(t, home, "rows.csv", "x\n1\n2\n")
	write(t, home, "visits.csv", "person,x,y\n1,1,true\n1,2,true\n2,3,false\n")
	write(t, home, "few.csv", "person,x\n1,4\n2,5\n")
	c := openHome(t, home)
	for _, table := range []string{"rows", "visits", "few"} {
		must[*SealReport](t)(c.Seal(t.Context(), table, SealOptions{Shared: true}))
	}
	told := func(q Question) string {
		e := must[*Explanation](t)(c.Explain(t.Context(), q))
		return strings.Join(e.Notes, "\n")
	}
	for _, x := range []struct {
		q    Question
		want string // "" where nothing is said
	}{
		{Question{SQL: "SELECT COUNT(*) FROM visits", Within: "5%"}, "For one person, at most 3 rows count: if some have more, the number is below the one that the owner expects, and its error may exceed 5% of it."},
		{Question{SQL: "SELECT COUNT(*) FROM visits", Within: "5%", MaxRows: "1"}, "For one person, at most 1 row counts: if"},
		{Question{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(target_relative_error=0.05) COUNT(*) FROM visits"}, "For one person, at most 3 rows count: if"},
		{Question{SQL: "SELECT AVG(x) FROM visits", Within: "1"}, "an average is over fewer rows than the owner expects, and its error may exceed 1."},
		{Question{SQL: "SELECT COUNT(*) FROM visits", Within: "12"}, ""}, // from the noise alone
		{Question{SQL: "SELECT COUNT(*) FROM visits WHERE y", Within: "12"}, ""},
		{Question{SQL: "SELECT COUNT(*) FROM visits"}, ""},
		{Question{SQL: "SELECT COUNT(*) FROM rows", Within: "5%"}, ""}, // each counts
		{Question{SQL: "SELECT COUNT(*) FROM few", Within: "100%"}, ""},
	} {
		if notes := told(x.q); !strings.Contains(notes, x.want) || x.want == "" && strings.Contains(notes, "the owner expects, and") {
			t.Errorf("%+v: %s", x.q, notes)
		}
	}
	must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits", Epsilon: "0.01"}))
	if notes := told(Question{SQL: "SELECT COUNT(*) FROM visits", Within: "50%"}); strings.Contains(notes, "the owner expects") {
		t.Errorf("from an earlier answer: %s", notes)
	}
}
