package curator

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/mechanism/selection"
	"dither/privacy"
)

// Quantiles and modes in an answer: as Select and Rank (see replaySelect). What they look at, rows in order and how often a value
// occurs in a cell, differs by no more rows than count of one unit.
func replayQuantiles(t *testing.T, relation string, w twins) {
	changes := int64(1)
	if strings.HasPrefix(relation, "change-one") {
		changes = 2
	}
	for i, q := range []struct {
		sql  string
		rows int64 // of a unit
	}{
		{"SELECT region, COUNT(*), MEDIAN(age), MODE(change) FROM people GROUP BY region", 1},
		{"SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY cost), MEDIAN(cost), MODE(day), MODE(cost) FROM visits", 3},
		{"SELECT day, APPROX_QUANTILES(cost, 2), SUM(cost), MODE(cost) FROM visits GROUP BY day HAVING COUNT(*) > -1000", 3},
		{"SELECT day, MEDIAN(cost), SUM(cost), MODE(cost) FROM visits GROUP BY ROLLUP (day)", 3},
		{"SELECT MEDIAN(age), MODE(change) FROM people GROUP BY GROUPING SETS (region, (age > 50), ())", 1},
	} {
		name := relation + ": " + q.sql
		r := w.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
			_, err := c.Answer(t.Context(), Question{SQL: q.sql, Fresh: true})
			return nil, err
		})
		sameLedger(t, name, r, "reserve", "release")
		whole := must[*plan.Plan](t)(plan.Build(w[0].policy, plan.Request{SQL: q.sql}))
		for _, p := range whole.Orders() {
			replayOrder(t, name, relation, w, p, q.rows, changes)
		}
	}
}

// replayOrder is that of the looks of one grouping.
func replayOrder(t *testing.T, name, relation string, w twins, p *plan.Plan, most, changes int64) {
	t.Helper()
	for _, m := range p.Modes {
		look := p.Counted(m)
		d := w.exactly(t, &plan.Target{Statement: *look}, func(c *Owner, from engine.Sealed) ([]*big.Int, error) {
			cells, err := (*inside(c).Engine).Aggregate(t.Context(), look, from)
			if err != nil {
				return nil, err
			}
			noisy, err := mechanism.Laplace{Sensitivity: big.NewInt(1), Epsilon: someEpsilon(t)}.Measure(firstOf(cells))
			return noisy.Values, err
		})
		if err := d.Within(audit.Distances{L1: big.NewRat(changes*most, 1)}); err != nil || m.Rows != most {
			t.Errorf("%s: %s: %v of %d rows", name, m, err, m.Rows)
		}
		if relation == "add-remove" && d.L1.Cmp(big.NewRat(most, 1)) != 0 {
			t.Errorf("%s: %s: scores moved by %v", name, m, d.L1)
		}
	}
	if len(p.Keys) > 0 {
		return
	}
	for _, v := range p.OrderedValues() {
		look := p.Ordered(v)
		d := w.exactly(t, &plan.Target{Statement: *look}, func(c *Owner, from engine.Sealed) ([]*big.Int, error) {
			rows, err := (*inside(c).Engine).Order(t.Context(), look, from)
			if err != nil {
				return nil, err
			}
			tree, err := quantile.Tree{
				Domain: quantile.Domain{Lower: v.Lo, Upper: v.Hi}, Unit: mechanism.Unit{Neighbours: p.Neighbours, MaxRows: p.OrderCaps.MostRows()},
				Height: 1, Branching: int(v.Hi - v.Lo + 1), Loss: privacy.PureLoss(someEpsilon(t)),
			}.Measure(rows)
			return tree.Values, err
		})
		if err := d.Within(audit.Distances{L1: big.NewRat(changes*most, 1)}); err != nil || d.L1.Sign() == 0 {
			t.Errorf("%s: rows are %v apart: %v", name, d.L1, err)
		}
	}
}

// The numbers of an answer are those of the planned mechanisms with parameters computed here, on the same bytes and the known rows.
func TestQuantilesAsPlanned(t *testing.T) {
	e := func(text string) privacy.Epsilon { return must[privacy.Epsilon](t)(privacy.ParseEpsilon(text)) }
	for _, home := range []struct {
		name       string
		c          *Owner
		neighbours privacy.Neighbours
		count      func([]mechanism.Exact) (mechanism.Measurement, error)
		draws      [2]privacy.Epsilon // of a value and of a half-width
		mode       func([]mechanism.Exact) (selection.Choice, error)
	}{
		{
			"pure", pureTerms.alone(t), privacy.AddRemove,
			mechanism.Laplace{Sensitivity: big.NewInt(3), Epsilon: e("5")}.Measure,
			[2]privacy.Epsilon{e("5").Share(3, 10), e("5").Share(7, 10)},
			selection.PermuteAndFlip{Sensitivity: big.NewInt(3), Monotonic: true, Epsilon: e("5")}.Select,
		},
		{
			"change-one", changeTerms.alone(t), privacy.ChangeOne,
			mechanism.Laplace{Sensitivity: big.NewInt(6), Epsilon: e("5")}.Measure,
			[2]privacy.Epsilon{e("5").Share(3, 10), e("5").Share(7, 10)},
			selection.PermuteAndFlip{Sensitivity: big.NewInt(3), Epsilon: e("5")}.Select,
		},
		{ // ρ = ε²/2 = 200, a quarter of it each; of that 3/10 and 7/10 the draws, √(8·50·3/10), and √(8·50) the mode
			"zCDP", zcdpTerms.alone(t), privacy.AddRemove,
			mechanism.Gaussian{L2Squared: big.NewInt(9), Rho: e("10").Rho()}.Measure,
			[2]privacy.Epsilon{e("10").Rho().Share(3, 10).Pure().Times(2), e("10").Rho().Share(7, 10).Pure().Times(2)},
			selection.Exponential{Sensitivity: big.NewInt(3), Monotonic: true, Epsilon: e("10").Rho().Pure().Times(2)}.Select,
		},
	} {
		t.Run(home.name, func(t *testing.T) {
			q := Question{SQL: "SELECT day, MODE(cost), PERCENTILE_DISC(cost, 0.9), COUNT(*), MEDIAN(cost) FROM visits GROUP BY day", Epsilon: "20", Fresh: true}
			got := drawnFrom(9, func() [][]*big.Int {
				return must[*release.Released](t)(home.c.measured(t.Context(), must[*asked](t)(home.c.ask(q)))).Numbers
			})
			// fri, mon, thu, tue, wed: the days in order
			costs := [][]int64{{}, {3}, {}, {10}, {4}}
			want := drawnFrom(9, func() [][]*big.Int {
				counts := must[mechanism.Measurement](t)(home.count(sealed(0, 1, 0, 1, 1))).Values
				m := quantile.Cells{Domain: quantile.Domain{Lower: 0, Upper: 10}, Unit: mechanism.Unit{Neighbours: home.neighbours, MaxRows: 3}, Cells: 5}
				for _, rank := range []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10)} {
					m.Sought = append(m.Sought, quantile.Sought{Rank: rank, Epsilon: home.draws[0], Width: home.draws[1], Miss: big.NewRat(1, 128)})
				}
				found := must[quantile.CellValues](t)(m.Release(mechanism.NewOrderedCells(5, func(yield func(cell int, value, count int64) bool) error {
					for _, cell := range []int{1, 4, 3} {
						yield(cell, costs[cell][0], 1)
					}
					return nil
				})))
				var out [][]*big.Int
				for cell := range costs {
					out = append(out, append([]*big.Int{counts[cell]}, threesOf(m, found, cell)...))
				}
				for cell := range costs {
					scores := make([]int64, 11)
					for _, x := range costs[cell] {
						scores[x]++
					}
					out[cell] = append(out[cell], big.NewInt(int64(must[selection.Choice](t)(home.mode(sealed(scores...))).Index)))
				}
				return out
			})
			for i := range want {
				if !slices.EqualFunc(got[i], want[i], func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
					t.Errorf("cell %d: %v, and the planned mechanisms give %v", i, got[i], want[i])
				}
			}
		})
	}
}

// A question of all kinds is paid once, replayed free with another confidence, order and HAVING, and told with its ranks.
func TestQuantileAnswers(t *testing.T) {
	c := pureTerms.alone(t)
	const sql = "SELECT region, MEDIAN(age) AS m, MODE(region) AS r, COUNT(*) AS n, MEDIAN(age) + 1 AS d FROM people GROUP BY region"
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
	again := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*), MODE(region), 2 * PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age), region FROM people GROUP BY region HAVING MODE(region) <> 'x' ORDER BY 2", Confidence: "0.9"}))
	if first.Replayed || !again.Replayed || again.ID != first.ID || len(first.Rows) != 3 {
		t.Errorf("%+v, %+v", first, again)
	}
	m, r := first.Columns[1], first.Columns[2]
	if m.Mechanism != Exponential || m.Scale != nil || m.RankError == nil || m.IntervalRows == nil || *m.IntervalRows <= 0 || *m.IntervalRows >= *m.RankError {
		t.Errorf("%+v", m)
	}
	if r.Mechanism != PermuteAndFlip || r.Shortfall == nil || !first.Rows[0][2].Estimate.Chosen || first.Rows[0][2].Estimate.Value.Text == nil || first.Columns[4].Mechanism != Derived {
		t.Errorf("%+v, %+v", r, first.Columns[4])
	}
	text := string(must[[]byte](t)(json.Marshal(first)))
	for _, want := range []string{
		`"name":"m","kind":"measure","mechanism":"exponential mechanism","scale":null,"sensitivity":null,"epsilon":0.16666666666666666,"rank_error":`,
		`"name":"r","kind":"measure","mechanism":"permute and flip","scale":null,"sensitivity":null,"epsilon":0.16666666666666666,"shortfall":`,
		`th","stddev":null,"low":null,"high":null}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
	if _, err := c.Measure(t.Context(), Question{SQL: sql}); codeOf(err) != CodeUsage {
		t.Error(err)
	}
	explained := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: "SELECT MEDIAN(height) FROM people", Confidence: "0.999"}))
	if len(explained.Notes) != 3 || !strings.Contains(explained.Notes[2], "99.22") {
		t.Errorf("%q", explained.Notes)
	}
}

// What fails in the middle of a pass stays charged, with the one error; what fails in the rehearsal of any look costs nothing.
func TestQuantileFails(t *testing.T) {
	c := pureTerms.alone(t)
	works := *inside(c).Engine
	*inside(c).Engine = failing{}
	for i, sql := range []string{"SELECT MEDIAN(age) FROM people", "SELECT MODE(region) FROM people", "SELECT COUNT(*), MEDIAN(age) FROM people"} {
		_, err := c.Answer(t.Context(), Question{SQL: sql})
		if codeOf(err) != CodeFailed || strings.Contains(err.Error(), "Alice") {
			t.Error(err)
		}
		if b := must[*Budget](t)(c.Budget()); b.Failures != i+1 {
			t.Errorf("%d failures", b.Failures)
		}
	}
	*inside(c).Engine = untried{}
	before := must[*Budget](t)(c.Budget()).Spent
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(height) FROM people"}); codeOf(err) != CodePolicy {
		t.Error(err)
	}
	if after := must[*Budget](t)(c.Budget()).Spent; after != before {
		t.Errorf("spent %v, then %v", before, after)
	}
	*inside(c).Engine = works
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(age) FROM people"}); err != nil {
		t.Error(err)
	}
}

// threesOf are the numbers of a cell's quantiles: each value, and the ends of its interval.
func threesOf(m quantile.Cells, found quantile.CellValues, cell int) (out []*big.Int) {
	for i, v := range found.Values[cell] {
		low, high := m.Interval(found, cell, i)
		out = append(out, big.NewInt(v), big.NewInt(low), big.NewInt(high))
	}
	return out
}

// Over grouping sets each set's numbers are those of the planned mechanisms in that set's cells, one set after the other, behind the noise of all sums.
func TestQuantileSetsAsPlanned(t *testing.T) {
	e := must[privacy.Epsilon](t)(privacy.ParseEpsilon("5")) // of 20, a half each; of that half a set's
	c := pureTerms.alone(t)
	q := Question{SQL: "SELECT day, MODE(cost), MEDIAN(cost) FROM visits GROUP BY ROLLUP (day)", Epsilon: "20", Fresh: true}
	got := drawnFrom(9, func() [][]*big.Int {
		return must[*release.Released](t)(c.measured(t.Context(), must[*asked](t)(c.ask(q)))).Numbers
	})
	var want [][]*big.Int
	drawnFrom(9, func() any {
		for _, cells := range [][][]int64{{{}, {3}, {}, {10}, {4}}, {{3, 4, 10}}} { // fri, mon, thu, tue, wed: the days in order; and all
			m := quantile.Cells{Domain: quantile.Domain{Lower: 0, Upper: 10}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 3}, Cells: len(cells)}
			m.Sought = []quantile.Sought{{Rank: big.NewRat(1, 2), Epsilon: e.Share(3, 10), Width: e.Share(7, 10), Miss: big.NewRat(1, 128)}}
			found := must[quantile.CellValues](t)(m.Release(mechanism.NewOrderedCells(len(cells), func(yield func(cell int, value, count int64) bool) error {
				for v := range int64(11) {
					for cell, costs := range cells {
						if slices.Contains(costs, v) {
							yield(cell, v, 1)
						}
					}
				}
				return nil
			})))
			for cell := range cells {
				want = append(want, threesOf(m, found, cell))
			}
			flip := selection.PermuteAndFlip{Sensitivity: big.NewInt(3), Monotonic: true, Epsilon: e}
			for i, costs := range cells {
				scores := make([]int64, 11)
				for _, x := range costs {
					scores[x]++
				}
				at := len(want) - len(cells) + i
				want[at] = append(want[at], big.NewInt(int64(must[selection.Choice](t)(flip.Select(sealed(scores...))).Index)))
			}
		}
		return nil
	})
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !slices.EqualFunc(got[i], want[i], func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
			t.Errorf("cell %d: %v, and the planned mechanisms give %v", i, got[i], want[i])
		}
	}

	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: q.SQL, Epsilon: "10"}))
	again := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(cost) + 1 AS m, day, MODE(cost) FROM visits GROUP BY GROUPING SETS ((), day) ORDER BY 1", Epsilon: "10"}))
	if len(first.Rows) != 6 || first.Replayed || !again.Replayed || again.ID != first.ID || len(again.Rows) != 6 || again.Columns[0].Mechanism != Derived {
		t.Errorf("%+v, %+v", first, again)
	}
	if total := first.Rows[5]; !total[0].Summed || !total[1].Estimate.Chosen || len(first.Groupings) != 2 || len(first.Groupings[1].Orders) != 2 || first.Groupings[1].Orders[0].Shortfall == nil {
		t.Errorf("%+v of %+v", total, first.Groupings)
	}
}
