package plan

import (
	"dither/internal/bind"
	"dither/privacy"
)

// priced is the result of the sixth phase, dividePrice. It holds each release's share of the price (see the type part).
type priced struct {
	*stated
	whole     privacy.Loss // the price of the answer, without the δ of a selection of groups
	shares    partShares
	rowsShare privacy.Loss // the share of the search for the bound on a unit's rows; zero if there is none
	// the share of the estimate of what the bounds cut; zero if there is none
	truncationShare privacy.Loss
	ownEpsilons     bool // whether some aggregate has an ε of its own
}

// sharing is the working state of the sixth phase.
type sharing struct{ *priced }

// dividePrice divides the price among the claims. Claims with an ε of their own come first. The others get the rest in
// proportion to their weights. The parts of a claim, such as its measures, have equal shares. So an average pays one
// half for its sum and one half for its count. A part of several claims is released once, at the sum of their shares.
//
// Claim: the answer costs its price. Proof: the shares add up to the price exactly, and losses add up under basic
// composition. ∎
func dividePrice(s *stated) (*priced, error) {
	if len(s.claims) == 0 && s.declared > 0 {
		return nil, bind.Refuse(s.first(), "COUNT(*, weight => 1) measures it",
			"there is nothing to measure: the policy declares the number of units")
	}
	if len(s.claims) == 0 {
		bare := bind.Refuse(s.first(), "ask for COUNT(*), SUM(x) or AVG(x)", "the question has no aggregate")
		bare.Bare = true
		return nil, bare
	}
	if s.main.Cells()*s.numbers() > MaxNumbers {
		many := bind.Refuse(
			s.first(),
			"ask for fewer aggregates, or group by less",
			"the answer would hold more than %d numbers",
			MaxNumbers,
		)
		many.Many = true
		return nil, many
	}
	if s.clash != nil {
		return nil, s.clash
	}
	b := &sharing{&priced{stated: s, whole: s.price, shares: partShares{
		measures:  make([]privacy.Loss, len(s.measures)),
		searches:  make([]privacy.Loss, len(s.searches)),
		quantiles: make([]privacy.Loss, len(s.quantiles)),
		modes:     make([]privacy.Loss, len(s.modes)),
	}}}
	if err := b.divide(); err != nil {
		return nil, err
	}
	return b.priced, nil
}
