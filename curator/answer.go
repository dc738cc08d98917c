package curator

import (
	"context"
	"errors"
	"math"
	"math/big"

	"dither/internal/derive"
	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/seal"
	"dither/privacy"
)

// Question is what an analyst asks.
type Question struct {
	SQL        string
	Epsilon    string // the price, a decimal; "" is the policy's default. Under a zCDP budget ε costs ρ = ε²/2
	Rho        string // the price in ρ, under a zCDP budget; at most one of both
	Confidence string // of the intervals, a decimal between 0 and 1; "" is 0.95
	MaxGroups  int64  // of one unit, where a column identifies it; 0 is the policy's
	Group      int64  // Explain tells what the answer means for so many units together; 0 for none
	Fresh      bool   // pay again and draw new noise, though the question was answered before
}

// asked is a question that has been planned: all that is decided before anything is spent.
type asked struct {
	Question
	plan    *plan.Plan
	table   seal.Version
	key     string
	alpha   float64 // 1 − confidence, rounded down
	derived *derive.Answer
}

// Answer answers a question, in this order: the question is parsed and planned; if it was answered before, that release is
// given again, free; else its price is reserved, durably; the engine runs the bounded aggregate; noise is added; the
// release is recorded, durably; and only then it is returned. What fails after the reservation stays spent.
//
// Errors are *Error. Refusals depend on the question, the policy and earlier prices alone, and come before any row is read.
func (c *Curator) Answer(ctx context.Context, q Question) (*Release, error) {
	a, err := c.ask(q)
	if err != nil {
		return nil, public(err)
	}
	if !q.Fresh {
		if r, err := c.replay(a); r != nil || err != nil {
			return r, err
		}
	}
	if err := c.rehearse(ctx, a); err != nil {
		return nil, public(err)
	}
	reservation, err := c.reserve(a)
	if err != nil {
		return nil, c.notReserved(err)
	}
	sums, err := c.measure(ctx, a)
	if err != nil {
		c.tellOwner(err)
		if err := c.ledger.Fail(reservation); err != nil {
			c.tellOwner(err) // the failure is not counted; its price is
		}
		return nil, failed()
	}
	if err := c.ledger.Release(reservation, encode(sums)); err != nil {
		e := public(err)
		e.Charged = true
		return nil, e
	}
	r, err := c.release(a, reservation, sums, false)
	if err != nil {
		e := public(err)
		e.Charged, e.Hint = true, "the answer is recorded: asking again gives it, free"
		return nil, e
	}
	return r, nil
}

// ask plans a question against the sealed version in force.
func (c *Curator) ask(q Question) (*asked, error) {
	alpha, err := parseConfidence(&q.Confidence)
	if err != nil {
		return nil, err
	}
	price, err := c.parsePrice(q)
	if err != nil {
		return nil, err
	}
	p, err := plan.Build(c.policy, plan.Request{SQL: q.SQL, Price: price, MaxGroups: q.MaxGroups})
	if err != nil {
		return nil, err
	}
	s, err := c.ledger.State()
	if err != nil {
		return nil, err
	}
	if err := c.inForce(s); err != nil {
		return nil, err
	}
	table, err := seal.Current(c.home, c.policy.Table(p.Table))
	if err != nil {
		e := public(err)
		e.Table = p.Table
		return nil, e
	}
	if recorded := s.Sealed[table.Table]; recorded.Version != table.Number || recorded.SHA256 != table.SHA256 {
		return nil, errNotRecorded
	}
	derived, err := derive.New(p)
	if err != nil {
		return nil, &Error{Code: CodePolicy, Message: err.Error(), Hint: "ask for a larger --epsilon, or narrower bounds", cause: err}
	}
	return &asked{Question: q, plan: p, table: table, key: p.Key(table.Number), alpha: alpha, derived: derived}, nil
}

// parsePrice reads the price that a question names; the zero loss if it names none.
func (c *Curator) parsePrice(q Question) (privacy.Loss, error) {
	unusable := func(err error, hint string) (privacy.Loss, error) {
		return privacy.Loss{}, &Error{Code: CodeUsage, Message: err.Error(), Hint: hint, cause: err}
	}
	switch {
	case q.Group < 0:
		return unusable(errors.New("a group has at least one unit"), "")
	case q.Epsilon != "" && q.Rho != "":
		return unusable(errors.New("a price is given in epsilon or in rho, not in both"), "")
	case q.Epsilon != "":
		e, err := privacy.ParseEpsilon(q.Epsilon)
		if err != nil {
			return unusable(err, "a price is a decimal such as 0.1")
		}
		return c.policy.Budget.Price(e), nil
	case q.Rho != "" && c.policy.Budget.Loss.Accountant() == privacy.Pure:
		return unusable(errors.New("the budget is a pure epsilon: it has no price in rho"), "use epsilon")
	case q.Rho != "":
		rho, err := privacy.ParseRho(q.Rho)
		if err != nil {
			return unusable(err, "a price in rho is a decimal such as 0.005")
		}
		return privacy.ZCDPLoss(rho, privacy.Delta{}), nil
	}
	return privacy.Loss{}, nil
}

// parseConfidence reads a confidence, setting the default, and gives 1 − confidence rounded down: an interval's level is
// never below the one that was asked for.
func parseConfidence(text *string) (float64, error) {
	if *text == "" {
		*text = "0.95"
	}
	r, err := exact.ParseDecimal(*text)
	if err == nil && (r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0) {
		err = errors.New("it must lie between 0 and 1")
	}
	if err != nil {
		return 0, &Error{Code: CodeUsage, Message: "invalid confidence: " + err.Error(), Hint: "a confidence is a decimal such as 0.95", cause: err}
	}
	*text = exact.FormatRat(r)
	alpha, _ := new(big.Rat).Sub(big.NewRat(1, 1), r).Float64()
	return math.Nextafter(alpha, 0), nil
}
