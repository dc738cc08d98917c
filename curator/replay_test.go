package curator

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/privacy"
)

// The kernel's primitives, each run on two homes that differ by one person, with the same randomness: what is added cancels,
// so that what is left of the difference is that of the exact answers, and what is charged and recorded can be compared word
// by word. These are exact statements of pairs that are the worst ones by the plan's bounds; that no pair is worse is what
// package plan shows of exact sums, over thousands of pairs.
//
// The kernel has no seam for this. crypto/rand.Read reads from crypto/rand.Reader, which a test may replace.

const replayPolicy = `
version: 1
population: {name: test, neighbours: %s}
budget: {epsilon: 500}
price: {default: 0.5, maximum: 20}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 115]}
      change: {type: integer, bounds: [-10, 4]}
      region: {type: text, values: [north, south], nullable: true}
      height: {type: real, bounds: [50, 250], nullable: true}
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      cost: {type: integer, bounds: [0, 10]}
      day: {type: text, values: [mon, tue, wed, thu, fri]}
`

// The neighbour's person has the largest contributions there are, more of them than count, and is the first to have a NULL
// and several rows, so that what was recorded of the sealed files differs too. Under change-one there is somebody else,
// with the smallest, in that place.
const (
	replayPeople = "age,change,region,height\n30,1,north,170.5\n40,2,south,160\n130,-3,north,1e300\n-5,0,north,55\n61,1,south,181\n"
	replayVisits = "person,cost,day\n1,3,mon\n2,20,tue\n3,4,wed\n"
	somebody     = "115,4,south,250\n"
	another      = "0,-10,north,50\n"
	somebodys    = "9,10,mon\n9,10,mon\n9,10,tue\n9,10,wed\n9,10,fri\n"
	anothers     = "8,0,tue\n"
	nobodyKnown  = "115,4,west,NaN\n"
)

// twins are two homes that differ by one person, by side.
type twins [2]*Curator

// newTwins seals two homes of one policy whose rows are those of replayPeople and replayVisits and the given ones.
func newTwins(t *testing.T, neighbours string, people, visits [2]string) (out twins) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for side := range out {
		home := filepath.Join(t.TempDir(), "home")
		if err := Init(home); err != nil {
			t.Fatal(err)
		}
		write(t, home, "policy.yaml", fmt.Sprintf(replayPolicy, neighbours))
		write(t, home, "people.csv", replayPeople+people[side])
		write(t, home, "visits.csv", replayVisits+visits[side])
		out[side] = openHome(t, home)
		for _, table := range []string{"people", "visits"} {
			if _, err := out[side].Seal(t.Context(), table, SealOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// Each primitive, on twins of both relations.
func TestReplay(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":         newTwins(t, "add-remove", [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":         newTwins(t, "change-one", [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, a NULL": newTwins(t, "add-remove", [2]string{"", nobodyKnown}, [2]string{"", somebodys}),
	} {
		for primitive, check := range map[string]func(*testing.T, string, twins){
			"measure": replayMeasure, "answer": replayAnswer, "above": replayAbove, "select": replaySelect, "rank": replayRank,
		} {
			if strings.Contains(relation, "NULL") && primitive != "measure" && primitive != "rank" {
				continue
			}
			t.Run(relation+"/"+primitive, func(t *testing.T) { check(t, relation, w) })
		}
	}
}

// replay runs what on both, with bytes of a seed. Steps are what reached the ledgers, but for released numbers.
func (w twins) replay(t *testing.T, seed byte, what func(*Curator) ([]*big.Int, error)) *audit.Replayed {
	t.Helper()
	source := mathrand.NewChaCha8([32]byte{seed})
	r, err := audit.Replay(func(side audit.Side, random io.Reader, step func(string)) ([]*big.Rat, error) {
		c := w[side]
		before := len(ledgerOf(t, c))
		system := rand.Reader
		rand.Reader = &unending{random, mathrand.NewChaCha8([32]byte{})}
		defer func() { rand.Reader = system }()
		numbers, err := what(c)
		for _, entry := range ledgerOf(t, c)[before:] {
			step(entry)
		}
		return audit.Integers(numbers...), err
	}, source)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unending goes on where a recording ends: a program that gets no randomness crashes, and the test is to tell of it instead.
type unending struct{ recording, beyond io.Reader }

func (u *unending) Read(p []byte) (int, error) {
	n, err := u.recording.Read(p)
	if err != nil {
		return u.beyond.Read(p)
	}
	return n, nil
}

// ledgerOf is what an accountant reads: each entry's kind and all that it says, but for released numbers, of which it tells
// how many there are.
func ledgerOf(t *testing.T, c *Curator) (out []string) {
	t.Helper()
	err := c.ledger.Entries(func(e ledger.Entry) error {
		body, err := json.Marshal(e.Body)
		switch b := e.Body.(type) {
		case ledger.Release:
			body = fmt.Appendf(nil, "%d: %s", b.Reservation, shapeOf(b.Values))
		case ledger.Step:
			body = fmt.Appendf(nil, "%d: %s: %s", b.Reservation, b.Question, shapeOf(b.Values))
		}
		out = append(out, fmt.Sprintf("%s %s", e.Kind, body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shapeOf is how many rows of how many numbers were released.
func shapeOf(values json.RawMessage) string {
	var rows [][]json.RawMessage
	if err := json.Unmarshal(values, &rows); err != nil {
		return err.Error()
	}
	var b bytes.Buffer
	for _, row := range rows {
		fmt.Fprint(&b, len(row), " ")
	}
	return b.String()
}

// sameFlow checks that both read the same, and that the same was charged and recorded, in so many entries.
func sameFlow(t *testing.T, what string, r *audit.Replayed, kinds ...string) {
	t.Helper()
	if err := r.SameFlow(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	sameLedger(t, what, r, kinds...)
}

// sameLedger checks that the same was charged and recorded, whatever was read.
func sameLedger(t *testing.T, what string, r *audit.Replayed, kinds ...string) {
	t.Helper()
	if !slices.Equal(r.Data.Steps, r.Neighbor.Steps) {
		t.Errorf("%s: ledgers differ:\n%s\n%s", what, strings.Join(r.Data.Steps, "\n"), strings.Join(r.Neighbor.Steps, "\n"))
	}
	var got []string
	for _, s := range r.Data.Steps {
		kind, _, _ := strings.Cut(s, " ")
		got = append(got, kind)
	}
	if !slices.Equal(got, kinds) || r.Data.Bytes() == 0 {
		t.Errorf("%s: entries %v, %d bytes; want %v", what, got, r.Data.Bytes(), kinds)
	}
}

// measures are questions, and for each a key of whose cells the person is in none.
var measures = []struct{ sql, elsewhere string }{
	{"SELECT COUNT(*) FROM people", ""},
	{"SELECT COUNT(*), SUM(age), SUM(change), SUM(height) FROM people", ""},
	{"SELECT AVG(age), AVG(height) FROM people WHERE age > 20 OR age < 10", ""},
	{"SELECT region, COUNT(*), SUM(age) FROM people GROUP BY region", "north"},
	{"SELECT SUM(cost), COUNT(*), COUNT(DISTINCT person) FROM visits", ""},
	{"SELECT day, COUNT(*), SUM(cost) FROM visits GROUP BY day", "thu"},
	{"SELECT COUNT(*) FROM visits WHERE cost > 9 AND day = 'mon'", ""},
}

// vector is what a replay shows of one measure.
type vector struct {
	measure *plan.Measure
	apart   audit.Distances
	allowed audit.Distances
}

// measured replays a question's Measure, and gives its vectors; it checks the flow, and that what the person is not in is the
// same.
func (w twins) measured(t *testing.T, name string, seed byte, sql, elsewhere string) (out []vector) {
	t.Helper()
	question := Question{SQL: sql, Fresh: true}
	a, err := w[audit.Data].ask(question)
	if err != nil {
		t.Fatal(err)
	}
	var cells [][]any
	r := w.replay(t, seed, func(c *Curator) (numbers []*big.Int, err error) {
		m, err := c.Measure(t.Context(), question)
		if err != nil {
			return nil, err
		}
		cells = m.Cells
		for _, v := range m.Vectors {
			numbers = append(numbers, v.Values...)
		}
		return numbers, nil
	})
	sameFlow(t, name, r, "reserve", "release")
	for j, m := range a.plan.Measures {
		x, y := r.Data.Output[j*len(cells):(j+1)*len(cells)], r.Neighbor.Output[j*len(cells):(j+1)*len(cells)]
		d, err := audit.Distance(x, y)
		if err != nil {
			t.Fatal(err)
		}
		l1, l2 := new(big.Rat).SetInt(m.L1), new(big.Rat).SetInt(m.L2Squared)
		out = append(out, vector{m, d, audit.Distances{L1: l1, L2Squared: l2}})
		for i, keys := range cells {
			if elsewhere != "" && keys[0] == elsewhere && x[i].Cmp(y[i]) != 0 {
				t.Errorf("%s: %s of %s moved", name, m, elsewhere)
			}
		}
	}
	return out
}

// Measure: the same reads, charges and records; each vector moves by at most what its noise is made for, in L1 and in L2 norm,
// and not where the person is not. A sensitivity that is one too small is told wherever the pair attains it.
func replayMeasure(t *testing.T, relation string, w twins) {
	attained, all := 0, 0
	for i, q := range measures {
		name := relation + ": " + q.sql
		if relation == "change-one" && q.elsewhere == "north" {
			q.elsewhere = "" // where the other person is
		}
		for _, v := range w.measured(t, name, byte(i), q.sql, q.elsewhere) {
			if err := v.apart.Within(v.allowed); err != nil {
				t.Errorf("%s: %s: %v", name, v.measure, err)
			}
			if all++; v.apart.L1.Cmp(v.allowed.L1) < 0 {
				continue
			}
			attained++
			less := new(big.Rat).Sub(v.allowed.L1, big.NewRat(1, 1))
			if err := v.apart.Within(audit.Distances{L1: less}); !errors.Is(err, audit.ErrApart) {
				t.Errorf("%s: %s: a sensitivity that is one too small: %v", name, v.measure, err)
			}
		}
	}
	t.Logf("%s: %d of %d L1 sensitivities are attained", relation, attained, all)
	if relation != "add-remove, a NULL" && attained < all/3 {
		t.Errorf("%s: %d of %d L1 sensitivities are attained: these pairs show little", relation, attained, all)
	}
}

// loose is an engine with an edit of what it is asked, as a defect would make it.
type loose struct {
	engine.Engine
	edit func(*plan.Bounded)
}

func (l loose) Aggregate(ctx context.Context, b *plan.Bounded, from engine.Sealed) ([][]mechanism.Exact, error) {
	wrong := *b
	l.edit(&wrong)
	return l.Engine.Aggregate(ctx, &wrong, from)
}

// A replay can fail: a cap on rows that is not kept, a WHERE that is forgotten after the sensitivity was fixed, and randomness
// that is read where rows are many, are each told, by what they are.
func TestReplayTells(t *testing.T) {
	w := newTwins(t, "add-remove", [2]string{"", somebody}, [2]string{"", somebodys})
	works := [2]engine.Engine{w[0].engine, w[1].engine}
	with := func(edit func(*plan.Bounded)) {
		for side, c := range w {
			c.engine = loose{works[side], edit}
		}
	}
	with(func(b *plan.Bounded) { b.Caps.Rows = 5 })
	const capped = "SELECT COUNT(*) FROM visits"
	if v := w.measured(t, "no cap", 1, capped, "")[0]; !errors.Is(v.apart.Within(v.allowed), audit.ErrApart) || v.apart.L1.Cmp(big.NewRat(5, 1)) != 0 {
		t.Errorf("a cap that is not kept: %v of %v", v.apart.L1, v.allowed.L1)
	}
	with(func(*plan.Bounded) {})
	if v := w.measured(t, "the cap", 1, capped, "")[0]; v.apart.Within(v.allowed) != nil || v.apart.L1.Cmp(big.NewRat(3, 1)) != 0 {
		t.Errorf("a cap that is kept: %v of %v", v.apart.L1, v.allowed.L1)
	}
	r := w.replay(t, 2, func(c *Curator) ([]*big.Int, error) {
		c.engine = works[audit.Data]
		if c == w[audit.Neighbor] {
			c.engine = during{works[audit.Neighbor], func() { _, _ = rand.Read(make([]byte, 1)) }}
		}
		m, err := c.Measure(t.Context(), Question{SQL: capped, Fresh: true})
		if err != nil {
			return nil, err
		}
		return m.Vectors[0].Values, nil
	})
	if err := r.SameFlow(); !errors.Is(err, audit.ErrReads) || !errors.Is(err, audit.ErrExhausted) {
		t.Errorf("a read that depends on rows: %v", err)
	}
	r = w.replay(t, 3, func(c *Curator) ([]*big.Int, error) {
		price := "0.25"
		if c == w[audit.Neighbor] {
			price = "0.5"
		}
		_, err := c.Measure(t.Context(), Question{SQL: capped, Epsilon: price, Fresh: true})
		return nil, err
	})
	if err := r.SameFlow(); !errors.Is(err, audit.ErrSteps) {
		t.Errorf("a price that depends on rows: %v", err)
	}
}

// Answer is the same look: what it computes from the measures of a count or a sum moves as they do.
func replayAnswer(t *testing.T, relation string, w twins) {
	for i, q := range []struct {
		sql  string
		most []int64 // how far a whole number may move, in all rows together: add-remove, change-one
	}{
		{"SELECT COUNT(*) FROM people", []int64{1, 2}},
		{"SELECT region, SUM(age) AS ages FROM people GROUP BY region ORDER BY ages DESC", []int64{115, 230}},
		{"SELECT SUM(cost), AVG(cost) FROM visits", []int64{30, 60}},
		{"SELECT day, COUNT(*) FROM visits GROUP BY day HAVING COUNT(*) > -1000", []int64{3, 6}},
	} {
		r := w.replay(t, byte(i), func(c *Curator) (numbers []*big.Int, err error) {
			a, err := c.Answer(t.Context(), Question{SQL: q.sql, Epsilon: "20", Fresh: true})
			if err != nil {
				return nil, err
			}
			for _, row := range a.Rows {
				for _, cell := range row {
					if cell.Estimate != nil && cell.Estimate.Value != nil && cell.Estimate.Value.Whole != nil {
						numbers = append(numbers, cell.Estimate.Value.Whole)
					}
				}
			}
			slices.SortFunc(numbers, (*big.Int).Cmp) // sorting moves no two lists further apart
			return numbers, nil
		})
		name := relation + ": " + q.sql
		sameFlow(t, name, r, "reserve", "release")
		most := q.most[0]
		if strings.HasPrefix(relation, "change-one") {
			most = q.most[1]
		}
		if d, err := r.Apart(); err != nil || len(r.Data.Output) == 0 || d.Within(audit.Distances{L1: big.NewRat(most, 1)}) != nil {
			t.Errorf("%s: %d numbers, apart by %v, %v", name, len(r.Data.Output), d.L1, err)
		}
	}
}

// Above: the noises of threshold, questions and values are drawn alike; gaps and values move by at most what one unit moves a
// question; verdicts far from the threshold are the same, and so is what is recorded of each.
func replayAbove(t *testing.T, relation string, w twins) {
	for i, s := range []struct {
		threshold Threshold
		asked     []string
		kinds     []string
		most      int64
	}{
		{
			Threshold{Table: "visits", Threshold: "-100000", Above: 2, Values: true, Most: 30},
			[]string{"SELECT COUNT(*) FROM visits", "SELECT SUM(cost) FROM visits WHERE day = 'mon'"},
			[]string{"reserve", "step", "release"},
			30,
		},
		{
			Threshold{Table: "people", Threshold: "100000", Questions: 3},
			[]string{"SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people WHERE age = 115", "SELECT COUNT(height) FROM people"},
			[]string{"reserve", "step", "step", "release"},
			1,
		},
	} {
		r := w.replay(t, byte(i), func(c *Curator) (numbers []*big.Int, err error) {
			stream, err := c.Above(t.Context(), s.threshold)
			if err != nil {
				return nil, err
			}
			for _, sql := range s.asked {
				v, err := stream.Ask(t.Context(), sql)
				if err != nil {
					return nil, err
				}
				if v.Above != (i == 0) {
					return nil, errors.New("the threshold is not far enough")
				}
				for _, n := range []*Number{v.Gap, v.Value} {
					if n != nil {
						numbers = append(numbers, n.Whole)
					}
				}
			}
			return numbers, nil
		})
		name := fmt.Sprint(relation, ", stream ", i)
		sameFlow(t, name, r, s.kinds...)
		d, err := r.Apart()
		if err != nil || d.Within(audit.Distances{LInf: big.NewRat(s.most, 1)}) != nil {
			t.Errorf("%s: apart by %v, %v", name, d.LInf, err)
		}
		if i == 0 && relation == "add-remove" && (len(r.Data.Output) != 4 || d.L1.Cmp(big.NewRat(2*3+2*20, 1)) != 0) { // three rows of five count, and both of Monday
			t.Errorf("%s: %d numbers, apart by %v", name, len(r.Data.Output), d.LInf)
		}
	}
}

// Select and Rank choose, by races whose draws end as soon as they are decided: neighbours may read other numbers of bytes and
// choose otherwise, and a difference of what they chose says nothing. Their promise rests on two things, both shown here: all but
// the draw (the list of candidates, the mechanism and its parameters, the price, what is recorded) is the same; and what the
// mechanism looks at moves by at most the sensitivity that it was given. What a mechanism then promises is a matter of its
// law (package audit/ours).
func replaySelect(t *testing.T, relation string, w twins) {
	for i, s := range []Selection{
		{Question: Question{SQL: "SELECT region, COUNT(*) FROM people GROUP BY region"}},
		{Question: Question{SQL: "SELECT region, SUM(change) FROM people GROUP BY region"}, Mechanism: NoisyMax, Best: 2},
		{Question: Question{SQL: "SELECT day, SUM(cost) FROM visits GROUP BY day"}, Mechanism: Exponential, Best: 3},
	} {
		s.Fresh = true
		name := relation + ": " + s.SQL
		best := 0
		r := w.replay(t, byte(i), func(c *Curator) ([]*big.Int, error) {
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
		d := w.exactly(t, target, func(c *Curator, from engine.Sealed) ([]*big.Int, error) {
			cells, err := c.engine.Aggregate(t.Context(), &target.Bounded, from)
			if err != nil {
				return nil, err
			}
			m, err := mechanism.Laplace{Sensitivity: big.NewInt(1), Epsilon: someEpsilon(t)}.Measure(column(cells, 0))
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
func (w twins) exactly(t *testing.T, target *plan.Target, look func(*Curator, engine.Sealed) ([]*big.Int, error)) audit.Distances {
	t.Helper()
	d, err := w.replay(t, 0, func(c *Curator) ([]*big.Int, error) {
		version, err := c.current(target.Table)
		if err != nil {
			return nil, err
		}
		return look(c, known(version))
	}).Apart()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Rank: as Select. What it looks at is a multiset of rows: of it at most as many rows come or go as were said.
func replayRank(t *testing.T, relation string, w twins) {
	for i, q := range []Quantiles{
		{Question: Question{SQL: "SELECT age FROM people"}, At: []string{"0.25", "0.5"}},
		{Question: Question{SQL: "SELECT cost FROM visits"}, At: []string{"0.5", "0.75", "0.9"}, Mechanism: RecursiveQuantiles},
		{Question: Question{SQL: "SELECT cost FROM visits"}, At: []string{"0.5"}, Mechanism: JointQuantiles},
	} {
		q.Fresh = true
		name := fmt.Sprint(relation, ": ", q.SQL, " ", q.Mechanism)
		r := w.replay(t, byte(i), func(c *Curator) ([]*big.Int, error) {
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
	domain := domainOf(target)
	d := w.exactly(t, target, func(c *Curator, from engine.Sealed) ([]*big.Int, error) {
		rows, err := c.engine.Order(t.Context(), &target.Bounded, from)
		if err != nil {
			return nil, err
		}
		tree, err := mechanism.QuantileTree{
			Domain: domain, Unit: unitOf(target), Height: 1, Branching: int(min(domain.Upper-domain.Lower+1, 1<<12)), Loss: privacy.PureLoss(someEpsilon(t)),
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
	w := newTwins(t, "add-remove", [2]string{rest, rest + people(160.0025)}, [2]string{"", somebodys})
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
		r := w.replay(t, seed, func(c *Curator) ([]*big.Int, error) {
			m, err := c.Smooth(t.Context(), Question{SQL: sql, Epsilon: fmt.Sprint(epsilon), Fresh: true})
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
