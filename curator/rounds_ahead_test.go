package curator

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// aheadRequest asks for rounds over the gifts of a shop, with quantiles of the costs and the popular products ahead. The
// price pays for all of it and one measurement.
func aheadRequest() RoundsRequest {
	return RoundsRequest{
		Request:    Request{SQL: "SELECT COUNT(*) FROM orders GROUP BY gift, cost", Rho: "3"},
		Candidates: [][]int{{0}, {1}}, Steps: 2,
		Ahead: []Ahead{
			{SQL: "SELECT cost FROM orders", At: []string{"0.25", "0.5", "0.75"}, Price: StepPrice{Rho: "1"}},
			{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY product", Price: StepPrice{Rho: "1"}},
		},
	}
}

// takenAhead runs the steps ahead, changes the question by their answers, and measures. It describes what they return.
func takenAhead(t *testing.T, r *Rounds) (out string, replayed bool) {
	t.Helper()
	edges, a, err := r.Quantiles(t.Context(), 0)
	if err != nil || len(edges) != 3 {
		t.Fatalf("%v, %v", edges, err)
	}
	keys, b, err := r.Keys(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	sql := "SELECT COUNT(*) FROM orders GROUP BY gift, CASE"
	for _, k := range keys {
		out += fmt.Sprint(*k.Text, k.Count, " ")
		sql += " WHEN product = '" + *k.Text + "' THEN '" + *k.Text + "'"
	}
	if err := r.Change(t.Context(), sql+" ELSE 'other' END", [][]int{{1}, {0, 1}}); err != nil {
		t.Fatal(err)
	}
	m := must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{1}, StepPrice{Rho: "1"}))
	if len(m[0].Values) != 2*(len(keys)+1) || len(r.Values[1]) != len(keys)+1 {
		t.Errorf("%d cells of %v", len(m[0].Values), r.Values)
	}
	return fmt.Sprint(edges, out, m[0].Values), a && b && m[0].Replayed
}

// Questions ahead are parts of the price, with the δ of a selection. What they return decides the marginals, and all of it
// is returned again, free.
func TestRoundsAhead(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shop(t, "add-remove", "0.5", "", popular(300, "ball", "doll"))
	q := aheadRequest()
	e, err := c.ExplainRounds(t.Context(), q)
	if err != nil || e.Price.Rho != "3" || !strings.Contains(e.Price.String(), "0.00000051") { // 5e-7 to convert, and 1e-8 for the selection
		t.Fatalf("%+v, %v", e, err)
	}
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	paid := spentOf(t, c.Session())
	if r.Price.String() != e.Price.String() || !strings.HasPrefix(paid, "ρ = 3, δ = ") {
		t.Errorf("%s is the price, and %s is spent", r.Price, paid)
	}
	first, replayed := takenAhead(t, r)
	if replayed || !strings.Contains(first, "ball") || !strings.Contains(first, "doll") || strings.Contains(first, "secret") {
		t.Errorf("%s, replayed %t", first, replayed)
	}
	if _, err := r.Measure(t.Context(), []int{0}, StepPrice{Rho: "0.1"}); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "together") {
		t.Errorf("beyond the price: %v", err)
	}
	must[struct{}](t)(struct{}{}, r.Close())
	r = must[*Rounds](t)(c.Rounds(t.Context(), q))
	if got, replayed := takenAhead(t, r); got != first || !replayed {
		t.Errorf("%s, and then %s, replayed %t", first, got, replayed)
	}
	must[struct{}](t)(struct{}{}, r.Finish())
	r = must[*Rounds](t)(c.Rounds(t.Context(), q))
	if got, replayed := takenAhead(t, r); got != first || !replayed || spentOf(t, c.Session()) != paid {
		t.Errorf("%s, and after the end %s, replayed %t", first, got, replayed)
	}
	rounds := RoundsRequest{Request: q.Request, Candidates: q.Candidates, Steps: 4}
	if other := must[*Rounds](t)(c.Rounds(t.Context(), rounds)); other.ID == r.ID {
		t.Error("rounds without questions ahead continue those with them")
	}
}

// The same steps under another question than the recorded one are refused, and so is a step that was decided before the
// question changed.
func TestRoundsAheadKeepTheirQuestion(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shop(t, "change-one", "0.5", "", popular(300, "ball", "doll"))
	q := aheadRequest()
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	takenAhead(t, r)
	must[struct{}](t)(struct{}{}, r.Close())
	r = must[*Rounds](t)(c.Rounds(t.Context(), q))
	if _, _, err := r.Quantiles(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Quantiles(t.Context(), 0); codeOf(err) != CodeUsage || !errors.Is(err, ErrOtherStep) {
		t.Errorf("quantiles in place of keys: %v", err)
	}
	if _, _, err := r.Keys(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Measure(t.Context(), []int{1}, StepPrice{Rho: "1"}); codeOf(err) != CodeUsage || !errors.Is(err, ErrOtherStep) {
		t.Errorf("a measurement of the first question: %v", err)
	}
	for name, change := range map[string]func() error{
		"another table":     func() error { return r.Change(t.Context(), "SELECT COUNT(*) FROM nobody", [][]int{nil}) },
		"other noise":       func() error { return r.Change(t.Context(), "SELECT SUM(cost) FROM orders GROUP BY gift", [][]int{{0}}) },
		"no such candidate": func() error { return r.Change(t.Context(), q.SQL, [][]int{{7}}) },
	} {
		if err := change(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, at := range []int{-1, 1, 2} {
		if _, _, err := r.Quantiles(t.Context(), at); codeOf(err) != CodeUsage {
			t.Errorf("quantiles of question %d: %v", at, err)
		}
	}
	if _, _, err := r.Keys(t.Context(), 0); codeOf(err) != CodeUsage {
		t.Errorf("keys of quantiles: %v", err)
	}
}

// Hostile questions ahead are refused before anything is spent.
func TestRoundsAheadRefuse(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shop(t, "add-remove", "0.5", "", popular(3, "ball"))
	price := StepPrice{Rho: "1"}
	for name, a := range map[string]Ahead{
		"known keys":        {SQL: "SELECT gift, COUNT(*) FROM orders GROUP BY gift", Price: price},
		"two keys":          {SQL: "SELECT product, gift, COUNT(*) FROM orders GROUP BY product, gift", Price: price},
		"a sum":             {SQL: "SELECT product, SUM(cost) FROM orders GROUP BY product", Price: price},
		"no such table":     {SQL: "SELECT cost FROM nobody", At: []string{"0.5"}, Price: price},
		"a text":            {SQL: "SELECT product FROM orders", At: []string{"0.5"}, Price: price},
		"falling quantiles": {SQL: "SELECT cost FROM orders", At: []string{"0.5", "0.4"}, Price: price},
		"two prices":        {SQL: "SELECT cost FROM orders", At: []string{"0.5"}, Price: StepPrice{Rho: "1", Epsilon: "1"}},
	} {
		q := aheadRequest()
		q.Ahead = []Ahead{a}
		if _, err := c.Rounds(t.Context(), q); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("refusals cost %s", got)
	}
	pure := pureTerms.alone(t)
	q, _ := pureTerms.rounds(3)
	q.Ahead = []Ahead{{SQL: "SELECT age FROM people", At: []string{"0.5"}, Price: StepPrice{Epsilon: "0.5"}}}
	if _, err := pure.Rounds(t.Context(), q); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "other tables") {
		t.Errorf("another table of the population: %v", err)
	}
}

// Neighbours write the same ledger when quantiles and a changed question come before a measurement, and the measured
// marginals are as far apart as their sensitivity at most.
func TestReplayRoundsAhead(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one, zCDP": newTwins(t, bothTerms, [2]string{another, somebody}, [2]string{strings.Repeat("8,0,tue\n", 5), somebodys}),
	} {
		q := RoundsRequest{Request: Request{SQL: roundsSQL, Fresh: true}, Candidates: [][]int{{0}}, Steps: 1}
		q.Epsilon = "2"
		q.Ahead = []Ahead{{SQL: "SELECT cost FROM visits", At: []string{"0.25", "0.75"}, Price: StepPrice{Epsilon: "1"}}}
		var part MeasuredMarginal
		moved := w.replay(t, 7, func(c *Owner) ([]*big.Int, error) {
			r, err := c.Rounds(t.Context(), q)
			if err != nil {
				return nil, err
			}
			defer func() { _ = r.Close() }()
			if _, _, err := r.Quantiles(t.Context(), 0); err != nil {
				return nil, err
			}
			// the question is the same for both, as the two released quantiles need not be
			if err := r.Change(t.Context(), "SELECT COUNT(*) FROM visits GROUP BY day, WIDTH_BUCKET(cost, ARRAY[2, 8])", [][]int{{1}}); err != nil {
				return nil, err
			}
			m, err := r.Measure(t.Context(), []int{0}, StepPrice{Epsilon: "1"})
			if err != nil {
				return nil, err
			}
			part = m[0]
			return part.Values, nil
		})
		sameLedger(t, relation, moved, "reserve", "step", "step")
		l1 := new(big.Rat)
		for i, x := range moved.Data.Output {
			d := new(big.Rat).Sub(x, moved.Neighbor.Output[i])
			l1.Add(l1, d.Abs(d))
		}
		if most := new(big.Rat).SetFloat64(part.Sensitivity.L1); l1.Cmp(most) != 0 {
			t.Errorf("%s: apart by %s, planned %s: this pair shows little", relation, l1.FloatString(0), most.FloatString(0))
		}
	}
}

// A changed question that has no release instant within the timeout is refused, as it is if asked by itself.
func TestChangeNeedsAnInstant(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := newHome(t)
	slow := strings.Replace(delayed, "factor: 100ns, rows: 100", "factor: 300us, rows: 1000", 1)
	write(t, home, "policy.yaml", strings.Replace(testPolicy, "tables:\n", slow+"tables:\n", 1))
	write(t, home, "people.csv", "age,region,height\n33,north,170.5\n40,south,150\n")
	c := openHome(t, home)
	must[*SealReport](t)(c.Seal(t.Context(), "people", SealOptions{}))
	q := RoundsRequest{
		Request:    Request{SQL: "SELECT COUNT(*) FROM people GROUP BY region", Epsilon: "0.1"},
		Candidates: [][]int{{0}}, Steps: 2,
	}
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	heavy := "SELECT COUNT(*) FROM people GROUP BY CASE"
	for i := range 60 {
		heavy += fmt.Sprintf(" WHEN SQRT(LN(ABS(height) + %d)) > %d THEN 'a'", i+2, i)
	}
	heavy += " ELSE 'b' END"
	alone := q
	alone.SQL = heavy
	step := must[*Rounds](t)(c.Rounds(t.Context(), alone))
	if _, err := step.Measure(t.Context(), []int{0}, StepPrice{Epsilon: "0.05"}); codeOf(err) != CodePolicy {
		t.Fatalf("asked by itself: %v", err)
	}
	must[struct{}](t)(struct{}{}, step.Close())
	if err := r.Change(t.Context(), heavy, [][]int{{0}}); codeOf(err) != CodePolicy {
		t.Errorf("changed: %v", err)
	}
	must[struct{}](t)(struct{}{}, r.Close())
}
