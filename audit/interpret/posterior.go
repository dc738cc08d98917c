package interpret

import (
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
)

// Likelihood is the probability of the observed output under one dataset: Factor·e^Log, exactly. A nil Factor is 0,
// and a nil Log is 0. So the zero value is the likelihood of an output that the dataset cannot produce. A factor
// common to all likelihoods, with a person's data and without, may be left out. An example is the normalising sum
// of additive noise.
type Likelihood struct{ Factor, Log *big.Rat }

// Inference is what an attacker infers from an output a, by Bayes' rule over finitely many datasets. The rule is
// applied twice. The first time uses the probability of a under each dataset x. The second time uses its
// probability under x₋ᵢ, in which the data of person i are removed (add/remove) or replaced by a default
// (change-one). The second belief is what the attacker would believe if person i's data had not been used.
//
// The datasets may also stand for hypotheses about the world. A dataset that two hypotheses can produce is then
// listed twice.
//
// Theorem 1 [Kasiviswanathan & Smith 2014, "On the semantics of differential privacy: a Bayesian formulation"].
// Claim: the two beliefs differ by at most a factor of e^2ε. Precisely, let the mechanism be ε-differentially
// private, and x₋ᵢ one step of the neighbouring relation from x. Then for every prior, every person i, every
// possible output a and every event S,
//
//	e^−2ε·p₋ᵢ(S|a) ≤ p(S|a) ≤ e^2ε·p₋ᵢ(S|a),
//
// and the odds of S, p(S)/p(not S), differ by at most the same factor. The prior may contain any dependence between
// people.
//
// Proof. Let π be the prior, P_x the distribution of the output under x, Z = Σ_x π(x)P_x(a) and Z₋ = Σ_x
// π(x)P_x₋ᵢ(a). For every x
//
//	p(x|a)/p₋ᵢ(x|a) = P_x(a)/P_x₋ᵢ(a) · Z₋/Z.
//
// The first factor is between e^−ε and e^ε by the promise. The second factor is a mean of inverse such factors, so
// it is in the same range. p(S)/p₋ᵢ(S) is the mean of p(x)/p₋ᵢ(x) over S, weighted by p₋ᵢ(x), so it satisfies the
// same bounds. In a quotient of odds, Z₋/Z cancels. What remains is the quotient of two means of the first factor.
// ∎
//
// The theorem does not say that an attacker learns nothing about a person. Both p(·|a) and p₋ᵢ(·|a) may be far from
// the prior, for example if a study finds a fact about everybody.
//
// For δ > 0 the bound fails with some probability over the output. For a prior over many datasets, the known
// results concern the statistical distance [Kasiviswanathan & Smith 2014]. [MeaningOf] has bounds for two
// hypotheses.
type Inference struct {
	Prior   []*big.Rat   // the prior weight of each dataset: at least 0, and not all 0; the sum need not be 1
	Seen    []Likelihood // the likelihood of the output under each dataset
	Without []Likelihood // the likelihood of the output under each dataset, with the person's data removed or replaced
}

// Posterior holds the beliefs in each dataset after the output: with the person's data, and without.
type Posterior struct {
	with, without weights
	sums          exact.Interval // ln(Z₋/Z), apart from the shifts of the weights
	ratios        []float64      // upper bounds on |ln p(x)/p₋ᵢ(x)|; NaN if both are 0
	worst         int
	bits          uint // precision, in binary digits
}

// Posterior applies Bayes' rule. It returns account.ErrParameter if the lists differ in length, if a prior or a
// factor is negative, or if the output is impossible under every dataset of the prior.
func (in Inference) Posterior() (Posterior, error) {
	if len(in.Prior) == 0 || len(in.Seen) != len(in.Prior) || len(in.Without) != len(in.Prior) {
		return Posterior{}, fmt.Errorf("%w: each dataset needs a prior and two likelihoods", account.ErrParameter)
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
		return Posterior{}, fmt.Errorf("%w: the output is impossible under every dataset of the prior",
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

// ratio returns |ln p(x) − ln p₋ᵢ(x)|, rounded up, where p and p₋ᵢ are the beliefs with and without the person's
// data. It computes with the logarithms of the likelihoods, so that nothing underflows.
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

// LogRatio returns the largest |ln(p(S|a)/p₋ᵢ(S|a))| over all events S, rounded up, and the dataset that attains
// it. Here p(S|a) and p₋ᵢ(S|a) are the beliefs in S with and without the person's data, as at [Inference]. A single
// dataset attains the largest value, because an event's ratio is a mean of the ratios of its datasets.
//
// The result is +Inf if some dataset is possible after the output with the person's data and impossible without, or
// the reverse. For the zero Posterior it is NaN.
func (p Posterior) LogRatio() (upper float64, at int) {
	if len(p.ratios) == 0 {
		return math.NaN(), 0
	}
	return p.ratios[p.worst], p.worst
}

// Of returns the belief in an event: with the person's data, and without. The event is given by the indices of its
// datasets. If the output is impossible without the person's data, the second belief does not exist, and is NaN.
// For the zero Posterior both are NaN.
func (p Posterior) Of(event func(x int) bool) (with, without Between) {
	return p.with.share(event), p.without.share(event)
}

// EventRatio returns bounds on |ln(p(S|a)/p₋ᵢ(S|a))| for one event S, where p(S|a) and p₋ᵢ(S|a) are the beliefs in
// S with and without the person's data, as at [Inference].
//
// Both bounds are +Inf if exactly one of the two beliefs is 0. They are also +Inf, for every event, if the output
// is impossible without the person's data, because p₋ᵢ then does not exist. Both are NaN if both beliefs are 0, and
// for the zero Posterior. If a belief is too small to compute, the bounds are 0 and the result of
// [Posterior.LogRatio].
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
	case with.Lo().Sign() <= 0 || without.Lo().Sign() <= 0: // too small to compute
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
