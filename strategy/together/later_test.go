package together

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dither/curator"
)

// Later questions about the same histogram are answered from its release: they cost nothing, and sums of them are the
// answers of the batch. Others are refused, and nothing is charged.
func TestLaterQuestionsAreFree(t *testing.T) {
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "1"}, ofRho: {Rho: "1"}} {
		c := town(t, budget)
		b := Batch{Request: request, Questions: []string{
			"SELECT city, ill, COUNT(*) FROM people GROUP BY city, ill", "SELECT age, COUNT(*) FROM people GROUP BY age",
		}}
		later := func(questions ...string) (*Answer, error) { return Later(t.Context(), c, b, questions) }
		if a, err := later("SELECT COUNT(*) FROM people WHERE ill"); err == nil {
			t.Fatalf("%s: answered before it is measured: %+v", budget, a)
		}
		first, err := Ask(t.Context(), c, b)
		if err != nil {
			t.Fatal(err)
		}
		a, err := later("SELECT COUNT(*) FROM people WHERE city IN ('a', 'b') AND ill", "SELECT COUNT(*) FROM people WHERE age BETWEEN 30 AND 59",
			"SELECT ill, COUNT(*) FROM people GROUP BY ill")
		if err != nil {
			t.Fatal(err)
		}
		if !a.Replayed || a.ID != first.ID || a.Remaining != first.Remaining || len(a.Counts) != 4 {
			t.Fatalf("%s: %+v", budget, a)
		}
		sum := func(in func(group []any) bool) (total float64) {
			for _, n := range first.Counts {
				if in(n.Group) {
					total += n.Value
				}
			}
			return total
		}
		for i, want := range []float64{
			sum(func(g []any) bool { return len(g) == 2 && g[0] != "c" && g[1] == true }),
			sum(func(g []any) bool { return len(g) == 1 && g[0].(int64) >= 30 && g[0].(int64) < 60 }),
			sum(func(g []any) bool { return len(g) == 2 && g[1] == false }),
			sum(func(g []any) bool { return len(g) == 2 && g[1] == true }),
		} {
			// the answers of one plan agree, but those of several parts may estimate the same number twice
			if n := a.Counts[i]; math.Abs(n.Value-want) > 12*n.StdDev || n.StdDev <= 0 {
				t.Errorf("%s: answer %d is %v ± %v, and the batch has %v", budget, i, n.Value, n.StdDev, want)
			}
		}
		for refused, why := range map[string]string{
			"SELECT COUNT(*) FROM people WHERE age > 50 OR city = 'a'": "other rows, columns or conditions",
			"SELECT SUM(age) FROM people":                              "other rows, columns or conditions",
			"SELECT COUNT(*) FROM people LIMIT 1":                      "question 1 has a clause", // by its own number
		} {
			if a, err := later(refused); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %s is answered: %+v, %v", budget, refused, a, err)
			}
		}
		other := b
		other.Questions = slices.Clone(b.Questions)
		other.Epsilon = strings.Repeat("2", len(b.Epsilon))
		other.Rho = strings.Repeat("2", len(b.Rho))
		if _, err := Later(t.Context(), c, other, []string{"SELECT COUNT(*) FROM people WHERE ill"}); err == nil {
			t.Errorf("%s: another price is answered", budget)
		}
		if e := explain(t, c, b); e.Remaining != first.Remaining {
			t.Errorf("%s: %v remain, and %v after the batch", budget, e.Remaining, first.Remaining)
		}
	}
}

// A plan for few sums answers combinations of these sums. It refuses other questions, or states a large error.
func TestUnmeasuredQuestionsAreRefused(t *testing.T) {
	c := town(t, ofRho)
	b := Batch{Request: curator.Request{Rho: "1"}, Questions: []string{
		"SELECT city, COUNT(*) FROM people GROUP BY city", "SELECT COUNT(*) FROM people WHERE age < 40",
	}}
	if _, err := Ask(t.Context(), c, b); err != nil {
		t.Fatal(err)
	}
	if a, err := Later(t.Context(), c, b, []string{"SELECT COUNT(*) FROM people"}); err != nil || len(a.Counts) != 1 {
		t.Errorf("the sum of the cities: %+v, %v", a, err)
	}
	for _, q := range []string{"SELECT COUNT(*) FROM people WHERE age < 30", "SELECT COUNT(*) FROM people WHERE age < 39 AND city = 'a'"} {
		a, err := Later(t.Context(), c, b, []string{q})
		if err == nil && a.Counts[0].StdDev < 5 {
			t.Errorf("%s: %+v", q, a.Counts)
		}
	}
}
