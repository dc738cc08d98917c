package curator

import (
	"encoding/json"
	"math/big"
	"testing"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/privacy"
)

// imposter is a primitive of this package's own: it has one look, and the access of another.
type imposter struct {
	release.Primitive
	look *release.Look
}

func (i imposter) Look() *release.Look { return i.look }

// twoPrices are a cheap question and a dear one.
func twoPrices(t *testing.T, c *Owner) (cheap, dear *asked) {
	t.Helper()
	var err error
	if cheap, err = c.ask(Question{SQL: "SELECT COUNT(*) FROM people", Epsilon: "0.01"}); err != nil {
		t.Fatal(err)
	}
	if dear, err = c.ask(Question{SQL: countSQL, Epsilon: "0.5"}); err != nil {
		t.Fatal(err)
	}
	return cheap, dear
}

// The price of an access is that of its own plan, whatever its caller says of it.
func TestCallersCannotSayThePrice(t *testing.T) {
	for name, of := range map[string]func(cheap, dear *asked) release.Primitive{
		"a look of another, by embedding": func(cheap, dear *asked) release.Primitive { return imposter{dear.query, cheap.query.Look()} },
		"a look written over": func(cheap, dear *asked) release.Primitive {
			*dear.query.Look() = *cheap.query.Look()
			return dear.query
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := openHome(t, newHome(t))
			p := of(twoPrices(t, c))
			if _, err := c.kernel.Release(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if got := spent(t, c); got != "0.5" {
				t.Errorf("three counts at ε = 0.5 were charged %s", got)
			}
		})
	}
}

// What a curator has of the ledger neither pays nor records, whatever type it is held to be of.
func TestRecordsOnlyRead(t *testing.T) {
	c := openHome(t, newHome(t))
	for name, has := range map[string]bool{
		"Release": is[interface {
			Release(uint64, json.RawMessage) error
		}](c.ledger),
		"ReserveFor": is[interface {
			ReserveFor(ledger.Reservation, int64) (uint64, error)
		}](c.ledger),
		"Fail": is[interface{ Fail(uint64) error }](c.ledger),
		"all":  is[*ledger.Ledger](c.ledger),
	} {
		if has {
			t.Errorf("a curator can reach %s of the ledger", name)
		}
	}
}

func is[T any](x any) bool {
	_, ok := x.(T)
	return ok
}

// A training has the steps that were paid, whatever is written over the terms that it tells.
func TestCallersCannotAddSteps(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 300))
	q := logisticTraining()
	longer, err := c.training(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.Steps = 1
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	*tr.training.Terms() = *longer.training.Terms()
	for n := range 3 {
		if _, err := tr.Step(t.Context(), make([]float64, 3)); (err == nil) != (n == 0) {
			t.Errorf("step %d of a training that paid for one: %v", n+1, err)
		}
	}
}

// Rounds charge the price of their plan, whatever is written over the look that they tell.
func TestCallersCannotSayThePriceOfRounds(t *testing.T) {
	c := pureTerms.alone(t)
	q, _ := pureTerms.rounds(2)
	of, err := c.rounds(q)
	if err != nil {
		t.Fatal(err)
	}
	*of.Look() = release.Look{}
	if err := of.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := spent(t, c); got != "2" {
		t.Errorf("rounds for ε = 2 were charged %s", got)
	}
	if err := of.Close(); err != nil {
		t.Error(err)
	}
}

// Numbers that a primitive tells are copies: what its access adds noise by stays what was charged.
func TestToldNumbersAreCopies(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 300))
	tr, err := c.training(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	same := func(name string, told func() *big.Rat) {
		t.Helper()
		before := told().RatString()
		if told().SetInt64(77); told().RatString() != before {
			t.Errorf("%s was changed from outside", name)
		}
	}
	terms := tr.training.Terms()
	same("a training's rate", func() *big.Rat { return terms.Step().Rate })
	same("a training's clip", func() *big.Rat { return terms.Step().Clip })
	same("a training's multiplier", func() *big.Rat { return terms.Step().Multiplier })
	q := Minimisation{
		Request: Request{SQL: "SELECT x1, 1, y FROM people", Epsilon: "1"}, Loss: LogisticLoss, Radius: "2", Regularise: "0.1", Rows: 300,
	}
	m, err := c.minimisation(q)
	if err != nil {
		t.Fatal(err)
	}
	same("a part's parameter", func() *big.Rat { return m.Parts()[0].Measure().Parameter })
	before := m.Parts()[0].L1()
	m.Parts()[0].Measure().L1.SetInt64(0)
	if m.Parts()[0].L1().Cmp(before) != 0 {
		t.Error("a part's sensitivity was changed from outside")
	}
	f, err := c.line(LineQuestion{Request: Request{SQL: "SELECT x1, x2 FROM people", Epsilon: "1"}, Rows: 300})
	if err != nil {
		t.Fatal(err)
	}
	same("a line's range", func() *big.Rat { return f.Draw().X.Low })
}

// A stream's bound on what one unit moves is the one that its noise was drawn for.
func TestStreamMovesStay(t *testing.T) {
	c := openHome(t, newHome(t))
	target, err := plan.BuildScores(c.filled(), plan.Request{SQL: "SELECT COUNT(*) FROM people"})
	if err != nil {
		t.Fatal(err)
	}
	moves := big.NewInt(1)
	s, err := c.kernel.Stream(target, release.StreamTerms{Threshold: big.NewInt(5), Moves: moves, Positives: 1, Questions: 9}, release.Asker{Question: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	moves.SetInt64(1000)
	_, err = s.Ask(t.Context(), "sum", func(price privacy.Loss) (*plan.Target, error) {
		return plan.BuildScores(c.filled(), plan.Request{SQL: "SELECT SUM(age) FROM people", Price: price})
	})
	if codeOf(c.public(err)) != CodePolicy {
		t.Errorf("a sum that one person moves by 115, in a stream for 1: %v", err)
	}
}
