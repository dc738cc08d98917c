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

// OutputInterval is a run of integer outputs with one score: all o with From ≤ o < To. It is empty if To is not above
// From. Its ends are exact values too, because they may be a person's.
type OutputInterval struct {
	From, To mechanism.Exact
	Score    mechanism.Exact
}

// IntegerChoice is an integer chosen from a space of outputs.
type IntegerChoice struct {
	Value *big.Int
	Loss  privacy.Loss
}

// SelectWithin is Select over a space of integers too large to be listed: disjoint intervals, given in any order, over
// each of which the score is constant. It returns an integer o with P(o) ∝ exp(c·u(o)), exactly: an interval is
// chosen in proportion to its length times exp(c·u), and then an integer in it uniformly.
//
// Sensitivity is that of u(o) at each output o. The promise is Select's, if the union of the intervals is the same
// between neighbours: it is public, and how it is cut into intervals, and in how many, need not be. Intervals are seen
// once and not kept. An empty space is ErrParameter.
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
