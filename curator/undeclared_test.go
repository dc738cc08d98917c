package curator

import (
	"math/big"
	"strings"
	"testing"

	"dither/audit"
)

// TestReplayUndeclared compares the exact histograms of neighbouring databases without declared bounds. They differ by at
// most the planned sensitivity: 1 under add-remove, and 2 under change-one. The databases have values and numbers of rows
// beyond the declared bounds. The ledgers of both databases are equal.
func TestReplayUndeclared(t *testing.T) {
	moved := 0
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one, zCDP": newTwins(t, bothTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"change-one, caps": newTwins(t, cappedTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
	} {
		for i, sql := range []string{
			"SELECT CASE WHEN age < 0 THEN 0 WHEN age < 90 THEN 1 ELSE 2 END AS bin, COUNT(*) FROM people GROUP BY 1",
			"SELECT CASE WHEN height < 100 THEN 0 ELSE 1 END AS bin, COUNT(*) FROM people WHERE height IS NOT NULL GROUP BY 1",
			"SELECT CASE WHEN cost < 5 THEN 0 ELSE 1 END AS bin, COUNT(*) FROM visits GROUP BY 1",
			"SELECT CASE WHEN n < 2 THEN 0 WHEN n < 4 THEN 1 WHEN n < 5 THEN 2 ELSE 3 END AS bin, COUNT(*) " +
				"FROM (SELECT person AS u, COUNT(*) AS n FROM visits GROUP BY person) q GROUP BY 1",
			"SELECT CASE WHEN n < 2 THEN 0 WHEN n < 4 THEN 1 ELSE 2 END AS bin, COUNT(*) " +
				"FROM (SELECT person AS u, COUNT(DISTINCT day) AS n FROM visits GROUP BY person) q GROUP BY 1",
		} {
			question := Question{SQL: sql, Epsilon: "4", Fresh: true}
			if strings.Contains(sql, "cost") {
				question.MaxRows = "1"
			}
			ask := func(c *Owner) (*asked, error) { return c.Undeclared().ask(&question) }
			r, plans := w.asked(t, byte(i), ask, allNumbers)
			name := relation + ": " + sql
			sameLedger(t, name, r, "reserve", "release")
			d, err := audit.Distance(r.Data.Output, r.Neighbor.Output)
			if err != nil {
				t.Fatal(err)
			}
			m := plans[0].plan.Measures[0]
			most := int64(1)
			if relation != "add-remove" {
				most = 2
			}
			if m.L1.Cmp(big.NewInt(most)) != 0 {
				t.Errorf("%s: the planned sensitivity is %s, not %d", name, m.L1, most)
			}
			planned := audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}
			if err := d.Within(planned); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if d.L1.Sign() > 0 {
				moved++
			}
		}
	}
	if moved < 12 {
		t.Errorf("%d of 15 histograms moved: the audit shows little", moved)
	}
}

// TestUndeclared checks an answer without declared bounds. It counts values beyond the bounds, its price is charged, and
// it is replayed free. A question under the policy does not take it as its own release, and no other question follows from
// it. Sums are refused, because their columns have no bounds.
func TestUndeclared(t *testing.T) {
	w := pureTerms.alone(t)
	question := Question{
		SQL: "SELECT CASE WHEN age > 115 THEN 1 ELSE 0 END AS old, COUNT(*) AS n FROM people GROUP BY 1", Epsilon: "20",
	}
	u := w.Undeclared()
	if released, err := u.Released(question); released || err != nil {
		t.Fatal(released, err)
	}
	first, err := u.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	if n := first.Rows[1][1].Estimate.Value.Real; n != 1 { // the noise is 0 with probability 1 − 4e-9
		t.Errorf("%g people of more than 115 years, not 1", n)
	}
	plain, err := w.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	if len(plain.Rows) != 1 || plain.Rows[0][1].Estimate.Value.Real != 5 || plain.Replayed || plain.From != nil {
		t.Errorf("under the policy, nobody can be older than 115: %+v, from %v", plain.Rows, plain.From)
	}
	coarser := question
	coarser.SQL = "SELECT COUNT(*) FROM people"
	e, err := w.Explain(t.Context(), coarser)
	if err != nil || e.Reuse != nil && strings.Contains(strings.Join(e.Reuse.From, " "), first.ID) {
		t.Errorf("a question follows from the answer without bounds: %+v, %v", e.Reuse, err)
	}
	if released, err := u.Released(question); !released || err != nil {
		t.Error(released, err)
	}
	again, err := u.Answer(t.Context(), question)
	if err != nil || !again.Replayed || again.ID != first.ID || again.Remaining.Epsilon != plain.Remaining.Epsilon {
		t.Errorf("%+v, %v", again, err)
	}
	for _, sql := range []string{
		"SELECT SUM(age) FROM people", "SELECT age + 1, COUNT(*) FROM people GROUP BY 1", "SELECT nothing FROM people",
	} {
		if _, err := u.Answer(t.Context(), Question{SQL: sql}); err == nil {
			t.Errorf("%s is answered", sql)
		}
	}
	if _, err := u.Answer(t.Context(), Question{SQL: question.SQL, Whole: true}); err == nil {
		t.Error("an option of presentation is taken")
	}
}
