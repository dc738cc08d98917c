package selection

import (
	"fmt"
	"iter"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// OutputInterval is a range of integer outputs with the same score: all o with From ≤ o < To. It is empty if To ≤
// From. Its ends are also exact values, because they may come from a person's data.
type OutputInterval struct {
	From, To mechanism.Exact
	Score    mechanism.Exact
}

// IntegerChoice is the release of [Exponential.SelectWithin].
type IntegerChoice struct {
	Value *big.Int
	Loss  privacy.Loss
}

// SelectWithin is Select for a range of integer outputs that is too large to list. space yields disjoint intervals
// in any order, and the score is constant on each interval. SelectWithin returns an integer o with P(o) ∝
// exp(c·u(o)), exactly. It chooses an interval in proportion to its length times exp(c·u), and then an integer of
// the interval uniformly.
//
// Sensitivity is that of the score u(o) at each output o. The privacy guarantee is that of Select, if the union of
// the intervals is the same for neighbours. The union is public, but the division into intervals and their number
// may depend on the data. SelectWithin reads each interval once and does not store the sequence. An empty union is
// ErrParameter.
func (m Exponential) SelectWithin(space iter.Seq[OutputInterval]) (IntegerChoice, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.within(source, space)
}

func (m Exponential) within(src *entropy.Source, space iter.Seq[OutputInterval]) (IntegerChoice, error) {
	c, err := m.rate()
	if err != nil {
		return IntegerChoice{}, err
	}
	r := sample.NewRace(src, c, 1)
	from, length, width := new(big.Int), new(big.Int), new(big.Int)
	if space != nil {
		for v := range space {
			low := opaque.Open(v.From)
			if width.Sub(opaque.Open(v.To), low).Sign() > 0 && r.EnterBig(0, width, opaque.Open(v.Score)) {
				from.Set(low)
				length.Set(width)
			}
		}
	}
	if length.Sign() == 0 {
		return IntegerChoice{}, fmt.Errorf("%w: the space of outputs is empty", mechanism.ErrParameter)
	}
	o := src.Below(length)
	return IntegerChoice{Value: o.Add(o, from), Loss: privacy.PureLoss(m.Epsilon)}, nil
}
