package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/pld"
	"dither/privacy"
)

// pairs holds pairs of distributions that bound the loss of one run of a step. upper dominates every mechanism that
// the spec describes. lower is the pair of one such mechanism. The two are equal if the spec has a worst mechanism.
//
// Noise on vectors. Gaussian noise has the same law in every direction, so the pair of a vector is that of one
// value with the same L₂ sensitivity. An integer vector of L₂ sensitivity 1 moves by 1 in one value only. So for
// the discrete Gaussian with sensitivity 1, the pair of a vector is also that of one value. For larger
// sensitivities of the discrete Gaussian no pair is known.
//
// Claim: for Laplace noise, one value that moves by s₁+s₂ dominates two values that move by s₁ and s₂. Proof, at
// scale 1 and for s₁ ≥ s₂. The curve of one value that moves by s is δ_s(ε) = 1 − e^((ε−s)/2) for |ε| ≤ s. Its loss
// is s with probability ½ and −s with probability ½e^−s. Between −s and s the loss l has the density ¼e^((l−s)/2).
// The curve of two values is δ(ε) = E δ_s₁(ε−l), where l is the loss of the value that moves by s₂. For |ε| ≤
// s₁−s₂, δ(ε) = 1 − e^((ε−s₁)/2)·E e^(−l/2) = 1 − e^((ε−s₁−s₂)/2)·(1+s₂/2). For ε between s₁−s₂ and s₁+s₂, δ(ε) = 1
// − (1+D/4)·e^(−D/2) with D = s₁+s₂−ε. Both are at most 1 − e^((ε−s₁−s₂)/2), the curve of one value. For smaller ε,
// and for the reverse order, the claim follows because both pairs are symmetric.
//
// For discrete Laplace noise, let p = e^(−1/scale), and let the values move by integers m₁ ≥ m₂. All losses are
// multiples of 1/scale with the parity of m₁+m₂. Between these multiples each curve is linear in e^ε, so it
// suffices to compare the curves there. At these multiples the curve of one value that moves by m is again 1 −
// e^((ε−m/scale)/2). At ε = (m₁+m₂−2n)/scale with n ≤ m₂, the curve of two values is 1 − pⁿ − n·pⁿ(1−p)/(1+p),
// which is at most 1 − pⁿ. For the |ε| below, E e^(−l/2) = p^(m₂/2)·(1 + m₂(1−p)/(1+p)), which is at least
// p^(m₂/2). ∎
type pairs struct{ upper, lower *pld.Pair } // nil if no pair is known

// pairs returns the pairs of one run of a step.
func (s Step) pairs() pairs {
	whole := s.wholePairs()
	switch {
	case s.sampling == nil:
		return whole
	case s.scheme == FixedSize: // the amplified promise dominates, but no mechanism reaches it at every ε
		if a, ok := s.promise(); ok {
			return pairs{upper: pairOf(pld.Approximate(a.Epsilon.Rat(), a.Delta.Rat()))}
		}
		return pairs{}
	}
	sampled := func(p *pld.Pair) *pld.Pair {
		if p == nil {
			return nil
		}
		return pairOf(pld.Subsample(*p, s.sampling))
	}
	upper := sampled(whole.upper)
	if whole.lower == whole.upper {
		return pairs{upper, upper} // one pointer, so that the job is composed once
	}
	return pairs{upper, sampled(whole.lower)}
}

// wholePairs returns the pairs of one run of a step on all of the data.
func (s Step) wholePairs() pairs {
	p := s.parameters
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	same := func(p *pld.Pair) pairs { return pairs{p, p} }
	switch s.kind.name {
	case "gaussian":
		return same(pairOf(pld.Gaussian(square(new(big.Rat).Quo(p["sensitivity"], p["sigma"])))))
	case "gdp":
		return same(pairOf(pld.Gaussian(square(p["mu"]))))
	case "discrete-gaussian":
		if p["sensitivity"].Cmp(one) != 0 {
			return pairs{}
		}
		return same(pairOf(pld.DiscreteGaussian(square(p["sigma"]))))
	case "laplace":
		return same(pairOf(pld.Laplace(new(big.Rat).Quo(p["sensitivity"], p["scale"]))))
	case "discrete-laplace":
		if units := p["sensitivity"].Num(); units.IsInt64() {
			if pair := pairOf(pld.DiscreteLaplace(units.Int64(), p["scale"])); pair != nil {
				return same(pair)
			}
		}
		return pairs{upper: pairOf(pld.Pure(new(big.Rat).Quo(p["sensitivity"], p["scale"])))}
	case "randomized-response":
		return same(pairOf(pld.RandomizedResponse(p["epsilon"], p["k"].Num().Int64())))
	case "exponential":
		// With two candidates whose scores move by the sensitivity in opposite directions, the mechanism is
		// randomized response at ε/2.
		half := new(big.Rat).Quo(p["epsilon"], big.NewRat(2, 1))
		return pairs{pairOf(pld.BoundedRange(p["epsilon"])), pairOf(pld.Pure(half))}
	case "pure":
		return same(pairOf(pld.Pure(p["epsilon"])))
	case "approx":
		return same(pairOf(pld.Approximate(p["epsilon"], p["delta"])))
	case "zcdp": // Gaussian noise is one such mechanism
		return pairs{lower: pairOf(pld.Gaussian(new(big.Rat).Add(p["rho"], p["rho"])))}
	}
	return pairs{}
}

// pairOf returns a pointer to p, or nil on an error. Package pld does not support all parameters.
func pairOf(p pld.Pair, err error) *pld.Pair {
	if err != nil {
		return nil
	}
	return &p
}

// distributions holds the composed pairs of a job.
type distributions struct {
	upper, lower *pld.Composition // lower may be the same pointer as upper
	why          string           // the reason why the job has no composed pairs; "" if it has
}

// distributions composes the pairs of the job's steps, once. The lower composition omits steps without a lower
// pair. It remains a lower bound, because composing more never lowers the loss.
func (t *tally) distributions() *distributions {
	t.once.Do(func() {
		t.pld = &distributions{}
		var upper, lower []pld.Step
		same := true
		for _, s := range t.steps {
			p := s.pairs()
			if p.upper == nil {
				t.pld.why = "no pair of distributions is known for " + s.described()
				return
			}
			upper = append(upper, pld.Step{Pair: *p.upper, Count: s.count})
			if p.lower != nil {
				lower = append(lower, pld.Step{Pair: *p.lower, Count: s.count})
			}
			same = same && p.lower == p.upper
		}
		var err error
		if t.pld.upper, err = pld.Compose(upper); err != nil {
			t.pld.why = "the job is too large"
			return
		}
		t.pld.lower = t.pld.upper
		if !same {
			if t.pld.lower, err = pld.Compose(lower); err != nil {
				t.pld.why = "the job is too large"
			}
		}
	})
	return t.pld
}

// described returns the name of the mechanism for messages.
func (s Step) described() string {
	if s.sampling != nil {
		return "sampled " + s.kind.name
	}
	return s.kind.name
}

// pldEpsilon returns bounds of ε by the privacy loss distributions. The upper bound may be +Inf, which
// Report.settle handles.
func (t *tally) pldEpsilon(d privacy.Delta) Bracket {
	if lower, upper, ok := t.exactEpsilon(d); ok {
		return Bracket{lower, Figure{Value: upper}}
	}
	c := t.distributions()
	if c.why != "" {
		return Bracket{Figure: none("%s", c.why)}
	}
	goal := exact.FloatUp(d.Rat())
	lower, upper := c.upper.EpsilonBetween(exact.FloatDown(d.Rat()), goal)
	if c.lower != c.upper {
		lower, _ = c.lower.Epsilon(goal)
	}
	// Near the job's largest possible loss, the lower bound of ε may be far off although the bound of δ is not.
	// Improve it by testing values of ε below the upper bound.
	for gap := 1e-6; lower < upper*(1-max(0.02, 100*gap)) && gap < 1 && !math.IsInf(upper, 1); gap *= 10 {
		if x := upper * (1 - gap); x > lower {
			if least, _ := c.lower.Delta(x); least > goal {
				lower = x
			}
		}
	}
	return Bracket{lower, Figure{Value: upper}}
}

func (t *tally) pldDelta(e privacy.Epsilon) Bracket {
	if lower, upper, ok := t.exactDelta(e); ok {
		return Bracket{lower, Figure{Value: upper}}
	}
	c := t.distributions()
	if c.why != "" {
		return Bracket{Figure: none("%s", c.why)}
	}
	least, most := exact.FloatDown(e.Rat()), exact.FloatUp(e.Rat())
	lower, upper := c.upper.Delta(least)
	if c.lower != c.upper || least != most {
		lower, _ = c.lower.Delta(most)
	}
	return Bracket{lower, Figure{Value: upper}}
}

// The following jobs have a loss distribution in closed form, and need no numerical composition: those of Gaussian
// noise, and those of one repeated promise.

// mu2 returns the sum of μ² over all steps. ok is false unless every step is unsampled Gaussian noise or Gaussian
// differential privacy.
func (t *tally) mu2() (sum *big.Rat, ok bool) {
	sum = new(big.Rat)
	for _, s := range t.steps {
		var mu *big.Rat
		switch {
		case s.sampling != nil:
			return nil, false
		case s.kind.name == "gaussian":
			mu = new(big.Rat).Quo(s.parameters["sensitivity"], s.parameters["sigma"])
		case s.kind.name == "gdp":
			mu = s.parameters["mu"]
		default:
			return nil, false
		}
		square := new(big.Rat).Mul(mu, mu)
		sum.Add(sum, square.Mul(square, new(big.Rat).SetInt64(s.count)))
	}
	return sum, true
}

// optimal returns the optimal composition of a job that repeats one pure or (ε, δ) promise without sampling. ok is
// false for other jobs.
func (t *tally) optimal() (*Optimal, bool) {
	s := t.steps[0]
	if len(t.steps) > 1 || s.sampling != nil || s.kind.name != "pure" && s.kind.name != "approx" {
		return nil, false
	}
	a, _ := s.promise()
	o, err := NewOptimal(s.count, a)
	return o, err == nil
}

// optimalRange returns the optimal composition of a job that repeats one exponential mechanism without sampling. It
// needs the scores to be fixed before the first output (Report.Fixed). ok is false for other jobs.
func (t *tally) optimalRange() (*OptimalRange, bool) {
	s := t.steps[0]
	if len(t.steps) > 1 || s.sampling != nil || s.kind.name != "exponential" {
		return nil, false
	}
	a, _ := s.promise()
	o, err := NewOptimalRange(s.count, a.Epsilon)
	return o, err == nil
}

// fixedEpsilon and fixedDelta return the optimum of [OptimalRange], if there is one that says more than single mechanisms do.
func (t *tally) fixedEpsilon(d privacy.Delta) Bracket {
	if o, equal := t.optimalRange(); equal && t.steps[0].count > 1 && !d.IsZero() {
		lower, upper := o.Epsilon(d)
		return Bracket{lower, Figure{Value: upper}}
	}
	return Bracket{Figure: none("the job is not several equal exponential mechanisms")}
}

func (t *tally) fixedDelta(e privacy.Epsilon) Bracket {
	if o, equal := t.optimalRange(); equal && t.steps[0].count > 1 {
		lower, upper := o.Delta(e)
		return Bracket{lower, Figure{Value: upper}}
	}
	return Bracket{Figure: none("the job is not several equal exponential mechanisms")}
}

func (t *tally) exactEpsilon(d privacy.Delta) (lower, upper float64, ok bool) {
	if mu2, gaussian := t.mu2(); gaussian {
		lower, upper = GaussianEpsilon(mu2, d)
		return lower, upper, !math.IsInf(upper, 1)
	}
	if o, equal := t.optimal(); equal {
		lower, upper = o.Epsilon(d)
		return lower, upper, !math.IsInf(upper, 1)
	}
	return 0, 0, false
}

func (t *tally) exactDelta(e privacy.Epsilon) (lower, upper float64, ok bool) {
	if mu2, gaussian := t.mu2(); gaussian {
		lower, upper = GaussianDelta(mu2, e)
		return lower, upper, true
	}
	if o, equal := t.optimal(); equal {
		lower, upper = o.Delta(e)
		return lower, upper, true
	}
	if s := t.steps[0]; len(t.steps) == 1 && s.count == 1 && s.sampling == nil && s.kind.name == "discrete-gaussian" &&
		s.parameters["sensitivity"].Cmp(one) == 0 {
		sigma := s.parameters["sigma"]
		lower, upper = DiscreteGaussianDelta(new(big.Rat).Mul(sigma, sigma), big.NewInt(1), e)
		return lower, upper, true
	}
	return 0, 0, false
}
