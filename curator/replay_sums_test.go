package curator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/plan"
	"dither/mechanism"
)

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
	r := w.replay(t, seed, func(c *Owner) (numbers []*big.Int, err error) {
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
		if strings.HasPrefix(relation, "change-one") && q.elsewhere == "north" {
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

// persons are the questions of survival curves where a person has several rows, as package cli/statistics writes them: each
// person is in one cell, at the first event or at the last time, in the least of the person's groups.
var persons = []string{
	"SELECT COALESCE(first_event, last_time), CASE WHEN first_event IS NULL THEN 0 ELSE 1 END, COUNT(*) FROM (SELECT person, " +
		"MIN(CASE WHEN (day = 'fri'\n) THEN cost END) AS first_event, MAX(cost) AS last_time FROM visits WHERE ((day = 'fri'\n) " +
		"IS NOT NULL\n) GROUP BY person) AS lives GROUP BY COALESCE(first_event, last_time), CASE WHEN first_event IS NULL THEN " +
		"0 ELSE 1 END",
	"SELECT person_group, LEAST(WIDTH_BUCKET(COALESCE(first_event, last_time), 0.0, 10.0, 4), 4), CASE WHEN first_event IS NULL " +
		"THEN 0 ELSE 1 END, COUNT(*) FROM (SELECT person, MIN(CASE WHEN (cost > 5\n) THEN cost END) AS first_event, MAX(cost) AS " +
		"last_time, MIN(day) AS person_group FROM visits WHERE ((cost < 11\n) AND (cost > 5\n) IS NOT NULL\n) GROUP BY person) AS " +
		"lives GROUP BY person_group, LEAST(WIDTH_BUCKET(COALESCE(first_event, last_time), 0.0, 10.0, 4), 4), CASE WHEN " +
		"first_event IS NULL THEN 0 ELSE 1 END",
}

// The counts of persons: the same reads, charges and records for a person with more rows than count elsewhere. One person is one
// row of one cell, so the counts move by 1 if the person is added, and by 1 in each of two cells if it is another.
func TestReplayPersons(t *testing.T) {
	for relation, s := range map[string]struct {
		terms  homeTerms
		visits [2]string
		moved  int64
	}{
		"add-remove":       {pureTerms, [2]string{"", somebodys}, 1},
		"change-one":       {changeTerms, [2]string{anothers, somebodys}, 2},
		"add-remove, zCDP": {zcdpTerms, [2]string{"", somebodys}, 1},
		"change-one, zCDP": {bothTerms, [2]string{anothers, somebodys}, 2},
		"groups are kept":  {cappedTerms, [2]string{anothers, somebodys}, 2},
	} {
		w := newTwins(t, s.terms, [2]string{another, somebody}, s.visits)
		for i, sql := range persons {
			name := relation + ": " + sql
			vectors := w.measured(t, name, byte(i), sql, "")
			if len(vectors) != 1 {
				t.Fatalf("%s: %d vectors", name, len(vectors))
			}
			v, want := vectors[0], big.NewRat(s.moved, 1)
			if err := v.apart.Within(v.allowed); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if v.apart.L1.Cmp(want) != 0 || v.allowed.L1.Cmp(want) != 0 || v.allowed.L2Squared.Cmp(want) != 0 {
				t.Errorf("%s: apart by %s, planned %s, squared L2 %s; want %s", name, v.apart.L1, v.allowed.L1, v.allowed.L2Squared, want)
			}
			less := new(big.Rat).Sub(v.allowed.L1, big.NewRat(1, 1))
			if err := v.apart.Within(audit.Distances{L1: less}); !errors.Is(err, audit.ErrApart) {
				t.Errorf("%s: a sensitivity that is one too small: %v", name, err)
			}
		}
	}
}

// Caps by groups under change-one and ρ: of one person five groups are more than count, and of the other two are attained, with values of
// opposite signs, so that the squared L2 sensitivity is four times that of adding the person.
func TestReplayCapped(t *testing.T) {
	const most, least = "4,0,mon\n4,0,tue\n", "4,10,mon\n4,10,tue\n"
	const signed = "SELECT day, SUM(5 - cost) FROM visits GROUP BY day"
	for name, s := range map[string]struct {
		visits   [2]string
		attained bool
		sql      string
		allowed  [2]int64
	}{
		"two groups":  {[2]string{least, most}, true, signed, [2]int64{20, 100 * 2}},
		"more groups": {[2]string{"4,10,mon\n4,10,tue\n4,10,wed\n4,10,thu\n4,10,fri\n", "4,0,mon\n4,0,tue\n4,0,wed\n4,0,thu\n4,0,fri\n"}, false, signed, [2]int64{20, 100 * 2}},
		"more rows":   {[2]string{least + "4,10,mon\n4,10,mon\n", most + "4,0,tue\n4,0,tue\n"}, true, signed, [2]int64{20, 100 * 2}},
		"counts":      {[2]string{"4,1,mon\n4,1,tue\n4,1,wed\n", "4,1,fri\n4,1,fri\n4,1,thu\n"}, true, "SELECT day, COUNT(*) FROM visits GROUP BY day", [2]int64{4, 4}},
		"of people":   {[2]string{"4,1,mon\n4,1,tue\n4,1,wed\n", "4,1,fri\n4,1,fri\n4,1,thu\n"}, true, "SELECT day, COUNT(DISTINCT person) FROM visits GROUP BY day", [2]int64{4, 4}},
	} {
		w := newTwins(t, cappedTerms, [2]string{another, somebody}, s.visits)
		for seed := range byte(1) {
			v := w.measured(t, name, seed, s.sql, "")[0]
			if v.measure.L1.Int64() != s.allowed[0] || v.measure.L2Squared.Int64() != s.allowed[1] {
				t.Errorf("%s: planned L1 %s, squared L2 %s; want %v", name, v.measure.L1, v.measure.L2Squared, s.allowed)
			}
			if err := v.apart.Within(v.allowed); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if s.attained && (v.apart.L1.Cmp(v.allowed.L1) != 0 || v.apart.L2Squared.Cmp(v.allowed.L2Squared) != 0) {
				t.Errorf("%s: apart by %v in L1, %v in squared L2, of %v", name, v.apart.L1, v.apart.L2Squared, s.allowed)
			}
		}
	}
}

// loose is an engine with an edit of what it is asked, as a defect would make it.
type loose struct {
	engine.Engine
	edit func(*bounded.Statement)
}

func (l loose) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	wrong := *b
	l.edit(&wrong)
	return l.Engine.Aggregate(ctx, &wrong, from)
}

// A replay can fail: a cap on rows that is not kept, a WHERE that is forgotten after the sensitivity was fixed, and randomness
// that is read where rows are many, are each told, by what they are.
func TestReplayTells(t *testing.T) {
	w := newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys})
	works := [2]engine.Engine{*inside(w[0]).Engine, *inside(w[1]).Engine}
	with := func(edit func(*bounded.Statement)) {
		for side, c := range w {
			*inside(c).Engine = loose{works[side], edit}
		}
	}
	with(func(b *bounded.Statement) { b.Caps.Rows = 5 })
	const capped = "SELECT COUNT(*) FROM visits"
	if v := w.measured(t, "no cap", 1, capped, "")[0]; !errors.Is(v.apart.Within(v.allowed), audit.ErrApart) || v.apart.L1.Cmp(big.NewRat(5, 1)) != 0 {
		t.Errorf("a cap that is not kept: %v of %v", v.apart.L1, v.allowed.L1)
	}
	with(func(*bounded.Statement) {})
	if v := w.measured(t, "the cap", 1, capped, "")[0]; v.apart.Within(v.allowed) != nil || v.apart.L1.Cmp(big.NewRat(3, 1)) != 0 {
		t.Errorf("a cap that is kept: %v of %v", v.apart.L1, v.allowed.L1)
	}
	r := w.replay(t, 2, func(c *Owner) ([]*big.Int, error) {
		*inside(c).Engine = works[audit.Data]
		if c == w[audit.Neighbor] {
			*inside(c).Engine = during{works[audit.Neighbor], func() { _, _ = rand.Read(make([]byte, 1)) }}
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
	r = w.replay(t, 3, func(c *Owner) ([]*big.Int, error) {
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
		r := w.replay(t, byte(i), func(c *Owner) (numbers []*big.Int, err error) {
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
		r := w.replay(t, byte(i), func(c *Owner) (numbers []*big.Int, err error) {
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
