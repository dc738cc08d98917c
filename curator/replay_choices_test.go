package curator

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/engine"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// Select and Rank choose, by races whose draws end as soon as they are decided: neighbours may read other numbers of bytes and
// choose otherwise, and a difference of what they chose says nothing. Their promise rests on two things, both shown here: all but
// the draw (the list of candidates, the mechanism and its parameters, the price, what is recorded) is the same; and what the
// mechanism looks at moves by at most the sensitivity that it was given. What a mechanism then promises is a matter of its
// law (package audit/ours).
func replaySelect(t *testing.T, relation string, w twins) {
	for i, s := range []Selection{
		{Request: Request{SQL: "SELECT region, COUNT(*) FROM people GROUP BY region"}},
		{Request: Request{SQL: "SELECT region, SUM(change) FROM people GROUP BY region"}, Mechanism: NoisyMax, Best: 2},
		{Request: Request{SQL: "SELECT day, SUM(cost) FROM visits GROUP BY day"}, Mechanism: Exponential, Best: 3},
	} {
		s.Fresh = true
		name := relation + ": " + s.SQL
		best := 0
		r := w.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
			chosen, err := c.Select(t.Context(), s)
			if err != nil {
				return nil, err
			}
			best = len(chosen.Best)
			return nil, nil
		})
		sameLedger(t, name, r, "reserve", "release")
		if best != max(s.Best, 1) {
			t.Errorf("%s: %d chosen", name, best)
		}
		if s.Mechanism == NoisyMax && r.SameFlow() != nil { // whose noise is independent of scores
			t.Errorf("%s: %v", name, r.SameFlow())
		}
		target, err := plan.BuildScores(w[0].policy, plan.Request{SQL: s.SQL})
		if err != nil {
			t.Fatal(err)
		}
		d := w.exactly(t, target, func(c *Owner, from engine.Sealed) ([]*big.Int, error) {
			cells, err := (*inside(c).Engine).Aggregate(t.Context(), &target.Statement, from)
			if err != nil {
				return nil, err
			}
			m, err := mechanism.Laplace{Sensitivity: big.NewInt(1), Epsilon: someEpsilon(t)}.Measure(firstOf(cells))
			return m.Values, err
		})
		delta := new(big.Rat).SetInt(target.Sensitivity)
		if err := d.Within(audit.Distances{LInf: delta}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if relation != "add-remove, a NULL" && d.LInf.Sign() == 0 {
			t.Errorf("%s: no score moved", name)
		}
		if i == 2 && relation == "add-remove" && (d.L1.Cmp(big.NewRat(30, 1)) != 0 || d.Within(audit.Distances{LInf: big.NewRat(9, 1)}) == nil) {
			t.Errorf("%s: scores moved by %v of %s", name, d.LInf, delta)
		}
	}
}

func someEpsilon(t *testing.T) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// exactly is how far apart what a target's mechanism looks at is: a look with additive noise on the same bytes, which
// cancels.
func (w twins) exactly(t *testing.T, target *plan.Target, look func(*Owner, engine.Sealed) ([]*big.Int, error)) audit.Distances {
	t.Helper()
	d, err := w.replay(t, 0, func(c *Owner) ([]*big.Int, error) {
		version, err := c.kernel.Current(target.Table)
		if err != nil {
			return nil, err
		}
		return look(c, inside(c).Known(version))
	}).Apart()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Rank: as Select. What it looks at is a multiset of rows: of it at most as many rows come or go as were said.
func replayRank(t *testing.T, relation string, w twins) {
	for i, q := range []Quantiles{
		{Request: Request{SQL: "SELECT age FROM people"}, At: []string{"0.25", "0.5"}},
		{Request: Request{SQL: "SELECT cost FROM visits"}, At: []string{"0.5", "0.75", "0.9"}, Mechanism: RecursiveQuantiles},
		{Request: Request{SQL: "SELECT cost FROM visits"}, At: []string{"0.5"}, Mechanism: JointQuantiles},
		{Request: Request{SQL: "SELECT cost FROM visits"}, At: []string{"0.25", "0.5"}, Mechanism: LadderQuantiles},
	} {
		q.Fresh = true
		name := fmt.Sprint(relation, ": ", q.SQL, " ", q.Mechanism)
		r := w.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
			found, err := c.Rank(t.Context(), q)
			if err == nil && len(found.Values) != len(q.At) {
				err = errors.New("not as many as were asked for")
			}
			return nil, err
		})
		sameLedger(t, name, r, "reserve", "release")
		w.sameRows(t, name, q.SQL)
	}
}

// sameRows checks that rows in order, counted value by value, are within the rows that one unit may have.
func (w twins) sameRows(t *testing.T, name, sql string) {
	t.Helper()
	target, err := plan.BuildOrder(w[0].policy, plan.Request{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	domain := quantile.Domain{Lower: target.Measures[0].Lo, Upper: target.Measures[0].Hi}
	d := w.exactly(t, target, func(c *Owner, from engine.Sealed) ([]*big.Int, error) {
		rows, err := (*inside(c).Engine).Order(t.Context(), &target.Statement, from)
		if err != nil {
			return nil, err
		}
		tree, err := quantile.Tree{
			Domain: domain, Unit: mechanism.Unit{Neighbours: target.Neighbours, MaxRows: target.Sensitivity.Int64()}, Height: 1, Branching: int(min(domain.Upper-domain.Lower+1, 1<<12)), Loss: privacy.PureLoss(someEpsilon(t)),
		}.Measure(rows)
		return tree.Values, err
	})
	steps := new(big.Rat).SetInt(target.Sensitivity)
	if target.Neighbours == privacy.ChangeOne {
		steps.Add(steps, steps)
	}
	if err := d.Within(audit.Distances{L1: steps}); err != nil || d.L1.Sign() == 0 && !strings.Contains(relationOf(name), "NULL") {
		t.Errorf("%s: rows are %v apart of %s: %v", name, d.L1, steps, err)
	}
}

func relationOf(name string) string { relation, _, _ := strings.Cut(name, ":"); return relation }

// Smooth: as Rank. Its noise is s·Z about the median f, with Z from the bytes alone, so that on the same bytes o and o′ tell the
// ratio of the two secret scales: (o − f)/(o′ − f′), but for the rounding of both. It is within e^β, β = ¾ of the loss of one
// step, for neighbours one step apart, which is what keeps the scale itself from telling.
func TestReplaySmooth(t *testing.T) {
	people := func(heights ...float64) string {
		var b strings.Builder
		for _, h := range heights {
			fmt.Fprintf(&b, "77,0,north,%g\n", h)
		}
		return b.String()
	}
	// The scale is made by the gap of 60 beside the middle, which one more row in the middle moves away by one step: by e^β.
	rest := people(100, 100, 100, 160, 160.001, 160.002, 160.003, 160.004, 220, 220, 220)
	median := [2]float64{160.002, (160.002 + 160.0025) / 2}
	w := newTwins(t, pureTerms, [2]string{rest, rest + people(160.0025)}, [2]string{"", somebodys})
	const sql, epsilon = "SELECT height FROM people WHERE age = 77", 2.0
	target, err := plan.BuildOrder(w[0].policy, plan.Request{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	w.sameRows(t, "add-remove", sql)
	unit, _ := target.Measures[0].Units(big.NewInt(1)).Float64()
	inside, widest := 0, 0.0
	for seed := range byte(6) {
		var got [2]float64
		side := 0
		r := w.replay(t, seed, func(c *Owner) ([]*big.Int, error) {
			m, err := c.Smooth(t.Context(), Request{SQL: sql, Epsilon: fmt.Sprint(epsilon), Fresh: true})
			if err != nil {
				return nil, err
			}
			got[side], side = m.Value.Real, side+1
			return nil, nil
		})
		sameLedger(t, "smooth", r, "reserve", "release")
		a, b := math.Abs(got[0]-median[0]), math.Abs(got[1]-median[1])
		if min(got[0], got[1]) <= 50 || max(got[0], got[1]) >= 250 || min(a, b) < 1e6*unit {
			continue // at an end of the domain, or where rounding hides the scale
		}
		inside++
		widest = max(widest, math.Abs(math.Log(a/b)))
	}
	if inside < 4 || widest > 0.75*epsilon+1e-5 || widest < 0.75*epsilon-1e-5 {
		t.Errorf("of %d pairs of outputs the scales are apart by a factor of up to e^%g, where e^%g is allowed", inside, widest, 0.75*epsilon)
	}
	t.Logf("%d pairs of outputs: scales apart by e^%.4f, of e^%g", inside, widest, 0.75*epsilon)
}

// firstOf are the cells of the first measure.
func firstOf(cells [][]mechanism.Exact) (out []mechanism.Exact) {
	for _, cell := range cells {
		out = append(out, cell[0])
	}
	return out
}
