package synth

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/synth/aim"
)

const (
	// planned is the number of AIM's rounds for each column, before annealing. The published number is 16. On the
	// census table, 4 gives smaller errors at ε = 1 and 10, and 2 at ε = 0.1. So a faint table has plannedOfFaint: its
	// number of rows, in standard deviations of one count at the whole price, is below faint. On the census table this
	// number is 900 at ε = 0.1, and 8,500 at ε = 1.
	//
	// In standard deviations of a cell of a column, if each column has an equal share of the price, these numbers are 240
	// and 2,300. Below faintest, single columns take most of the price: 1 gives smaller errors on 1,000 rows of six columns
	// at a pure ε = 1 (118), and on the census table at ε = 0.03 (72). At ε = 0.05 (121), pairs gain and triples lose.
	planned, plannedOfFaint, plannedOfFaintest = 4, 2, 1
	faint, faintest                            = 2500, 150

	// The number of rows takes one part of numberShare of a price in ρ. A pure ε divides in proportion to standard
	// deviations, not variances, so there it takes one part of pureNumberShare
	numberShare, pureNumberShare = 1000, 50

	roundIterations = 40   // of the fit in each of AIM's rounds
	lastIterations  = 1000 // of the last fit
)

// name identifies a set of attributes.
func name(attributes []int) string { return fmt.Sprint(attributes) }

// independent measures each column at an equal share of the price.
func (s *synthesis) independent(ctx context.Context) error {
	if err := s.measure(ctx, s.ones(), s.total); err != nil {
		return err
	}
	return s.fit(lastIterations)
}

// aim runs the rounds of AIM.
func (s *synthesis) aim(ctx context.Context) error {
	rounds, left, err := s.plannedRounds(ctx)
	if err != nil {
		return err
	}
	schedule, err := aim.NewSchedule(left, len(s.Columns), rounds)
	if err != nil {
		return err
	}
	first := schedule.First()
	if err := s.measure(ctx, s.ones(), times(first.Measure, first.Times)); err != nil {
		return err
	}
	if err := s.fit(roundIterations); err != nil {
		return err
	}
	for {
		round, more := schedule.Next()
		if !more {
			return s.fit(lastIterations)
		}
		if err := s.round(ctx, schedule, round); err != nil {
			return err
		}
	}
}

// plannedRounds measures the number of rows with a small share of the price. It returns the number of rounds to plan
// for each column, and the rest of the price.
func (s *synthesis) plannedRounds(ctx context.Context) (rounds int, left *big.Rat, err error) {
	share := int64(pureNumberShare)
	if s.inRho {
		share = numberShare
	}
	number := new(big.Rat).Quo(s.total, big.NewRat(share, 1))
	if err := s.measure(ctx, [][]int{{}}, number); err != nil {
		return 0, nil, err
	}
	each := s.deviation(s.places[name(nil)], new(big.Rat).Quo(s.total, big.NewRat(int64(len(s.Columns)), 1)))
	switch rows := s.measured[0].Values[0]; {
	case rows < faintest*each:
		rounds = plannedOfFaintest
	case rows < faint*s.deviation(s.places[name(nil)], s.total):
		rounds = plannedOfFaint
	default:
		rounds = planned
	}
	s.measured, s.sets = nil, nil // the model is of marginals with columns
	return rounds, new(big.Rat).Sub(s.total, number), nil
}

// times returns n·x.
func times(x *big.Rat, n int) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(int64(n), 1)) }

// round selects the marginal in which the model is most wrong, measures it, and fits the model again.
func (s *synthesis) round(ctx context.Context, schedule *aim.Schedule, round aim.Round) error {
	spent, _ := round.Spent.Float64()
	allowed, err := s.workload.Within(append(slices.Clone(s.sets), s.constrained()...), s.request.ModelBytes*spent)
	if err != nil {
		return err
	}
	allowed, sets, before, err := s.computed(allowed)
	if err != nil {
		return err
	}
	options := make([]curator.Option, len(allowed))
	for i, m := range allowed {
		candidate := s.places[name(m.Attributes)]
		score, err := aim.NewScore(m, before[i], s.deviation(candidate, round.Measure))
		if err != nil {
			return err
		}
		options[i] = option(candidate, score)
	}
	at, err := s.chosen(ctx, options, round.Select)
	if err != nil {
		return err
	}
	set := sets[at]
	if err := s.measure(ctx, [][]int{set}, round.Measure); err != nil {
		return err
	}
	if err := s.fit(roundIterations); err != nil {
		return err
	}
	after, err := s.model.Marginal(set...)
	if err != nil {
		return err
	}
	schedule.Annealed(before[at], after, s.deviation(s.places[name(set)], round.Measure))
	s.result.Rounds++
	return nil
}

// computed returns the model's tables of marginals, and leaves out marginals whose columns are so far apart in the
// model that their table is too large to compute. Such a marginal would be an error after everything is paid.
func (s *synthesis) computed(all []aim.Marginal) (kept []aim.Marginal, sets [][]int, tables [][]float64, err error) {
	for _, m := range all {
		sets = append(sets, m.Attributes)
	}
	if tables, err = s.model.Marginals(sets); err == nil {
		return all, sets, tables, nil
	}
	sets, tables = nil, nil
	for _, m := range all {
		table, failed := s.model.Marginal(m.Attributes...)
		if failed != nil {
			continue
		}
		kept, sets, tables = append(kept, m), append(sets, m.Attributes), append(tables, table)
	}
	if len(kept) == 0 {
		return nil, nil, nil, err
	}
	return kept, sets, tables, nil
}

// option returns a score as the kernel takes it: weight·‖x − model‖₁ − weight·penalty.
func option(candidate int, s *aim.Score) curator.Option {
	weight := min(s.Weight, linear.MaxWeight)
	d := linear.Distance{Weight: weight, Scale: 1, Table: s.Model}
	if s.Penalty > linear.MaxTableEntry/weight {
		d.Penalty = linear.MaxTableEntry
	} else {
		d.Penalty = weight * s.Penalty
	}
	return curator.Option{Candidate: candidate, Score: d}
}

// chosen selects an option, and returns its index.
func (s *synthesis) chosen(ctx context.Context, options []curator.Option, price *big.Rat) (int, error) {
	m, err := s.rounds.Select(ctx, options, s.step(price))
	if err != nil {
		return 0, err
	}
	s.result.Replayed = s.result.Replayed && m.Replayed
	s.watch(price)
	return m.Option, nil
}

// mst measures each column with a third of the price, selects a tree of pairs with a third, and measures the pairs with
// the rest. A pair's score is its distance from the model in which all columns are independent, less the error that is
// expected after its measurement. The published score lacks the second term, and the published method merges rare
// values in its place. On the census table, the term alone takes pairs of many cells from the tree, whose measurements
// are mostly noise.
func (s *synthesis) mst(ctx context.Context) error {
	third := new(big.Rat).Quo(s.total, big.NewRat(3, 1))
	if err := s.measure(ctx, s.ones(), third); err != nil {
		return err
	}
	if err := s.fit(lastIterations); err != nil {
		return err
	}
	pairs := slices.Clone(s.candidates[len(s.Columns):s.shaped])
	each := new(big.Rat).Quo(third, big.NewRat(int64(max(len(s.Columns)-1, 1)), 1))
	tables, err := s.model.Marginals(pairs)
	if err != nil {
		return err
	}
	scores := make([]curator.Option, len(pairs))
	for i, pair := range pairs {
		candidate := s.places[name(pair)]
		score, err := aim.NewScore(aim.Marginal{Attributes: pair, Weight: 1}, tables[i], s.deviation(candidate, each))
		if err != nil {
			return err
		}
		scores[i] = option(candidate, score)
	}
	component := make([]int, len(s.Columns)) // of the tree so far, by column
	for i := range component {
		component[i] = i
	}
	var tree [][]int
	for {
		var options []curator.Option
		var of [][]int
		for i, pair := range pairs {
			if component[pair[0]] != component[pair[1]] {
				options, of = append(options, scores[i]), append(of, pair)
			}
		}
		if len(of) == 0 {
			break
		}
		at, err := s.chosen(ctx, options, each)
		if err != nil {
			return err
		}
		s.result.Rounds++
		tree = append(tree, of[at])
		from, to := component[of[at][0]], component[of[at][1]]
		for i, c := range component {
			if c == from {
				component[i] = to
			}
		}
	}
	if len(tree) > 0 {
		if err := s.measure(ctx, tree, third); err != nil {
			return err
		}
	}
	return s.fit(lastIterations)
}
