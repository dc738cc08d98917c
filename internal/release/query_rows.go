package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// A bound on rows that is found (plan.RowSearch has the proof) makes one release with what is measured with it: it
// stands beside the numbers, so that a replay has it too, and the plan with it follows from the release. The ledger has
// the mechanisms as at the policy's bound: with a lower one sensitivity and noise shrink alike, and their quotient, the
// loss, stays.

// recordedRows is how it is written, beside what the look releases.
type recordedRows struct {
	Rows    int64           `json:"rows"`
	Release json.RawMessage `json:"release"`
}

// decodeRows reads a bound that is most at most, and gives the text of the release beside it.
func decodeRows(text json.RawMessage, most int64) (int64, json.RawMessage, error) {
	var in recordedRows
	if err := json.Unmarshal(text, &in); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if in.Rows < 1 || in.Rows > most {
		return 0, nil, fmt.Errorf("%w: it has a bound on rows that its question could not find", ErrUnreadable)
	}
	return in.Rows, in.Release, nil
}

// searchingRows adds to a look the bound on rows that its plan looks for first.
func (l *Look) searchingRows(p *plan.Plan) {
	if s := p.Rows; s != nil {
		l.statements = append(l.statements, &s.Look)
		l.mechanisms = append([]ledger.Mechanism{rowsMechanism(s)}, l.mechanisms...)
	}
}

// rowsMechanism is the draw, for the ledger: its scale is what scores are divided by in an exponent.
func rowsMechanism(s *plan.RowSearch) ledger.Mechanism {
	scale := new(big.Rat).Quo(s.Sensitivity, s.Draw().Rat())
	return ledger.Mechanism{
		Name: fmt.Sprintf(
			"%s at %s of rows per unit",
			Exponential,
			s.Rank.RatString(),
		),
		Sensitivity: exact.FormatRat(s.Sensitivity),
		Scale:       exact.FormatRat(scale.Add(scale, scale)),
		Cells:       1,
	}
}

// drawRows draws the bound.
func drawRows(ctx context.Context, p *plan.Plan, from reader) (int64, error) {
	ctx, done := context.WithCancel(ctx)
	defer done() // an engine may hold what it reads until then
	s := p.Rows
	counts, err := from.engine.Order(ctx, &s.Look, from.sealed)
	if err != nil {
		return 0, err
	}
	m := quantile.Single{
		Domain: quantile.Domain{
			Lower: 1,
			Upper: s.Most,
		},
		Unit:    mechanism.Unit{Neighbours: p.Neighbours, MaxRows: 1},
		Rank:    s.Rank,
		Epsilon: s.Draw(),
	}
	found, err := m.Release(counts)
	if err != nil {
		return 0, err
	}
	if err := costsAsPlanned(found.Loss, privacy.PureLoss(s.Draw())); err != nil {
		return 0, err
	}
	if err := paidFor(s.Loss, found.Loss, m.BoundedRange()); err != nil {
		return 0, err
	}
	if len(found.Values) != 1 {
		return 0, fmt.Errorf("%w: %d bounds on rows", ErrUnplanned, len(found.Values))
	}
	return found.Values[0], nil
}

// withRows finds the bound on rows that a question waits for, and gives the plan with it. Should there be no plan with
// it, the policy's bound is taken, with which there is one.
func (q *Query) withRows(ctx context.Context, from reader) (*plan.Plan, int64, error) {
	rows, err := drawRows(ctx, q.plan, from)
	if err != nil {
		return nil, 0, err
	}
	p, err := q.boundedRows(rows)
	if err != nil { // a function of what was found, and of public parameters
		rows = q.plan.Rows.Most
		p, err = q.boundedRows(rows)
	}
	return p, rows, err
}

// boundedRows is a plan with a bound on rows, whose parts cost what they did.
func (q *Query) boundedRows(rows int64) (*plan.Plan, error) {
	p, err := q.plan.WithRows(rows)
	if err != nil {
		return nil, err
	}
	if err := costsAsPlanned(p.Price, q.plan.Price); err != nil {
		return nil, err
	}
	if err := addsUp(p); err != nil {
		return nil, err
	}
	return p, q.usable(p)
}
