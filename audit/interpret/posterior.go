package interpret

import (
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
)

// Likelihood is the probability of the observed output under one dataset: Factor·e^Log, exactly. A nil Factor is 0, a
// nil Log 0, so the zero value is an output that the dataset cannot produce. A factor common to the likelihoods of all
// datasets, with a person's data and without, may be left out, such as the normalising sum of additive noise.
type Likelihood struct{ Factor, Log *big.Rat }

// Inference is what an attacker does after seeing an output a: Bayes' rule, over finitely many datasets, twice. The
// first time it uses the output's probability under each dataset x. The second time it uses that under x₋ᵢ, in
// which the data of person i are replaced by a default (under change-one) or removed (under add/remove): what the
// attacker would believe about x, and so about person i, if that person's data had not been used.
//
// The datasets may also stand for hypotheses about the world behind them. A dataset that two hypotheses can both
// produce is listed twice.
//
// Theorem 1 [Kasiviswanathan & Smith 2014, "On the semantics of differential privacy: a Bayesian formulation"]. If the
// mechanism is ε-differentially private, and x₋ᵢ is one step of the neighbouring relation from x, then for every
// prior, whatever it holds of how people depend on one another, every i, every output a that is possible and every
// event S
//
//	e^−2ε·p₋ᵢ(S|a) ≤ p(S|a) ≤ e^2ε·p₋ᵢ(S|a),
//
// and the odds of S, p(S)/p(not S), are within a factor of e^±2ε likewise.
//
// Proof. Let π be the prior, P_x the law of the output, Z = Σ_x π(x)P_x(a) and Z₋ = Σ_x π(x)P_x₋ᵢ(a). For
// every x
//
//	p(x|a)/p₋ᵢ(x|a) = P_x(a)/P_x₋ᵢ(a) · Z₋/Z,
//
// where the first factor is within e^±ε by the promise and the second, being a mean of inverse such factors, too.
// p(S) is a mean, weighted by p₋ᵢ(x) over S, of p(x)/p₋ᵢ(x), times p₋ᵢ(S): hence within the same bounds. In
// a quotient of odds Z₋/Z cancels, and what is left is one such mean of the first factors over another. ∎
//
// It does not say that nothing is learned about a person: p(·|a) and p₋ᵢ(·|a) may both be far from the prior, for
// example if a study finds a fact about everybody.
//
// For δ > 0 the bound fails with some probability over the output, and for a prior over many datasets what is known
// is of statistical distance [Kasiviswanathan & Smith 2014]; MeaningOf has what holds of two hypotheses.
type Inference struct {
	Prior   []*big.Rat   // of each dataset: at least 0, and positive somewhere. The sum need not be 1
	Seen    []Likelihood // of the output, under each dataset
	Without []Likelihood // of the same output, under each dataset with the person's data replaced or removed
}

// Posterior is the belief in each dataset after the output.
type Posterior struct {
	with, without weights
	sums          exact.Interval // ln Z₋/Z, but for the shifts
	ratios        []float64      // upper bounds of |ln p(x)/p₋ᵢ(x)|; NaN if neither is possible
	worst         int
	bits          uint // of precision
}

// Posterior applies Bayes' rule. Lists of different lengths, a negative prior or factor, and an output that is
// impossible under every dataset of the prior are account.ErrParameter.
func (in Inference) Posterior() (Posterior, error) {
	if len(in.Prior) == 0 || len(in.Seen) != len(in.Prior) || len(in.Without) != len(in.Prior) {
		return Posterior{}, fmt.Errorf("%w: each data set has a prior and two likelihoods", account.ErrParameter)
	}
	p := Posterior{bits: precision(in.Seen, in.Without)}
	var err error
	memo := map[string]exact.Interval{}
	if p.with, err = weigh(in.Prior, in.Seen, memo, p.bits); err != nil {
		return Posterior{}, err
	}
	if p.without, err = weigh(in.Prior, in.Without, memo, p.bits); err != nil {
		return Posterior{}, err
	}
	if p.with.none {
		return Posterior{}, fmt.Errorf("%w: the output is impossible from every data set of the prior",
			account.ErrParameter)
	}
	if !p.without.none {
		p.sums = p.without.sum.Log().Sub(p.with.sum.Log())
	}
	p.ratios = make([]float64, len(in.Prior))
	largest := -1.0
	for x := range in.Prior {
		p.ratios[x] = p.ratio(x, in)
		if p.ratios[x] > largest {
			largest, p.worst = p.ratios[x], x
		}
	}
	return p, nil
}

// ratio is |ln p(x) − ln p₋ᵢ(x)|, rounded up: from the likelihoods themselves, so that nothing underflows.
func (p Posterior) ratio(x int, in Inference) float64 {
	seen, without := p.with.can[x], p.without.can[x]
	switch {
	case !seen && !without:
		return math.NaN()
	case seen != without:
		return math.Inf(1)
	}
	of := func(r *big.Rat) exact.Interval { return exact.IntervalOf(r, p.bits) }
	apart := new(big.Rat).Sub(in.Seen[x].log(), in.Without[x].log())
	apart.Add(apart, p.without.shift)
	apart.Sub(apart, p.with.shift)
	ln := of(apart).Add(p.sums)
	if in.Seen[x].Factor.Cmp(in.Without[x].Factor) != 0 {
		ln = ln.Add(of(new(big.Rat).Quo(in.Seen[x].Factor, in.Without[x].Factor)).Log())
	}
	lower, upper := ln.Floats()
	return max(-lower, upper)
}

// LogRatio is the largest |ln(p(S|a)/p₋ᵢ(S|a))| over all events S, rounded up, with the dataset that attains it: an
// event's ratio is a mean of those of its datasets, so none is further from 1 than the furthest of one dataset. It is
// +Inf if something is possible after the output with the person's data and not without, or the other way round. For
// the zero Posterior it is NaN.
func (p Posterior) LogRatio() (upper float64, at int) {
	if len(p.ratios) == 0 {
		return math.NaN(), 0
	}
	return p.ratios[p.worst], p.worst
}

// Of is the belief in an event, given by its datasets: with the person's data, and without. If the output is impossible
// without it, there is no such belief, and the second is NaN. For the zero Posterior both are NaN.
func (p Posterior) Of(event func(x int) bool) (with, without Between) {
	return p.with.share(event), p.without.share(event)
}

// EventRatio bounds |ln(p(S|a)/p₋ᵢ(S|a))| of one event from both sides. Both bounds are +Inf if exactly one of the
// two beliefs is 0. They are also +Inf, for every event, if the output is impossible without the person's data, because
// then p₋ᵢ does not exist. Both are NaN if both beliefs are 0, and for the zero Posterior. If a belief is too small
// to compute, the bounds are 0 and LogRatio's.
func (p Posterior) EventRatio(event func(x int) bool) Between {
	if len(p.ratios) == 0 {
		return Between{math.NaN(), math.NaN()}
	}
	with, without := p.with.part(event), p.without.part(event)
	if p.without.none {
		return Between{math.Inf(1), math.Inf(1)}
	}
	seen, other := p.with.any(event), p.without.any(event)
	switch {
	case !seen && !other:
		return Between{math.NaN(), math.NaN()}
	case seen != other:
		return Between{math.Inf(1), math.Inf(1)}
	case with.Lo().Sign() <= 0 || without.Lo().Sign() <= 0: // too small to tell
		return Between{0, p.ratios[p.worst]}
	}
	lower, upper := with.Log().Sub(without.Log()).Add(p.sums).Floats()
	if lower <= 0 && upper >= 0 {
		return Between{0, max(-lower, upper)}
	}
	return Between{min(math.Abs(lower), math.Abs(upper)), max(math.Abs(lower), math.Abs(upper))}
}

func (l Likelihood) log() *big.Rat {
	if l.Log == nil {
		return new(big.Rat)
	}
	return l.Log
}
