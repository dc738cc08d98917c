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

// If a question searches for a bound on rows (plan.RowSearch has the proof), the bound and the measures form one
// release. The bound is recorded with the numbers. So a replay has it too, and the release determines the plan with
// this bound. The ledger records the mechanisms for the policy's bound. A lower bound reduces sensitivity and noise
// alike, so the loss is the same.

// recordedRows is the recorded form of a bound on rows, with the rest of the release.
type recordedRows struct {
	Rows    int64           `json:"rows"`
	Release json.RawMessage `json:"release"`
}

// decodeRows reads a bound on rows, an integer from 1 to the parameter most. It returns the bound, and the text of the
// rest of the release.
func decodeRows(text json.RawMessage, most int64) (int64, json.RawMessage, error) {
	var in recordedRows
	if err := json.Unmarshal(text, &in); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if in.Rows < 1 || in.Rows > most {
		return 0, nil, fmt.Errorf("%w: its question could not find this bound on rows", ErrUnreadable)
	}
	return in.Rows, in.Release, nil
}

// searchingRows adds the statement and the mechanism of p's search for a bound on rows to the access.
func (l *Look) searchingRows(p *plan.Plan) {
	if s := p.Rows; s != nil {
		l.statements = append(l.statements, &s.Look)
		l.mechanisms = append([]ledger.Mechanism{rowsMechanism(s)}, l.mechanisms...)
	}
}

// rowsMechanism describes, for the ledger, the mechanism that chooses the bound on a unit's rows. The recorded scale is
// the divisor of a score in the exponent of a probability.
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

// drawRows chooses the bound on a unit's rows by the exponential mechanism.
func drawRows(ctx context.Context, p *plan.Plan, from reader) (int64, error) {
	ctx, done := context.WithCancel(ctx)
	defer done() // an engine may keep its query open until ctx ends
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

// withRows searches for the bound on rows that a plan needs. It returns the plan with this bound, and the bound. If
// no usable plan exists with it, withRows uses the policy's bound.
func (q *Query) withRows(ctx context.Context, from reader) (*plan.Plan, int64, error) {
	rows, err := drawRows(ctx, q.plan, from)
	if err != nil {
		return nil, 0, err
	}
	p, err := q.boundedRows(rows)
	if err != nil { // whether err is nil depends only on the bound that was found and public parameters
		rows = q.plan.Rows.Most
		p, err = q.boundedRows(rows)
	}
	return p, rows, err
}

// boundedRows returns the plan with a bound on rows. It checks that the plan's releases still cost the price, and that
// the plan is usable.
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
