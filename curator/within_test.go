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
	if x := widest(e.Price.Epsilon); x > 5 || x < 4.5 || !strings.Contains(strings.Join(e.Notes, "\n"), "from an earlier answer to it, "+first.ID) {
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
