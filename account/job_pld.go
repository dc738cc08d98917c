package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/pld"
	"dither/privacy"
)

// pairs are the pairs of distributions that bound one run of a step. upper dominates every mechanism that the spec
// describes; lower is the pair of one of them. They are equal if the spec has a worst mechanism.
//
// Noise on vectors. Gaussian noise is alike in every direction, so the pair of one value of the same L₂ sensitivity
// is the vector's. An integer vector of L₂ sensitivity 1 moves by 1 in one value alone, so that for the discrete
// Gaussian the pair is one value's too; for larger sensitivities no pair is known. For Laplace noise, one value that
// moves by s₁+s₂ dominates two that move by s₁ and s₂. Proof, at scale 1 and s₁ ≥ s₂. One value's curve
// is δ_s(ε) = 1 − e^((ε−s)/2) for |ε| ≤ s; its loss is s with probability ½, −s with ½e^−s, and has the
// density ¼e^((l−s)/2) between. Two have δ(ε) = E δ_s₁(ε−l), l the loss at s₂. For |ε| ≤ s₁−s₂
// this is 1 − e^((ε−s₁)/2)·E e^(−l/2) = 1 − e^((ε−s₁−s₂)/2)·(1+s₂/2); for ε between
// s₁−s₂ and s₁+s₂ it is, with D = s₁+s₂−ε, 1 − (1+D/4)·e^(−D/2); both are at most 1 −
// e^((ε−s₁−s₂)/2). Below, and for the reverse order, by the symmetry of both pairs. For discrete noise, p =
// e^(−1/scale) and integers m₁ ≥ m₂, all losses are multiples of 1/scale of the parity of m₁+m₂, between
// which each curve is straight in e^ε, and where one value's is 1 − e^((ε−m/scale)/2) again. At ε =
// (m₁+m₂−2n)/scale with n ≤ m₂ the two have 1 − pⁿ − n·pⁿ(1−p)/(1+p), and E e^(−l/2) =
// p^(m₂/2)·(1 + m₂(1−p)/(1+p)) is at least p^(m₂/2). ∎
type pairs struct{ upper, lower *pld.Pair } // nil: none is known

// pairs are those of one run of a step.
func (s Step) pairs() pairs {
	whole := s.wholePairs()
	switch {
	case s.sampling == nil:
		return whole
	case s.scheme == FixedSize: // what is promised of a sample dominates, but is not reached at every ε at once
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
	return pairs{sampled(whole.upper), sampled(whole.lower)}
}

// wholePairs are those of a run on all of the data.
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
		// Of two candidates whose scores each move by Δ, in opposite ways, it is randomized response at ε/2.
		half := new(big.Rat).Quo(p["epsilon"], big.NewRat(2, 1))
		return pairs{pairOf(pld.BoundedRange(p["epsilon"])), pairOf(pld.Pure(half))}
	case "pure":
		return same(pairOf(pld.Pure(p["epsilon"])))
	case "approx":
		return same(pairOf(pld.Approximate(p["epsilon"], p["delta"])))
	case "zcdp": // Gaussian noise has such a loss
		return pairs{lower: pairOf(pld.Gaussian(new(big.Rat).Add(p["rho"], p["rho"])))}
	}
	return pairs{}
}

// pairOf returns a pair if there is one; package pld does not support all parameters.
func pairOf(p pld.Pair, err error) *pld.Pair {
	if err != nil {
		return nil
	}
	return &p
}

// distributions are a job's compositions of pairs.
type distributions struct {
	upper, lower *pld.Composition // lower may be upper
	why          string           // there is none
}

// distributions composes the pairs. The lower bound omits steps without a lower pair, since composing more never loses
// less.
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

// described is the mechanism in a sentence.
func (s Step) described() string {
	if s.sampling != nil {
		return "sampled " + s.kind.name
	}
	return s.kind.name
}

// pldEpsilon reports the distributions' bracket of ε. The upper end may be +Inf, which Report.settle handles.
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
	// Near the largest loss of all the lower bound on ε may be far off where that on δ is not.
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

// Jobs whose loss distribution has a curve in closed form need no lattice: Gaussian ones, and those of one promise.

// mu2 is the sum of μ² of a job that is Gaussian throughout.
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

// optimal is the optimal composition of a job of one promise, kept many times.
func (t *tally) optimal() (*Optimal, bool) {
	s := t.steps[0]
	if len(t.steps) > 1 || s.sampling != nil || s.kind.name != "pure" && s.kind.name != "approx" {
		return nil, false
	}
	a, _ := s.promise()
	o, err := NewOptimal(s.count, a)
	return o, err == nil
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
