package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/ledger"
	"dither/internal/parallel"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/privacy"
)

// Linear measures strategies: integer matrices, applied to the exact cells (groups) of one bounded statement, with
// independent noise on each answer.
//
// By composition, its loss is the price: the parts' shares add up to it. The answers of a part form one vector under one
// mechanism (mechanism.Laplace or mechanism.Gaussian), and the plan proves its sensitivity. The matrices are applied
// inside package mechanism/linear, in integers, so the answers are as opaque as the cells until the noise is added.
type Linear struct {
	numbersAlone
	plan *plan.Linear
}

// Plan returns the plan that the access runs.
func (l *Linear) Plan() *plan.Linear { return l.plan }

// Linear returns the primitive for a plan of strategies.
func (k *Kernel) Linear(p *plan.Linear, by Asker, as Recalled) (*Linear, error) {
	l, versions, err := k.lookAt(&p.Base, by)
	if err != nil {
		return nil, err
	}
	l.statements, l.price, l.key, l.recalled = p.Looks(), p.Price, p.Key(versions...), as
	l.passes = int64(len(l.statements))
	if l.releases(1, p.Numbers()); p.Numbers() >= packedFrom {
		l.bytes = packedBytes(p.Numbers(), p.NumberBytes())
	}
	for _, part := range p.Parts {
		l.mechanisms = append(l.mechanisms, measureMechanism(&part.Answers, part.Strategy.Rows()))
	}
	return &Linear{numbersAlone{l}, p}, partsAddUp(p)
}

// access implements [Primitive].
func (l *Linear) access(ctx context.Context, rows reader) (out Values, err error) {
	parts := make([][]*big.Int, len(l.plan.Parts))
	if l.plan.Joint != nil {
		if err = l.joint(ctx, rows, parts); err != nil {
			return out, err
		}
	} else {
		var read *bounded.Statement
		var cells []mechanism.Exact
		for i, part := range l.plan.Parts {
			if part.Look != read { // parts that follow each other often have the same histogram
				all, err := rows.engine.Aggregate(ctx, part.Look, rows.sealed)
				if err != nil {
					return out, err
				}
				read, cells = part.Look, column(all, 0)
			}
			if parts[i], err = answered(part, cells); err != nil {
				return out, fmt.Errorf("part %d: %w", i+1, err)
			}
		}
	}
	out.Numbers = [][]*big.Int{slices.Concat(parts...)}
	return out, nil
}

// margins returns the cells of each part's histogram, from the joint statement.
func margins(ctx context.Context, p *plan.Linear, rows reader) ([][]mechanism.Exact, error) {
	keys := make([][]int, len(p.Parts))
	for i, part := range p.Parts {
		keys[i] = part.Joint
	}
	return rows.engine.Margins(ctx, p.Joint, keys, rows.sealed)
}

// drawnAtOnce is the largest number of numbers whose parts draw their noise one after the other. Package mechanism draws as
// many numbers from one source.
const drawnAtOnce = 1 << 14

// joint sets the noisy answers of each part, from the histograms that the joint statement adds up to. Large measurements
// use all processors: each part draws its noise from sources of its own.
func (l *Linear) joint(ctx context.Context, rows reader, parts [][]*big.Int) error {
	cells, err := margins(ctx, l.plan, rows)
	if err != nil {
		return err
	}
	errs := make([]error, len(parts))
	answer := func(i int) {
		if parts[i], errs[i] = answered(l.plan.Parts[i], cells[i]); errs[i] != nil {
			errs[i] = fmt.Errorf("part %d: %w", i+1, errs[i])
		}
		cells[i] = nil
	}
	if l.plan.Numbers() > drawnAtOnce {
		parallel.Each(len(parts), answer)
	} else {
		for i := range parts {
			answer(i)
		}
	}
	return errors.Join(errs...)
}

// encode implements [Primitive].
func (l *Linear) encode(v Values) (json.RawMessage, error) {
	if len(v.Numbers) == 1 && len(v.Numbers[0]) >= packedFrom {
		return packed(v.Numbers[0]), nil
	}
	return l.numbersAlone.encode(v)
}

// decode implements [Primitive]. It reads both forms, whatever the number of numbers is.
func (l *Linear) decode(text json.RawMessage) (v Values, err error) {
	if !bytes.HasPrefix(text, []byte{'"'}) {
		return l.numbersAlone.decode(text)
	}
	numbers, err := unpacked(text, l.plan.Numbers())
	v.Numbers = [][]*big.Int{numbers}
	return v, err
}

// LinearNumbersOf returns the numbers of an earlier release of a plan of strategies.
func LinearNumbersOf(answer ledger.Answer, p *plan.Linear) ([]*big.Int, error) {
	text, err := answer.Values()
	if err != nil {
		return nil, err
	}
	look := &Look{}
	look.releases(1, p.Numbers())
	v, err := (&Linear{numbersAlone{look}, p}).decode(text)
	if err != nil {
		return nil, err
	}
	return v.Numbers[0], nil
}

// answered returns the noisy answers of a part's strategy on the cells (groups) of its histogram.
func answered(part *plan.MeasuredPart, cells []mechanism.Exact) ([]*big.Int, error) {
	answers, err := exactAnswers(part, cells)
	if err != nil {
		return nil, err
	}
	noisy, err := noisily(&part.Answers, answers)
	if err == nil {
		err = measuredAsPlanned(&part.Answers, noisy)
	}
	return noisy.Values, err
}

// exactAnswers returns the exact answers of a part's strategy. The cells are in the order of the statement that was run.
func exactAnswers(part *plan.MeasuredPart, cells []mechanism.Exact) ([]mechanism.Exact, error) {
	if part.Joint == nil { // the cells of a joint statement are in the part's order
		if order := part.Order(); order != nil {
			ordered := make([]mechanism.Exact, len(order))
			for i, at := range order {
				ordered[i] = cells[at]
			}
			cells = ordered
		}
	}
	return part.Strategy.Apply(cells, part.Reach())
}

// partsAddUp is addsUp for strategies.
func partsAddUp(p *plan.Linear) error {
	total := privacy.Loss{}
	for _, part := range p.Parts {
		total = total.Plus(part.Answers.Loss)
	}
	if !total.Within(p.Price) {
		return fmt.Errorf("%w: its parts cost %s together, and its price is %s", ErrUnplanned, total, p.Price)
	}
	return nil
}
