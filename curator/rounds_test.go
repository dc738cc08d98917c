package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"dither/mechanism/linear"
)

const (
	roundsSQL  = "SELECT COUNT(*) FROM visits GROUP BY day, cost > 5"
	roundsCase = "DITHER_ROUNDS_CRASH"
)

// roundsRequest asks about the two marginals of one key, the marginal of both, and the total.
func roundsRequest(steps int) RoundsRequest {
	return RoundsRequest{
		Request: Request{SQL: roundsSQL}, Candidates: [][]int{{0}, {1}, {1, 0}, nil}, Steps: steps,
	}
}

// optionsOf scores the first three candidates against tables that hold one number in each cell.
func optionsOf(each int64) (out []Option) {
	for c, n := range []int{5, 2, 10} {
		d := linear.Distance{Weight: 1 + int64(c), Scale: 2, Penalty: 3, Table: make([]int64, n)}
		for i := range d.Table {
			d.Table[i] = each
		}
		out = append(out, Option{Candidate: c, Score: d})
	}
	return out
}

// priced is a request whose price pays for 8 steps.
func (with homeTerms) rounds(steps int) (q RoundsRequest, step StepPrice) {
	q = roundsRequest(steps)
	if with == pureTerms {
		q.Epsilon, step.Epsilon = "2", "1/4"
		step.Epsilon = "0.25"
		return q, step
	}
	q.Rho, step.Rho = "0.5", "0.0625"
	return q, step
}

// takenSteps runs a select, a measurement, another select, and a measurement of two, and describes what they return.
func takenSteps(t testing.TB, r *Rounds, step StepPrice) (out []string) {
	t.Helper()
	for i := range 2 {
		s, err := r.Select(t.Context(), optionsOf(int64(i)), step)
		if err != nil {
			t.Fatal(err)
		}
		of := []int{s.Candidate}
		if i == 1 && s.Candidate != 3 {
			of = append(of, 3)
		}
		m, err := r.Measure(t.Context(), of, step)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(s.Candidate))
		for _, part := range m {
			out = append(out, fmt.Sprint(part.Values))
		}
	}
	return out
}

// Rounds are paid before the first step. The same request returns its steps again, free: midway, and after the end.
// No two processes run them at once.
func TestRounds(t *testing.T) {
	for name, terms := range map[string]homeTerms{"pure": pureTerms, "zCDP": zcdpTerms} {
		t.Run(name, func(t *testing.T) {
			c := terms.alone(t)
			q, step := terms.rounds(6)
			e, err := c.ExplainRounds(t.Context(), q)
			if err != nil || !e.Affordable || fmt.Sprint(e.Cells) != "[5 2 10 1]" || spent(t, c) != "0" {
				t.Fatalf("%+v, %v", e, err)
			}
			r := must[*Rounds](t)(c.Rounds(t.Context(), q))
			paid := spent(t, c)
			if paid == "0" || r.Recorded != 0 {
				t.Fatalf("%s is spent, and %d steps are recorded", paid, r.Recorded)
			}
			first := takenSteps(t, r, step)
			if _, err := c.Rounds(t.Context(), q); codeOf(err) != CodeHome {
				t.Errorf("two at a time: %v", err)
			}
			must[struct{}](t)(struct{}{}, r.Close())
			if _, err := r.Measure(t.Context(), []int{0}, step); codeOf(err) != CodeUsage {
				t.Errorf("after its end: %v", err)
			}
			again := must[*Rounds](t)(c.Rounds(t.Context(), q))
			if again.ID != r.ID || again.Recorded != 4 {
				t.Fatalf("%s with %d steps, after %s", again.ID, again.Recorded, r.ID)
			}
			if got := takenSteps(t, again, step); fmt.Sprint(got) != fmt.Sprint(first) {
				t.Errorf("%v, and then %v", first, got)
			}
			last := must[[]MeasuredMarginal](t)(again.Measure(t.Context(), []int{3}, step))
			if last[0].Replayed || len(last[0].Values) != 1 {
				t.Errorf("a new step: %+v", last)
			}
			must[struct{}](t)(struct{}{}, again.Finish())
			done := must[*Rounds](t)(c.Rounds(t.Context(), q))
			if got := takenSteps(t, done, step); fmt.Sprint(got) != fmt.Sprint(first) {
				t.Errorf("%v, and after the end %v", first, got)
			}
			same := must[[]MeasuredMarginal](t)(done.Measure(t.Context(), []int{3}, step))
			if !same[0].Replayed || same[0].Values[0].Cmp(last[0].Values[0]) != 0 {
				t.Errorf("%+v, and then %+v", last, same)
			}
			if _, err := done.Measure(t.Context(), []int{2}, step); codeOf(err) != CodeUsage {
				t.Errorf("a new step after the end: %v", err)
			}
			if got := spent(t, c); got != paid {
				t.Errorf("%s is spent, and %s was paid", got, paid)
			}
			must[struct{}](t)(struct{}{}, done.Close())
			q.Fresh = true
			fresh := must[*Rounds](t)(c.Rounds(t.Context(), q))
			if fresh.ID == r.ID || fresh.Recorded != 0 || spent(t, c) == paid {
				t.Errorf("fresh: %s with %d steps", fresh.ID, fresh.Recorded)
			}
		})
	}
}

// A recorded step is returned only for its own parameters.
func TestRoundsRefuseOtherSteps(t *testing.T) {
	c := pureTerms.alone(t)
	q, step := pureTerms.rounds(8)
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	must[*SelectedMarginal](t)(r.Select(t.Context(), optionsOf(1), step))
	must[struct{}](t)(struct{}{}, r.Close())
	r = must[*Rounds](t)(c.Rounds(t.Context(), q))
	heavier, scaled, offset := optionsOf(1), optionsOf(1), optionsOf(1)
	heavier[0].Score.Weight++
	scaled[1].Score.Scale++
	offset[2].Score.Penalty++
	for name, of := range map[string][]Option{
		"another table": optionsOf(2), "another weight": heavier, "another scale": scaled, "another penalty": offset,
		"fewer options": optionsOf(1)[:2],
	} {
		if _, err := r.Select(t.Context(), of, step); codeOf(err) != CodeUsage || !errors.Is(err, ErrOtherStep) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Select(t.Context(), optionsOf(1), StepPrice{Epsilon: "0.2"}); codeOf(err) != CodeUsage {
		t.Errorf("another price: %v", err)
	}
	if _, err := r.Measure(t.Context(), []int{0}, step); codeOf(err) != CodeUsage {
		t.Errorf("a measurement: %v", err)
	}
	if s, err := r.Select(t.Context(), optionsOf(1), step); err != nil || !s.Replayed {
		t.Errorf("the same step: %+v, %v", s, err)
	}
}

// The prices of steps never add up to more than the whole price, and a run has no more steps than were requested.
func TestRoundsStayWithinTheirPrice(t *testing.T) {
	for name, terms := range map[string]homeTerms{"pure": pureTerms, "zCDP": zcdpTerms} {
		c := terms.alone(t)
		q, step := terms.rounds(9)
		r := must[*Rounds](t)(c.Rounds(t.Context(), q))
		for i := range 8 {
			var err error
			if i%2 == 0 {
				_, err = r.Select(t.Context(), optionsOf(int64(i)), step)
			} else {
				_, err = r.Measure(t.Context(), []int{i % 4, 0}, step)
			}
			if err != nil {
				t.Fatal(name, i, err)
			}
		}
		tiny := StepPrice{Epsilon: "0.000001"}
		for _, price := range []StepPrice{step, tiny} {
			_, measured := r.Measure(t.Context(), []int{0}, price)
			_, selected := r.Select(t.Context(), optionsOf(0), price)
			for _, err := range []error{measured, selected} {
				if codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "together") {
					t.Errorf("%s: a ninth step at %v: %v", name, price, err)
				}
			}
		}
		must[struct{}](t)(struct{}{}, r.Close())
		q.Steps = 2
		short := must[*Rounds](t)(c.Rounds(t.Context(), q))
		for range 2 {
			must[[]MeasuredMarginal](t)(short.Measure(t.Context(), []int{1}, step))
		}
		if _, err := short.Measure(t.Context(), []int{1}, step); codeOf(err) != CodeUsage {
			t.Errorf("%s: a third of two steps: %v", name, err)
		}
	}
}

// Hostile requests and steps are refused before anything is charged or drawn, and leave the rounds as they were.
func TestRoundsRefuse(t *testing.T) {
	c := pureTerms.alone(t)
	with := func(change func(*RoundsRequest)) RoundsRequest {
		q, _ := pureTerms.rounds(8)
		change(&q)
		return q
	}
	for name, q := range map[string]RoundsRequest{
		"no candidates":  with(func(q *RoundsRequest) { q.Candidates = nil }),
		"too many":       with(func(q *RoundsRequest) { q.Candidates = make([][]int, 10_001) }),
		"no such key":    with(func(q *RoundsRequest) { q.Candidates = [][]int{{2}} }),
		"a negative key": with(func(q *RoundsRequest) { q.Candidates = [][]int{{-1}} }),
		"a key twice":    with(func(q *RoundsRequest) { q.Candidates = [][]int{{0, 0}} }),
		"a huge one":     with(func(q *RoundsRequest) { q.Candidates = [][]int{make([]int, 500)} }),
		"many cells": with(func(q *RoundsRequest) {
			q.SQL, q.Candidates = "SELECT COUNT(*) FROM people GROUP BY age, region", nil
			for range 9000 {
				q.Candidates = append(q.Candidates, []int{0, 1})
			}
		}),
		"no steps":       with(func(q *RoundsRequest) { q.Steps = 0 }),
		"too many steps": with(func(q *RoundsRequest) { q.Steps = 10_001 }),
		"unknown keys":   with(func(q *RoundsRequest) { q.SQL = "SELECT COUNT(*) FROM visits GROUP BY person" }),
		"an average":     with(func(q *RoundsRequest) { q.SQL = "SELECT AVG(cost) FROM visits GROUP BY day, cost > 5" }),
		"two prices":     with(func(q *RoundsRequest) { q.Rho = "1" }),
	} {
		_, err := c.Rounds(t.Context(), q)
		if codeOf(err) != CodePolicy && codeOf(err) != CodeUsage {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := c.ExplainRounds(t.Context(), q); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: explained, it says %v", name, again)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Fatalf("refusals cost %s", got)
	}
	q, step := pureTerms.rounds(8)
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	changed := func(change func(o []Option)) []Option {
		o := optionsOf(0)
		change(o)
		return o
	}
	for name, o := range map[string][]Option{
		"no options":       nil,
		"no such one":      changed(func(o []Option) { o[0].Candidate = 4 }),
		"a negative one":   changed(func(o []Option) { o[0].Candidate = -1 }),
		"one twice":        changed(func(o []Option) { o[1] = o[0] }),
		"a short table":    changed(func(o []Option) { o[0].Score.Table = o[0].Score.Table[1:] }),
		"a huge table":     changed(func(o []Option) { o[0].Score.Table = make([]int64, 1<<20) }),
		"a negative scale": changed(func(o []Option) { o[0].Score.Scale = -1 }),
		"no weight":        changed(func(o []Option) { o[0].Score.Weight = 0 }),
		"a large weight":   changed(func(o []Option) { o[0].Score.Weight = 1 << 62 }),
		"a large entry":    changed(func(o []Option) { o[0].Score.Table[0] = -1 << 63 }),
		"a large penalty":  changed(func(o []Option) { o[0].Score.Penalty = 1 << 62 }),
	} {
		if _, err := r.Select(t.Context(), o, step); codeOf(err) != CodePolicy && codeOf(err) != CodeUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, of := range map[string][]int{"none": nil, "no such one": {7}, "one twice": {1, 1}} {
		if _, err := r.Measure(t.Context(), of, step); codeOf(err) != CodePolicy && codeOf(err) != CodeUsage {
			t.Errorf("measure %s: %v", name, err)
		}
	}
	for name, price := range map[string]StepPrice{
		"none": {}, "zero": {Epsilon: "0"}, "negative": {Epsilon: "-1"}, "in rho": {Rho: "0.1"}, "too much": {Epsilon: "2.1"},
	} {
		_, measured := r.Measure(t.Context(), []int{0}, price)
		_, selected := r.Select(t.Context(), optionsOf(0), price)
		for _, err := range []error{measured, selected} {
			if codeOf(err) != CodePolicy && codeOf(err) != CodeUsage {
				t.Errorf("a price that is %s: %v", name, err)
			}
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Measure(stopped, []int{0}, step); codeOf(err) != CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
	if m, err := r.Measure(t.Context(), []int{0}, step); err != nil || m[0].Replayed || r.rounds.Recorded() != 1 {
		t.Errorf("after the refusals: %+v, %v", m, err)
	}
}

// A measured marginal is that of the same strategy: the noise is drawn from the same randomness.
func TestRoundsMeasureTheMarginals(t *testing.T) {
	for name, terms := range map[string]homeTerms{"pure": pureTerms, "zCDP": zcdpTerms} {
		c := terms.alone(t)
		q, step := terms.rounds(3)
		if terms == zcdpTerms { // a question on its own has a minimum price
			q.Rho, step.Rho = "1.5", "0.5"
		}
		r := must[*Rounds](t)(c.Rounds(t.Context(), q))
		for candidate, cells := range []int{5, 2, 10} {
			got := drawnFrom(11, func() []MeasuredMarginal {
				return must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{candidate}, step))
			})
			queries := must[linear.Strategy](t)(linear.NewStrategy(linear.Product{linear.Identity(cells)}))
			want := drawnFrom(11, func() *StrategyMeasurement {
				return must[*StrategyMeasurement](t)(c.MeasureStrategy(t.Context(), Strategy{
					Request: Request{SQL: roundsSQL, Epsilon: step.Epsilon, Rho: step.Rho, Fresh: true},
					Parts:   []StrategyPart{{Keys: q.Candidates[candidate], Queries: queries}},
				}))
			}).Parts[0]
			if fmt.Sprint(got[0].Values) != fmt.Sprint(want.Values) || got[0].Sensitivity != want.Sensitivity || got[0].Loss != want.Loss {
				t.Errorf("%s: %+v, and as a strategy %+v", name, got[0], want)
			}
		}
	}
}

// A selection finds the candidate that is furthest from its table, if its price is high.
func TestRoundsSelectTheFurthest(t *testing.T) {
	c := homeTerms{"add-remove", "epsilon: 1000", "price: {default: 1, maximum: 1000}\n", pureTerms.caps}.alone(t)
	q := roundsRequest(9)
	q.Epsilon = "900"
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	for i, want := range []int{1, 0, 2} {
		options := optionsOf(0)
		for c := range options {
			options[c].Score.Weight, options[c].Score.Penalty = 1, 0
		}
		options[want].Score.Table[0] = -100 * int64(i+1)
		if s, err := r.Select(t.Context(), options, StepPrice{Epsilon: "250"}); err != nil || s.Option != want {
			t.Errorf("%+v, %v, want %d", s, err, want)
		}
	}
}

// Sequences of random steps: neighbours write the same ledger, up to the numbers, and no measured marginals are
// further apart than their sensitivity. Some are as far.
func TestReplayRounds(t *testing.T) {
	for _, of := range []struct {
		neighbours string
		visits     [2]string
		people     [2]string
	}{
		{"add-remove", [2]string{somebodys, ""}, [2]string{somebody, ""}},
		{"change-one", [2]string{somebodys, strings.Repeat("9,9,thu\n", 5)}, [2]string{somebody, another}},
	} {
		terms := pureTerms
		terms.neighbours = of.neighbours
		w := newTwins(t, terms, of.people, of.visits)
		random, attained := rand.New(rand.NewPCG(31, 32)), 0
		sequences := 2
		if os.Getenv("DITHER_LONG") != "" {
			sequences = 40
		}
		for i := range sequences {
			q, step := pureTerms.rounds(8)
			q.Fresh = true
			seed := random.Uint64()
			var measured []MeasuredMarginal
			taken := 0
			moved := w.replay(t, byte(i), func(c *Owner) (numbers []*big.Int, err error) {
				r, err := c.Rounds(t.Context(), q)
				if err != nil {
					return nil, err
				}
				defer func() { _ = r.Close() }()
				measured, taken = nil, 0
				plan := rand.New(rand.NewPCG(seed, 1))
				for range 1 + plan.IntN(6) {
					taken++
					if plan.IntN(2) == 0 {
						if _, err := r.Select(t.Context(), optionsOf(plan.Int64N(9)), step); err != nil {
							return nil, err
						}
						continue
					}
					m, err := r.Measure(t.Context(), plan.Perm(4)[:1+plan.IntN(3)], step)
					if err != nil {
						return nil, err
					}
					for _, part := range m {
						measured, numbers = append(measured, part), append(numbers, part.Values...)
					}
				}
				return numbers, nil
			})
			kinds := []string{"reserve"}
			for range taken {
				kinds = append(kinds, "step")
			}
			sameLedger(t, of.neighbours, moved, kinds...)
			x, y := moved.Data.Output, moved.Neighbor.Output
			for _, part := range measured {
				l1 := new(big.Rat)
				for range part.Values {
					d := new(big.Rat).Sub(x[0], y[0])
					l1.Add(l1, d.Abs(d))
					x, y = x[1:], y[1:]
				}
				most := new(big.Rat).SetFloat64(part.Sensitivity.L1)
				if l1.Cmp(most) > 0 {
					t.Errorf("%s: candidate %d: apart by %s, planned %s", of.neighbours, part.Candidate, l1.FloatString(0), most.FloatString(0))
				}
				if l1.Cmp(most) == 0 {
					attained++
				}
			}
		}
		if attained == 0 {
			t.Errorf("%s: no sensitivity is attained: these pairs show little", of.neighbours)
		}
	}
}

// A process that is killed at any point of a step loses nothing: the rounds continue, and what was told is told again.
func TestRoundsSurviveACrash(t *testing.T) {
	if home := os.Getenv(roundsCase + "_HOME"); home != "" {
		takeUntilKilled(t, home)
		return
	}
	c := pureTerms.alone(t)
	home := c.home
	q, step := pureTerms.rounds(6)
	var before []string
	for i, at := range []string{"reserved", "drawn", "recorded", "drawn", "recorded"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRoundsSurviveACrash$")
		cmd.Env = append(os.Environ(), roundsCase+"="+at, roundsCase+"_HOME="+home)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%s: %v\n%s", at, err, out)
		}
		var told []string
		for line := range strings.Lines(string(out)) {
			if rest, ok := strings.CutPrefix(line, "told "); ok {
				told = append(told, rest)
			}
		}
		if len(told) < len(before) || fmt.Sprint(told[:len(before)]) != fmt.Sprint(before) {
			t.Errorf("crash %d at %s: told %q, and before %q", i+1, at, told, before)
		}
		before = told
	}
	c = openHome(t, home)
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	if r.Recorded != 2 || spent(t, c) != "2" {
		t.Errorf("%d steps are recorded, and %s is spent", r.Recorded, spent(t, c))
	}
	takenSteps(t, r, step)
}

// takeUntilKilled takes steps, and kills itself at a point of the first step that is not recorded yet.
func takeUntilKilled(t *testing.T, home string) {
	q, step := pureTerms.rounds(6)
	at := os.Getenv(roundsCase)
	*inside(nil).CrashPoint = func(point string) {
		if point == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	r := must[*Rounds](t)(openHome(t, home).Rounds(t.Context(), q))
	for i := range 2 {
		s := must[*SelectedMarginal](t)(r.Select(t.Context(), optionsOf(int64(i)), step))
		fmt.Println("told", s.Candidate)
		m := must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{s.Candidate}, step))
		fmt.Println("told", m[0].Values)
	}
}
