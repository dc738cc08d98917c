package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/internal/derive"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/seal"
	"dither/mechanism"
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

// replay answers from the newest release of the same question, or gives nil.
func (c *Curator) replay(a *asked) (*Release, error) {
	answer, ok, err := c.ledger.Find(a.key)
	if err != nil {
		return nil, public(err)
	}
	if !ok {
		return nil, nil
	}
	sums, err := decode(answer.Values, a.plan)
	if err != nil {
		return nil, public(err)
	}
	return c.release(a, answer.Reserved, sums, true)
}

// rehearse runs the question over made-up rows. One that fails there is refused before it costs anything, and before any
// row is read: that is a defect of the plan, which the owner is told of.
func (c *Curator) rehearse(ctx context.Context, a *asked) error {
	err := c.engine.Rehearse(ctx, &a.plan.Bounded)
	switch {
	case err == nil:
		return ctx.Err()
	case ctx.Err() != nil:
		return ctx.Err()
	}
	c.tellOwner(err)
	return &Error{
		Code: CodePolicy, Message: "the question cannot be evaluated for every possible row",
		Hint: "please report it, with the policy and the question; ask it in another way",
	}
}

// tellOwner hands over what an engine said.
func (c *Curator) tellOwner(err error) {
	if c.options.OwnerErrors != nil {
		c.options.OwnerErrors(err)
	}
}

// reserve charges the price of a, with its mechanisms and their parameters.
func (c *Curator) reserve(a *asked) (uint64, error) {
	r := ledger.Reservation{
		Key: a.key, Policy: c.policy.Digest(), Loss: a.plan.Price, Question: a.SQL,
		Sources: []ledger.Source{{Table: a.table.Table, Version: a.table.Number}},
	}
	for _, m := range a.plan.Measures {
		sensitivity := m.L1
		if m.Noise == plan.Gaussian {
			sensitivity = m.L2Squared
		}
		r.Mechanisms = append(r.Mechanisms, ledger.Mechanism{
			Name: string(m.Noise), Sensitivity: sensitivity.String(), Scale: exact.FormatRat(m.Parameter), Cells: a.plan.Cells(),
		})
	}
	return c.ledger.Reserve(r)
}

// measure runs the bounded aggregate and adds noise: each measure's cells are one vector under one mechanism. By
// composition the measures together cost the sum of their shares, in ε or in ρ, which is the price.
func (c *Curator) measure(ctx context.Context, a *asked) ([][]*big.Int, error) {
	timeout := c.options.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cells, err := c.engine.Aggregate(ctx, &a.plan.Bounded, known(a.table))
	if err != nil {
		return nil, err
	}
	out := make([][]*big.Int, len(cells))
	for j, m := range a.plan.Measures {
		vector := make([]mechanism.Exact, len(cells))
		for i := range cells {
			vector[i] = cells[i][j]
		}
		noisy, err := noisily(m, vector)
		if err != nil {
			return nil, err
		}
		for i, v := range noisy.Values {
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// known is a sealed version with what was recorded when it was sealed.
func known(v seal.Version) engine.Sealed {
	out := engine.Sealed{File: v.File, OneRowEach: v.Facts.MaxRowsPerUnit <= 1, Complete: map[string]bool{}}
	for _, c := range v.Facts.Columns {
		out.Complete[c.Name] = c.Nulls == 0 && c.Special == 0
	}
	return out
}

// noisily runs the mechanism that the plan chose for a measure, on its vector of cells.
func noisily(m *plan.Measure, vector []mechanism.Exact) (mechanism.Measurement, error) {
	if m.Noise == plan.Gaussian {
		rho, _ := m.Loss.ZCDP()
		return mechanism.Gaussian{L2Squared: m.L2Squared, Rho: rho}.Measure(vector)
	}
	e, pure := m.Loss.Pure()
	if !pure { // no Laplace mechanism is planned under ρ
		return mechanism.Measurement{}, mechanism.ErrParameter
	}
	return mechanism.Laplace{Sensitivity: m.L1, Epsilon: e}.Measure(vector)
}

// encode writes released numbers for the ledger: by cell and measure, in decimal.
func encode(sums [][]*big.Int) json.RawMessage {
	b := []byte{'['}
	for i, cell := range sums {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, n := range cell {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = n.Append(b, 10)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

// decode reads what encode wrote, of the plan's shape.
func decode(values json.RawMessage, p *plan.Plan) ([][]*big.Int, error) {
	var texts [][]string
	if err := json.Unmarshal(values, &texts); err != nil {
		return nil, fmt.Errorf("a recorded release is unreadable: %w", err)
	}
	wrong := errors.New("a recorded release has another shape than its question")
	if len(texts) != p.Cells() {
		return nil, wrong
	}
	out := make([][]*big.Int, len(texts))
	for i, cell := range texts {
		if len(cell) != len(p.Measures) {
			return nil, wrong
		}
		for _, text := range cell {
			n, ok := new(big.Int).SetString(text, 10)
			if !ok {
				return nil, wrong
			}
			out[i] = append(out[i], n)
		}
	}
	return out, nil
}
