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

// Strategy is a mechanism that selects groups.
type Strategy string

// The strategies, both by the number of units that count in a group.
const (
	// released where it is above a threshold with noise: partition.ThresholdGaussian
	Thresholded Strategy = "gaussian threshold"
	Optimal     Strategy = "partition selection" // released with the largest probability: partition.Selection
)

// Selection decides which groups are released, where they are not known beforehand: one selection for all aggregates of a
// question, before them, at a share of the price and a δ of its own.
//
// It is δ-approximately ρ-zCDP, with ρ and δ those of Loss. Proof. Of groups there are those in which at least one unit counts
// (engine.Groups drops the others). A unit counts in at most Groups of them, by a choice that reads its own rows alone, and adds 1 to
// each: the numbers of units of neighbours differ by 1 in at most Groups groups under add/remove, and in at most 2·Groups under
// change-one, with a square of the L2 distance of at most Groups and, all contributions being ≥ 0, 2·Groups. That is what
// the mechanisms are given: Optimal the number of groups that differ, 2·Groups under change-one, and Thresholded the squared L2
// distance and how many groups of one data set the other may lack, Groups under both relations (the proof at
// partition.Threshold: each side drops its own).
//
// What is measured afterwards is a function of the groups that were released: for each fixed set of groups, of this table or not, the
// vector of the sums over their rows that count, whose sensitivity is at most that of all groups together (bound), since it is a part of it. So
// the losses add up [Dwork & Roth 2014, Section 3.5, for adaptive composition; Bun & Steinke 2016, Lemma 8.2]. That vector is what an engine gives
// for every set that can be released of its table. For one with a group in which no unit counts the engine would give 0, where rows may
// count whose units count elsewhere (of a unit so many rows count, and the unit in fewer groups): but no such set is ever released. ∎
type Selection struct {
	Strategy Strategy
	Groups   int64 // in which a unit counts, at most
	// a group of so many units or fewer is released with a probability of at most δ; at least 1
	MinUnits int64
	Loss     privacy.Loss         // ρ, and the δ
	Optimal  partition.Parameters // of either strategy the parameters
	Gaussian partition.ThresholdGaussian
}

// String is the selection's canonical text.
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

// choose takes the strategy that keeps a group with 95 % probability from the fewer units on.
func (s *Selection) choose(n privacy.Neighbours) error {
	rho, delta := s.Loss.ZCDP()
	differ := s.Groups
	if n == privacy.ChangeOne {
		differ *= 2
	}
	s.Optimal = partition.Parameters{
		// K groups at ε/K each cost K·(ε/K)²/2: at ε/K = √(2ρ/K), ρ
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

// Units is the least number of units, or for Thresholded nearly, from which on a group is released with probability p, ½ ≤ p <
// 1: a function of public parameters.
func (s *Selection) Units(p float64) (int64, error) {
	if s.Strategy == Thresholded {
		return s.aboveThreshold(p)
	}
	law := partition.Selection{Parameters: s.Optimal}
	low, high := s.MinUnits-1, s.MinUnits // not at low
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

// aboveThreshold: with n units, n + X > τ where X ≥ −k for k = n − τ − 1. X is symmetric, so that P(X < −k) = P(|X| > k)/2.
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

// Parameter is what the ledger records as the mechanism's sensitivity and scale: the squared L2 sensitivity and σ², or one
// unit and 1/ε of one group.
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

// MaxChosen is how many groups an answer of open keys releases, at most. Where more are selected it is those of the greatest
// noisy numbers, which is a function of what could be released.
func (p *Plan) MaxChosen() int { return min(MaxCells, MaxNumbers/max(len(p.Measures), 1)) - 1 }

// Leading is the measure by which groups are greater than others: a count, if there is one.
func (p *Plan) Leading() int {
	i := slices.IndexFunc(p.Measures, func(m *Measure) bool { return m.Kind != bounded.Sum })
	return max(i, 0)
}
