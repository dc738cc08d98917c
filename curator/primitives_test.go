package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/linear"
	"dither/privacy"
)

// once is one of the kernel's primitives on the test home, as a call that gives its identity, what it released, and whether
// it was released before.
type once struct {
	name string
	call func(ctx context.Context, c *Owner, sql string, q Question) (id string, released any, replayed bool, err error)
	sql  string
}

func primitives() []once {
	return []once{
		{"measure", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			m, err := c.Measure(ctx, q)
			if err != nil {
				return "", nil, false, err
			}
			var numbers []string
			for _, v := range m.Vectors {
				for _, n := range v.Values {
					numbers = append(numbers, n.String())
				}
			}
			return m.ID, strings.Join(numbers, " "), m.Replayed, nil
		}, countSQL},
		{"select", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			s, err := c.Select(ctx, Selection{Request: requested(q)})
			if err != nil {
				return "", nil, false, err
			}
			return s.ID, s.Best[0].Group[0], s.Replayed, nil
		}, countSQL},
		{"rank", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			r, err := c.Rank(ctx, Quantiles{Request: requested(q), At: []string{"0.1", "0.50"}})
			if err != nil {
				return "", nil, false, err
			}
			return r.ID, r.Values[0].String() + " " + r.Values[1].String(), r.Replayed, nil
		}, "SELECT age FROM people"},
		{"smooth", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			m, err := c.Smooth(ctx, requested(q))
			if err != nil {
				return "", nil, false, err
			}
			return m.ID, m.Value.String(), m.Replayed, nil
		}, "SELECT height FROM people"},
		{"moments", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			m, err := c.Moments(ctx, Vectors{Request: requested(q), Blocks: []Block{{2, L2, "200"}}, Sums: []Sum{Count(), First(0), Product(0, 0).Weighing("2.0")}})
			if err != nil {
				return "", nil, false, err
			}
			return m.ID, fmt.Sprint(m.Sums[0].Values, m.Sums[1].Values, m.Sums[2].Values), m.Replayed, nil
		}, "SELECT age, height FROM people"},
		{"strategies", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			domain, err := c.Domain(ctx, requested(q))
			if err != nil {
				return "", nil, false, err
			}
			queries, err := linear.NewStrategy(linear.Product{linear.Centred(len(domain.Values[0]))})
			if err != nil {
				return "", nil, false, err
			}
			total, err := linear.NewStrategy(linear.Product{linear.Total(1)})
			if err != nil {
				return "", nil, false, err
			}
			m, err := c.MeasureStrategy(ctx, Strategy{Request: requested(q), Parts: []StrategyPart{{Keys: []int{0}, Queries: queries}, {Queries: total, Weight: 2}}})
			if err != nil {
				return "", nil, false, err
			}
			return m.ID, fmt.Sprint(m.Parts[0].Values, m.Parts[1].Values), m.Replayed, nil
		}, countSQL},
		{"minimize", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			m, err := c.Minimize(ctx, Minimisation{Request: requested(q), Loss: LogisticLoss, Bound: "120", Radius: "2", Regularise: "30", Rows: 4, Curvature: "0.2"})
			if err != nil {
				return "", nil, false, err
			}
			numbers := slices.Concat(m.Coefficients.Values, m.Hessian.Values, m.Products.Values)
			return m.ID, fmt.Sprint(numbers), m.Replayed, nil
		}, "SELECT age, 1, age > 50 FROM people"},
		{"derivatives", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			m, err := c.Derivatives(ctx, Derivation{Request: requested(q), At: []string{"0.01", "-0.5"}, Hessian: "0.2"})
			if err != nil {
				return "", nil, false, err
			}
			return m.ID, fmt.Sprint(slices.Concat(m.Gradient.Values, m.Hessian.Values)), m.Replayed, nil
		}, "SELECT age, 1, age > 50 FROM people"},
		{"perturb", func(ctx context.Context, c *Owner, sql string, q Question) (string, any, bool, error) {
			q.SQL = sql
			m, err := c.Perturb(ctx, Perturbation{
				Request: requested(q), Bound: "1.5", Radius: "2", Regularise: "1000", Rows: 100_000, Hessian: "0.2",
			})
			if err != nil {
				return "", nil, false, err
			}
			return m.ID, fmt.Sprint(slices.Concat(m.Coefficients.Values, m.Hessian.Values)), m.Replayed, nil
		}, "SELECT age / 115.0, 1, age > 50 FROM people"},
	}
}

// Every primitive charges its price before the engine looks, and keeps it where the engine fails; gives the same again, free, after
// the home is opened anew; and is refused free where the budget is gone.
func TestPrimitivesChargeFirst(t *testing.T) {
	for _, p := range primitives() {
		t.Run(p.name, func(t *testing.T) {
			home := newHome(t)
			c := openHome(t, home)
			id, released, replayed, err := p.call(t.Context(), c, p.sql, Question{})
			if err != nil || replayed {
				t.Fatal(replayed, err)
			}
			if got := spent(t, c); got != "0.1" {
				t.Errorf("spent %s, want the default price", got)
			}
			again, same, replayed, err := p.call(t.Context(), openHome(t, home), strings.Replace(p.sql, "SELECT", "select ", 1), Question{Epsilon: "0.1"})
			if err != nil || !replayed || again != id || same != released {
				t.Errorf("again: %s %v %v, %v; want %s %v", again, same, replayed, err, id, released)
			}
			fresh, _, replayed, err := p.call(t.Context(), c, p.sql, Question{Fresh: true})
			if err != nil || replayed || fresh == id {
				t.Errorf("fresh: %s %v %v", fresh, replayed, err)
			}
			works, during := *inside(c).Engine, ""
			*inside(c).Engine = failing{func() { during = spent(t, c) }}
			var e *Error
			if _, _, _, err := p.call(t.Context(), c, p.sql, Question{Epsilon: "0.25"}); !errors.As(err, &e) || e.Code != CodeFailed || !e.Charged {
				t.Errorf("a failure: %v", err)
			}
			if during != "0.45" || spent(t, c) != "0.45" {
				t.Errorf("spent %s while the engine ran, %s after, want .45", during, spent(t, c))
			}
			*inside(c).Engine = untried{}
			if _, _, _, err := p.call(t.Context(), c, p.sql, Question{Epsilon: "0.26"}); codeOf(err) != CodePolicy {
				t.Errorf("a rehearsal that failed: %v", err)
			}
			*inside(c).Engine = works
			if _, _, _, err := p.call(t.Context(), c, p.sql, Question{Epsilon: "0.49"}); err != nil {
				t.Error(err)
			}
			if _, _, _, err := p.call(t.Context(), c, p.sql, Question{Epsilon: "0.07"}); codeOf(err) != CodeExhausted {
				t.Errorf("beyond the budget: %v", err)
			}
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, _, err := p.call(cancelled, c, p.sql, Question{Epsilon: "0.02"}); codeOf(err) != CodeCancelled {
				t.Errorf("cancelled: %v", err)
			}
			if got := spent(t, c); got != "0.94" {
				t.Errorf("spent %s, want .94", got)
			}
		})
	}
}

// What a primitive cannot do is refused, with a reason, before anything is charged.
func TestPrimitivesRefuse(t *testing.T) {
	c := openHome(t, newHome(t))
	choose := func(s Selection) func() error {
		return func() error { _, err := c.Select(t.Context(), s); return err }
	}
	rank := func(sql string, at ...string) func() error {
		return func() error {
			_, err := c.Rank(t.Context(), Quantiles{Request: Request{SQL: sql}, At: at})
			return err
		}
	}
	above := func(x Threshold) func() error {
		return func() error { _, err := c.Above(t.Context(), x); return err }
	}
	byRegion := Request{SQL: countSQL}
	for name, bad := range map[string]struct {
		try  func() error
		code Code
		says string
	}{
		"no groups":            {choose(Selection{Request: Request{SQL: "SELECT COUNT(*) FROM people"}}), CodePolicy, "nothing to choose"},
		"an average":           {choose(Selection{Request: Request{SQL: "SELECT region, AVG(age) FROM people GROUP BY region"}}), CodePolicy, "count or sum"},
		"more than there are":  {choose(Selection{Request: byRegion, Best: 4}), CodeUsage, "4 cannot be chosen"},
		"fewer than none":      {choose(Selection{Request: byRegion, Best: -1}), CodeUsage, "cannot be chosen"},
		"no such mechanism":    {choose(Selection{Request: byRegion, Mechanism: "coin"}), CodeUsage, "no mechanism"},
		"two by flipping":      {choose(Selection{Request: byRegion, Best: 2, Mechanism: PermuteAndFlip}), CodeUsage, "no mechanism"},
		"a price of nothing":   {choose(Selection{Request: Request{SQL: countSQL, Epsilon: "0"}}), CodeUsage, "above 0"},
		"a price too high":     {choose(Selection{Request: Request{SQL: countSQL, Epsilon: "0.6"}}), CodePolicy, "maximum"},
		"rho of a pure budget": {choose(Selection{Request: Request{SQL: countSQL, Rho: "0.1"}}), CodeUsage, "rho"},
		"a confidence of 1":    {choose(Selection{Request: Request{SQL: countSQL}, Confidence: "1"}), CodeUsage, "confidence"},
		"no such quantiles": {func() error {
			_, err := c.Rank(t.Context(), Quantiles{Request: Request{SQL: "SELECT age FROM people"}, At: []string{"0.5"}, Mechanism: "guess"})
			return err
		}, CodeUsage, "guess"},
		"no quantiles":        {rank("SELECT age FROM people"), CodeUsage, "between 1 and 100"},
		"falling quantiles":   {rank("SELECT age FROM people", "0.5", "0.25"), CodeUsage, "0.25"},
		"a quantile of 2":     {rank("SELECT age FROM people", "2"), CodeUsage, "2"},
		"a quantile of NaN":   {rank("SELECT age FROM people", "NaN"), CodeUsage, "NaN"},
		"a quantile too fine": {rank("SELECT age FROM people", "0.123456789"), CodePolicy, "denominator"},
		"text in order":       {rank("SELECT region FROM people", "0.5"), CodePolicy, "number"},
		"groups in order":     {rank("SELECT age FROM people GROUP BY age", "0.5"), CodePolicy, "no GROUP BY"},
		"an aggregate":        {rank("SELECT COUNT(*) FROM people", "0.5"), CodePolicy, "aggregate"},
		"no such table":       {above(Threshold{Table: "nobody", Threshold: "1"}), CodePolicy, "nobody"},
		"half a threshold":    {above(Threshold{Table: "people", Threshold: "1.5"}), CodeUsage, "whole number"},
		"no threshold":        {above(Threshold{Table: "people"}), CodeUsage, "whole number"},
		"a billion asked":     {above(Threshold{Table: "people", Threshold: "1", Questions: 1e9}), CodeUsage, "between 1 and 10000"},
		"a group not told":    {choose(Selection{Request: Request{SQL: "SELECT COUNT(*) FROM people GROUP BY region"}}), CodePolicy, "select it too"},
		"a billion above":     {above(Threshold{Table: "people", Threshold: "1", Above: 1e9}), CodeUsage, "between 1 and 10000"},
		"below none":          {above(Threshold{Table: "people", Threshold: "1", Above: -1}), CodeUsage, "between 1 and 10000"},
		"least":               {above(Threshold{Table: "people", Threshold: "1", Most: -1}), CodeUsage, "at least 1"},
	} {
		err := bad.try()
		if codeOf(err) != bad.code || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%s: %v, want a %s error about %q", name, err, bad.code, bad.says)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("refusals cost %s", got)
	}
}

// A stream reserves its whole price when it opens, records each verdict before it leaves, ends by itself, and refuses free what
// its price does not cover.
func TestStream(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	s, err := c.Above(t.Context(), Threshold{Table: "visits", Threshold: "-1000", Above: 2, Epsilon: "0.5", Values: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := spent(t, c); got != "0.5" {
		t.Fatalf("spent %s before the first question", got)
	}
	for sql, says := range map[string]string{
		"SELECT COUNT(*) FROM people":                             "about table",
		"SELECT person, COUNT(*) FROM visits GROUP BY person":     "",
		"SELECT SUM(cost) FROM visits":                            "by 30",
		"SELECT SUM(LEAST(cost, 1) - 1) FROM visits":              "negative values",
		"SELECT COUNT(*) / 2 FROM visits":                         "count or sum",
		"SELECT SUM(CASE WHEN cost > 1 THEN 0.5 END) FROM visits": "whole numbers",
	} {
		if _, err := s.Ask(t.Context(), sql); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want a refusal about %q", sql, err, says)
		}
	}
	for i := range 2 {
		v, err := s.Ask(t.Context(), "SELECT COUNT(*) FROM visits")
		if err != nil || !v.Above || v.Gap == nil || v.Value == nil || v.Left != 1-i {
			t.Fatalf("%+v, %v", v, err) // some 25 noise scales above
		}
	}
	if _, err := s.Ask(t.Context(), "SELECT COUNT(*) FROM visits"); codeOf(err) != CodeUsage {
		t.Errorf("after its end: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := spent(t, c); got != "0.5" {
		t.Errorf("spent %s", got)
	}
	var kinds []string
	if err := c.ledger.Entries(func(e ledger.Entry) error { kinds = append(kinds, string(e.Kind)); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(kinds[len(kinds)-3:], " "); got != "reserve step release" {
		t.Errorf("the ledger ends with %q", got)
	}
}

// A stream ends with a failure, with its table's next version, and when it is closed; what it cost stays spent.
func TestStreamEnds(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	const sql = "SELECT COUNT(*) FROM people"
	open := func() *Stream {
		s, err := c.Above(t.Context(), Threshold{Table: "people", Threshold: "100000"})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Ask(t.Context(), sql); err != nil || v.Above || v.Gap != nil {
			t.Fatalf("%+v, %v", v, err)
		}
		return s
	}
	failed, stale, closed := open(), open(), open()
	works := *inside(c).Engine
	*inside(c).Engine = failing{}
	if _, err := failed.Ask(t.Context(), sql); codeOf(err) != CodeFailed {
		t.Errorf("a failure: %v", err)
	}
	*inside(c).Engine = works
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, home, "people.csv", "age,region,height\n30,north,170.5\n")
	if _, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[*Stream]Code{failed: CodeUsage, stale: CodeStale, closed: CodeUsage} {
		if _, err := name.Ask(t.Context(), sql); codeOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if b, err := c.Budget(); err != nil || b.Spent.Epsilon != "0.3" || b.Failures != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// Under zCDP a choice by the exponential mechanism costs its bounded range, and the ε of each mechanism is the largest that
// its price pays for.
func TestPrimitivesUnderZCDP(t *testing.T) {
	rho, err := privacy.ParseRho("0.02")
	if err != nil {
		t.Fatal(err)
	}
	price := privacy.ZCDPLoss(rho, privacy.Delta{})
	target := &plan.Target{Price: price, Sensitivity: big.NewInt(1), Neighbours: privacy.AddRemove}
	target.Keys = []bounded.Key{{Values: make([]value.Value, 6)}}
	target.Measures = []*bounded.Measure{{Hi: 9}}
	for _, c := range []struct {
		mechanism string
		best      int
		epsilon   string
	}{
		{"", 1, "0.4"}, {Exponential, 1, "0.4"}, {Exponential, 4, "0.8"}, {PermuteAndFlip, 1, "0.2"}, {NoisyMax, 4, "0.2"},
	} {
		name := must[string](t)(selectorOf(target, Selection{Mechanism: c.mechanism, Best: c.best}))
		m, err := inside(nil).Selecting(target, name, c.best)
		if err != nil || m.Epsilon().String() != c.epsilon {
			t.Errorf("%s of %d: ε %v, %v; want %s", c.mechanism, c.best, m.Epsilon(), err, c.epsilon)
		}
	}
	at := []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 4)}
	for name, least := range map[string]*big.Rat{ // √(8ρ) times the root of how many choices share it
		JointQuantiles: big.NewRat(3999, 10000), RecursiveQuantiles: big.NewRat(5650, 10000), EachQuantile: big.NewRat(6928, 10000),
	} {
		costs, e, err := inside(nil).Ranking(target, name, at)
		if err != nil || e.Rat().Cmp(least) < 0 || !costs.Within(price) {
			t.Errorf("%s: ε %v costs %v, %v", name, e, costs, err)
		}
	}
}

// While questions are suspended no stream goes on; and one stream answers no more questions than it was opened for.
func TestStreamsAreBounded(t *testing.T) {
	c := openHome(t, newHome(t))
	const sql = "SELECT COUNT(*) FROM people"
	open := func(questions int) *Stream {
		s, err := c.Above(t.Context(), Threshold{Table: "people", Threshold: "100000", Epsilon: "0.01", Questions: questions})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	short := open(2)
	for i, want := range []Code{"", "", CodeUsage} {
		if v, err := short.Ask(t.Context(), sql); codeOf(err) != want || i == 1 && v.Left != 0 {
			t.Errorf("question %d of 2: %+v, %v", i+1, v, err)
		}
	}
	spare := open(0)
	works := *inside(c).Engine
	*inside(c).Engine = failing{}
	for range ledger.MaxFailures {
		if _, err := open(0).Ask(t.Context(), sql); codeOf(err) != CodeFailed {
			t.Fatal(err)
		}
	}
	*inside(c).Engine = works
	if _, err := spare.Ask(t.Context(), sql); codeOf(err) != CodeSuspended {
		t.Errorf("a stream goes on after %d failures: %v", ledger.MaxFailures, err)
	}
	if err := c.ledger.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := spare.Ask(t.Context(), sql); err != nil {
		t.Errorf("a stream after the owner has looked: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Above(cancelled, Threshold{Table: "people", Threshold: "1"}); codeOf(err) != CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
	if got := spent(t, c); got != "0.12" {
		t.Errorf("spent %s", got)
	}
}

// A verdict that cannot be recorded does not leave, and ends the stream.
func TestVerdictsLeaveOnceRecorded(t *testing.T) {
	c := openHome(t, newHome(t))
	s, err := c.Above(t.Context(), Threshold{Table: "people", Threshold: "1"})
	if err != nil {
		t.Fatal(err)
	}
	*inside(c).Engine = during{*inside(c).Engine, func() { _ = inside(c).Ledger.Release(s.stream.ID(), json.RawMessage("[]")) }} // its reservation is closed under it
	for _, want := range []Code{CodeLedger, CodeUsage} {
		if v, err := s.Ask(t.Context(), "SELECT COUNT(*) FROM people"); v != nil || codeOf(err) != want {
			t.Errorf("%+v, %v; want %s", v, err, want)
		}
	}
}

// during is an engine while which something else happens.
type during struct {
	engine.Engine
	what func()
}

func (d during) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	d.what()
	return d.Engine.Rows(ctx, b, from, into)
}

func (d during) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	d.what()
	return d.Engine.Aggregate(ctx, b, from)
}

// requested is a question's text, price and asker.
func requested(q Question) Request {
	return Request{SQL: q.SQL, Epsilon: q.Epsilon, Rho: q.Rho, Analyst: q.Analyst, Fresh: q.Fresh}
}

// An option that a verb does not obey is refused, free.
func TestOptionsThatDoNotApply(t *testing.T) {
	c := openHome(t, newHome(t))
	sql := "SELECT COUNT(*) FROM people"
	measure := func(q Question) error { _, err := c.Measure(t.Context(), q); return err }
	answer := func(q Question) error { _, err := c.Answer(t.Context(), q); return err }
	for what, err := range map[string]error{
		"combine": measure(Question{SQL: sql, Combine: true}), "whole": measure(Question{SQL: sql, Whole: true}),
		"a group": measure(Question{SQL: sql, Group: 2}), "an answer's group": answer(Question{SQL: sql, Group: 2}),
	} {
		if codeOf(err) != CodeUsage {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s := must[ledger.State](t)(c.ledger.State()); s.Reservations != 0 {
		t.Errorf("%d reservations", s.Reservations)
	}
}
