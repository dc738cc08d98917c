package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/internal/release"
	"dither/mechanism/linear"
	"dither/noise"
	"dither/privacy"
)

// RoundsRequest asks for [Rounds] over marginals of one question. The question is SELECT COUNT(*) FROM t WHERE … GROUP
// BY k1, k2, …, or has SUM(x) in place of COUNT(*). Its keys must be known. The price pays for all steps together.
type RoundsRequest struct {
	Request
	// Candidates are the marginals that steps can select or measure. Each lists its keys: indices of the question's
	// GROUP BY expressions, from 0. Its cells are ordered as those of StrategyPart.Keys
	Candidates [][]int
	Steps      int // the largest number of steps
	// Resume continues rounds that were paid before, and refuses to pay for new ones
	Resume bool
	// Ahead are questions that steps can answer too: see Ahead
	Ahead []Ahead
}

// Rounds selects and measures marginals in steps, under one price. The caller decides each step after the steps before
// it. Several goroutines may use it. The whole price is reserved at the start, and what the steps do not spend stays
// spent. Each step is recorded before it is returned. If the same request is made again, recorded steps are returned
// again, free, as long as they are asked for with the same parameters in the same order. The owner's change of the
// policy or of a table ends rounds that are not finished. Their recorded steps stay in the ledger.
type Rounds struct {
	ID     string
	Values [][]any // for each GROUP BY expression, its known values, as in Domain
	// for each candidate, the largest change of the vector of exact cells by one unit
	Sensitivities []Sensitivity
	Limits        *Limits // what bounds the contribution of one unit
	Price         Loss    // of all steps together
	Remaining     Loss
	Recorded      int // the number of steps that were recorded before

	curator *Session
	rounds  *release.Rounds
	request RoundsRequest
}

// RoundsExplanation states the price and the limits of [Session.Rounds]. It spends nothing, and reads no row.
type RoundsExplanation struct {
	SQL    string
	Values [][]any // as in Domain
	Cells  []int   // the number of cells of each candidate
	// for each candidate, the largest change of the vector of exact cells by one unit
	Sensitivities []Sensitivity
	Limits        *Limits
	Price         Loss
	Remaining     Loss
	Affordable    bool   // the price is within what remains
	Largest       string // the largest ε that one question can be asked at now
}

// StepPrice is the share of the whole price that one step takes. Exactly one field is set.
type StepPrice struct {
	Epsilon string // a decimal. Under a zCDP budget, ε costs ρ = ε²/2
	Rho     string // under a zCDP budget
}

// Option is a candidate of a selection. Its score is Score.Weight × ‖Score.Scale·x − Score.Table‖₁ − Score.Penalty,
// where x is the vector of the candidate's exact cells.
type Option struct {
	Candidate int // an index of RoundsRequest.Candidates
	Score     linear.Distance
}

// SelectedMarginal is the released option of a selection.
type SelectedMarginal struct {
	Option    int // an index of the options
	Candidate int
	Loss      Loss // the step's price
	Replayed  bool // the step had been recorded before
}

// MeasuredMarginal is the noisy cells of a candidate.
type MeasuredMarginal struct {
	Candidate   int
	Values      []*big.Int         // one for each cell, in units of Unit
	Unit        *big.Rat           // 1 for counts
	Noise       noise.Distribution // the noise, independent for each cell, in units of Unit
	Sensitivity Sensitivity        // the largest change of the vector of exact cells by one unit, in units of Unit
	Loss        Loss               // the marginal's share of the step's price
	Replayed    bool               // the step had been recorded before
}

// Rounds begins or continues rounds, and reserves their whole price. release.Rounds has the proof that the price covers
// all steps.
func (c *Session) Rounds(ctx context.Context, q RoundsRequest) (*Rounds, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	of, err := c.rounds(q)
	if err != nil {
		return nil, c.public(err)
	}
	begin := of.Begin
	if q.Resume {
		begin = of.Resume
	}
	if err := begin(ctx); err != nil {
		return nil, ofRounds(err, c.public(err))
	}
	out := &Rounds{
		ID:       fmt.Sprintf("r%d", of.ID()),
		Price:    c.loss(of.Look().Price()),
		Recorded: of.Recorded(),
		curator:  c,
		rounds:   of,
		request:  q,
	}
	out.describe()
	out.Remaining, err = c.remains(&release.Released{ID: of.ID()})
	return out, err
}

// ExplainRounds states the price and the limits of [Session.Rounds], at no cost.
func (c *Session) ExplainRounds(_ context.Context, q RoundsRequest) (*RoundsExplanation, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	of, err := c.rounds(q)
	if err != nil {
		return nil, c.public(err)
	}
	p := of.Plan()
	out := &RoundsExplanation{
		SQL: q.SQL, Values: domainValues(p.Linear), Limits: c.limitsOf(&p.Base), Price: c.loss(of.Look().Price()),
	}
	for _, part := range p.Parts {
		out.Cells = append(out.Cells, part.Strategy.Rows())
		out.Sensitivities = append(out.Sensitivities, sensitivityOf(&part.Answers))
	}
	room, err := c.kernel.Room(of.Look())
	if err != nil {
		return nil, c.public(err)
	}
	out.Remaining, out.Largest, out.Affordable = left(room), c.largest(room), of.Look().Price().Within(room)
	return out, nil
}

// rounds plans rounds from public information.
func (c *Session) rounds(q RoundsRequest) (*release.Rounds, error) {
	if q.Resume && q.Fresh {
		return nil, &Error{Code: CodeUsage, Message: "Resume pays for nothing, and Fresh pays again", Hint: "set one of them"}
	}
	p, err := c.roundsPlan(q)
	if err != nil {
		return nil, err
	}
	ahead, about, err := c.ahead(q)
	if err != nil {
		return nil, err
	}
	by := q.asker()
	by.Question = fmt.Sprintf("%s (%d candidates, at most %d steps): %s%s",
		release.AdaptiveRounds, len(q.Candidates), q.Steps+len(ahead), about, q.SQL)
	return c.kernel.Rounds(p, by, ahead...)
}

// roundsPlan plans the marginals.
func (c *Session) roundsPlan(q RoundsRequest) (*plan.Rounds, error) {
	request, err := c.request(q.Question())
	if err != nil {
		return nil, err
	}
	return plan.BuildRounds(c.filled(), request, q.Candidates, q.Steps)
}

// describe sets what depends on the question.
func (r *Rounds) describe() {
	p := r.rounds.Plan()
	r.Values, r.Limits, r.Sensitivities = domainValues(p.Linear), r.curator.limitsOf(&p.Base), nil
	for _, part := range p.Parts {
		r.Sensitivities = append(r.Sensitivities, sensitivityOf(&part.Answers))
	}
}

// Spent returns the price of the steps that this process has returned.
func (r *Rounds) Spent() Loss { return r.curator.loss(r.rounds.Spent()) }

// Select selects one of the options, by the exponential mechanism. Options with higher scores are likelier. Under a
// pure ε, the mechanism runs at the step's ε. Under ρ, it runs at ε = √(8ρ), by its bounded range.
func (r *Rounds) Select(ctx context.Context, options []Option, price StepPrice) (*SelectedMarginal, error) {
	loss, err := r.price(price)
	if err != nil {
		return nil, err
	}
	of := make([]plan.RoundOption, len(options))
	for i, o := range options {
		o.Score.Table = slices.Clone(o.Score.Table)
		of[i] = plan.RoundOption{Candidate: o.Candidate, Score: o.Score}
	}
	at, replayed, err := r.rounds.Select(ctx, of, loss)
	if err != nil {
		return nil, r.public(err)
	}
	return &SelectedMarginal{Option: at, Candidate: options[at].Candidate, Loss: r.curator.loss(loss), Replayed: replayed}, nil
}

// Measure releases the cells of candidates with noise. The step's price is divided equally among them.
func (r *Rounds) Measure(ctx context.Context, candidates []int, price StepPrice) ([]MeasuredMarginal, error) {
	loss, err := r.price(price)
	if err != nil {
		return nil, err
	}
	candidates = slices.Clone(candidates)
	step, values, replayed, err := r.rounds.Measure(ctx, candidates, loss)
	if err != nil {
		return nil, r.public(err)
	}
	out := make([]MeasuredMarginal, len(step.Parts))
	for i, part := range step.Parts {
		m := &part.Answers
		out[i] = MeasuredMarginal{
			Candidate: part.Candidate, Values: values[i], Unit: m.Unit(), Loss: r.curator.loss(m.Loss), Replayed: replayed,
			Sensitivity: sensitivityOf(m),
		}
		if out[i].Noise, err = m.Noise.Distribution(m.Parameter); err != nil {
			return nil, r.public(err)
		}
	}
	return out, nil
}

// price parses the price of a step.
func (r *Rounds) price(p StepPrice) (privacy.Loss, error) {
	if p == (StepPrice{}) {
		return privacy.Loss{}, &Error{
			Code: CodeUsage, Message: "a step needs a price", Hint: "give Epsilon, or Rho under a zCDP budget",
		}
	}
	loss, err := r.curator.parsePrice(Question{Epsilon: p.Epsilon, Rho: p.Rho})
	if err != nil {
		return loss, r.curator.public(err)
	}
	return loss, nil
}

// public returns the public form of an error of a step, in words about rounds.
func (r *Rounds) public(err error) error { return ofRounds(err, r.curator.public(err)) }

// ofRounds words the endings that rounds share with trainings.
func ofRounds(err error, out *Error) error {
	var ended *release.EndedError
	if !errors.As(err, &ended) {
		return out
	}
	switch ended.How {
	case release.StepGivenUp:
		out.Message = "the step was cancelled; the price of the rounds stays spent"
		out.Hint = "ask for the step again"
	case release.FailedElsewhere:
		out.Message = "the rounds failed in another process, or the owner abandoned them"
		out.Hint = "ask for them again to begin new rounds, at the full price"
	}
	return out
}

// Finish ends the rounds for good. The price that no step has spent stays spent. The same request then returns the
// recorded steps again, and no further ones.
func (r *Rounds) Finish() error {
	if err := r.rounds.Finish(); err != nil {
		return r.public(err)
	}
	return nil
}

// Close releases the lock and the memory of the rounds. The same request continues them.
func (r *Rounds) Close() error { return r.rounds.Close() }
