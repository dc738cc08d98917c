package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/mechanism"
	"dither/mechanism/partition"
	"dither/noise"
	"dither/privacy"
)

// Strategy is a kind of mechanism that selects groups.
type Strategy string

// The strategies. Both depend on the number of units that count in a group.
const (
	// releases a group if its noisy number of units exceeds a threshold: partition.ThresholdGaussian
	Thresholded Strategy = "gaussian threshold"
	// releases a group with the largest possible probability: partition.Selection
	Optimal Strategy = "partition selection"
)

// Selection decides which unknown groups are released. A question has one selection for all its aggregates, before
// them, at a share of the price and with a δ of its own.
//
// Claim: the selection is δ-approximately ρ-zCDP, with the ρ and δ of Loss. Proof. The groups are those in which at
// least one unit counts; engine.Groups drops the others. A unit counts in at most Groups of them, by a choice that
// reads its own rows alone, and adds 1 to each. So the numbers of units differ by 1 between neighbours, in at most
// Groups groups under add/remove and in at most 2·Groups under change-one. All contributions are ≥ 0, so the
// squared L2 distance is at most Groups or 2·Groups. The mechanisms get these numbers. Optimal gets the number of
// groups that differ, which is 2·Groups under change-one. Thresholded gets the squared L2 distance, and the number
// of groups of one dataset that the other may lack. That is Groups under both relations, because each side drops
// its own (see the proof at partition.Threshold).
//
// The measures afterwards are a function of the released groups. For each fixed set of groups, of this table or
// not, they measure the vector of sums over the groups' counting rows. Its sensitivity is at most that of all
// groups together ([sensitivity.OfMeasure]), because it is a part of that vector. So the losses add up [Dwork & Roth 2014,
// Section 3.5, for adaptive composition; Bun & Steinke 2016, Lemma 8.2]. An engine returns that vector for every
// set that can be released of its table. The engine would differ only for a set with a group in which no unit
// counts. It would return 0 there, although rows may count whose units count in other groups, because a unit has
// different caps on its rows and its groups. No such set is ever released. ∎
type Selection struct {
	Strategy Strategy
	Groups   int64 // the largest number of groups in which one unit counts
	// a group of at most MinUnits units is released with probability at most δ; at least 1
	MinUnits int64
	Loss     privacy.Loss         // the ρ and the δ of the selection
	Optimal  partition.Parameters // the parameters of both strategies
	Gaussian partition.ThresholdGaussian
}

// String returns the selection's canonical text.
func (s *Selection) String() string {
	return fmt.Sprintf("%s groups=%d least=%d %s", s.Strategy, s.Groups, s.MinUnits, s.Loss)
}

// chooseSelection chooses the selection of groups, and adds its δ to the price.
func (b *noising) chooseSelection() error {
	if !b.open() {
		return nil
	}
	asked := b.request.Unknown
	delta := asked.Delta
	if delta.IsZero() {
		delta = b.policy.Price.Delta
	}
	rho, _ := b.shares.selection.ZCDP()
	price, _ := b.cost.ZCDP()
	s := &Selection{}
	s.Groups, s.Loss = max(b.caps.Groups, 1), privacy.ZCDPLoss(rho, delta)
	s.MinUnits = max(asked.MinUnits, b.table().MinUnits, 1)
	b.cost = privacy.ZCDPLoss(price, delta)
	if err := s.choose(b.neighbours()); err != nil {
		return bind.Refuse(
			query.Pos{},
			"ask for a larger --epsilon or --delta",
			"no selection of groups can be chosen: %v",
			err,
		)
	}
	b.selection = s
	return nil
}

// choose sets the strategy under which fewer units in a group suffice for its release with probability 95 %.
func (s *Selection) choose(n privacy.Neighbours) error {
	rho, delta := s.Loss.ZCDP()
	differ := s.Groups
	if n == privacy.ChangeOne {
		differ *= 2
	}
	s.Optimal = partition.Parameters{
		// with K = differ, K groups at ε/K each cost K·(ε/K)²/2, which is ρ for ε/K = √(2ρ/K)
		Epsilon: rho.Share(1, differ).Pure().Times(differ),
		Delta:   delta, Keys: differ, MinUnits: s.MinUnits,
	}
	s.Gaussian = partition.ThresholdGaussian{
		Gaussian:  mechanism.Gaussian{L2Squared: big.NewInt(differ), Rho: rho},
		Threshold: partition.Threshold{MaxPerCell: big.NewInt(1), Keys: s.Groups, Delta: delta, MinUnits: s.MinUnits},
	}
	if loss, err := s.Optimal.Loss(); err != nil || !loss.Within(s.Loss) {
		return fmt.Errorf("%w: %s for %s", mechanism.ErrParameter, loss, s.Loss)
	}
	var from [2]int64
	for i, strategy := range []Strategy{Thresholded, Optimal} {
		s.Strategy = strategy
		n, err := s.Units(0.95)
		if err != nil {
			return err
		}
		from[i] = n
	}
	if from[0] < from[1] {
		s.Strategy = Thresholded
	}
	return nil
}

// Shares returns the number of groups among which the mechanism divides δ.
func (s *Selection) Shares() int64 {
	if s.Strategy == Thresholded {
		return s.Gaussian.Keys
	}
	return s.Optimal.Keys
}

// Units returns the least number of units from which on a group is released with probability p, where ½ ≤ p < 1.
// For Thresholded, the number is approximate. It is a function of public parameters.
func (s *Selection) Units(p float64) (int64, error) {
	if s.Strategy == Thresholded {
		return s.aboveThreshold(p)
	}
	law := partition.Selection{Parameters: s.Optimal}
	low, high := s.MinUnits-1, s.MinUnits // with `low` units, the probability is less than p
	for {
		kept, err := law.Probability(high)
		if err != nil {
			return 0, err
		}
		if kept >= p {
			break
		}
		if high > math.MaxInt64/4 {
			return 0, fmt.Errorf("%w: no number of units is enough", mechanism.ErrParameter)
		}
		low, high = high, high+2*(high-low)
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		kept, err := law.Probability(middle)
		if err != nil {
			return 0, err
		}
		if kept >= p {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

// aboveThreshold returns Units for Thresholded. With n units and noise X, the group is released if n + X > τ, so if
// X ≥ −k for k = n − τ − 1. X is symmetric, so P(X < −k) = P(|X| > k)/2.
func (s *Selection) aboveThreshold(p float64) (int64, error) {
	threshold, err := s.Gaussian.At()
	if err != nil {
		return 0, err
	}
	sigma2, err := s.Gaussian.Sigma2()
	if err != nil {
		return 0, err
	}
	dist, err := noise.NewDiscreteGaussian(sigma2)
	if err != nil {
		return 0, err
	}
	n := new(big.Int).Add(threshold, big.NewInt(1))
	if p > 0.5 {
		n.Add(n, dist.Quantile(2*(1-p)))
	}
	if !n.IsInt64() {
		return 0, fmt.Errorf("%w: no number of units is enough", mechanism.ErrParameter)
	}
	return n.Int64(), nil
}

// Parameter returns the sensitivity and the scale that the ledger records for the mechanism. They are the squared
// L2 sensitivity and σ² for Thresholded, and 1 unit and the 1/ε of one group for Optimal.
func (s *Selection) Parameter() (sensitivity, scale string, err error) {
	if s.Strategy == Thresholded {
		sigma2, err := s.Gaussian.Sigma2()
		if err != nil {
			return "", "", err
		}
		return s.Gaussian.L2Squared.String(), exact.FormatRat(sigma2), nil
	}
	each := s.Optimal.Epsilon.Share(1, s.Optimal.Keys).Rat()
	return "1", exact.FormatRat(each.Inv(each)), nil
}

// MaxChosen returns the largest number of unknown groups that an answer releases. If more are selected, the groups
// with the largest noisy numbers are released. That choice is post-processing of what could be released.
func (p *Plan) MaxChosen() int { return min(MaxCells, MaxNumbers/max(len(p.Measures), 1)) - 1 }

// Leading returns the index of the measure that ranks the groups: the first count, or 0 if there is none.
func (p *Plan) Leading() int {
	i := slices.IndexFunc(p.Measures, func(m *Measure) bool { return m.Kind != bounded.Sum })
	return max(i, 0)
}
