package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"dither/internal/ledger"
	"dither/internal/plan"
)

// If a question pays for an estimate of what its bounds cut (plan.Truncation has the proof), the estimate and the
// answer form one release. The estimate is recorded with the numbers, so a replay has it too.

// recordedTruncation is the recorded form of an estimate, with the rest of the release.
type recordedTruncation struct {
	Truncation json.RawMessage `json:"truncation"`
	Release    json.RawMessage `json:"release"`
}

// estimating adds the statement and the mechanisms of p's estimate to the access.
func (l *Look) estimating(p *plan.Plan) {
	t := p.Truncation
	if t == nil {
		return
	}
	l.bytes += bytesOf(1, len(t.Measures))
	for _, m := range t.Measures {
		one := measureMechanism(m, 1)
		l.mechanisms = append([]ledger.Mechanism{one}, l.mechanisms...)
	}
}

// estimated releases the estimate of what the bounds of p cut, or returns nil if p has none.
func estimated(ctx context.Context, p *plan.Plan, from reader) ([]*big.Int, error) {
	t := p.Truncation
	if t == nil {
		return nil, nil
	}
	cells, err := from.engine.Aggregate(ctx, &t.Look, from.sealed)
	if err != nil {
		return nil, err
	}
	if len(cells) != 1 {
		return nil, fmt.Errorf("%w: an estimate of %d cells", ErrUnplanned, len(cells))
	}
	noisy, err := noisyRows(t.Measures, cells)
	if err != nil {
		return nil, err
	}
	return noisy[0], nil
}

// encodeTruncation wraps the recorded form of a release, together with its estimate. An estimate without a plan could
// not be read again.
func encodeTruncation(numbers []*big.Int, t *plan.Truncation, rest json.RawMessage) (json.RawMessage, error) {
	if t == nil || len(numbers) != len(t.Measures) {
		return nil, fmt.Errorf("%w: an estimate of %d numbers", ErrUnplanned, len(numbers))
	}
	return json.Marshal(recordedTruncation{Truncation: encode([][]*big.Int{numbers}), Release: rest})
}

// decodeTruncation reads an estimate, and returns it with the text of the rest of the release.
func decodeTruncation(text json.RawMessage, t *plan.Truncation) ([]*big.Int, json.RawMessage, error) {
	var in recordedTruncation
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	numbers, err := Decode(in.Truncation, [2]int{1, len(t.Measures)})
	if err != nil {
		return nil, nil, err
	}
	return numbers[0], in.Release, nil
}
