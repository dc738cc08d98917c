package account

import (
	"fmt"
	"math/big"

	"dither/privacy"
)

// Job is a list of steps on the same data, all fixed in advance.
type Job struct {
	steps    []Step             // distinct steps, with counts
	relation privacy.Neighbours // that its sampling needs, or 0
	tally    *tally
}

// mostParts bounds the steps of a job, however often each is repeated.
const mostParts = 10_000

// NewJob makes a job of steps. It returns ErrParameter without steps, for too many (10,000, or MostSteps with their
// counts), for a zero Step, and for sampling by both schemes, which need different relations.
func NewJob(steps ...Step) (*Job, error) {
	if len(steps) == 0 || len(steps) > mostParts {
		return nil, fmt.Errorf("%w: a job has 1 to %d steps, not %d", ErrParameter, mostParts, len(steps))
	}
	j := &Job{}
	total, places := int64(0), map[string]int{}
	for _, s := range steps {
		if s.kind == nil {
			return nil, fmt.Errorf("%w: a step that ParseStep did not make", ErrParameter)
		}
		if total += s.count; total > MostSteps {
			return nil, fmt.Errorf("%w: the counts of a job's steps come to more than %d",
				ErrParameter, int64(MostSteps))
		}
		needs := map[Scheme]privacy.Neighbours{Poisson: privacy.AddRemove, FixedSize: privacy.ChangeOne}[s.scheme]
		if needs != 0 && j.relation != 0 && needs != j.relation {
			return nil, fmt.Errorf(
				"%w: Poisson sampling amplifies under add/remove and sampling of a fixed size under change-one, and a job has one relation",
				ErrParameter,
			)
		}
		j.relation = max(j.relation, needs)
		once := s
		once.count = 1
		name := once.String()
		if i, ok := places[name]; ok {
			j.steps[i].count += s.count
			continue
		}
		places[name] = len(j.steps)
		j.steps = append(j.steps, s)
	}
	j.tally = newTally(j.steps)
	return j, nil
}

// Relation is the neighbouring relation under which the job's sampling amplifies. ok is false without sampling: then
// any relation under which the steps' parameters hold applies.
func (j *Job) Relation() (n privacy.Neighbours, ok bool) { return j.relation, j.relation != 0 }

// promise is the (ε, δ) promise of one run of a step, if it has one.
func (s Step) promise() (Approximate, bool) {
	var a Approximate
	p := s.parameters
	switch s.kind.name {
	case "laplace", "discrete-laplace":
		a.Epsilon = epsilonOf(new(big.Rat).Quo(p["sensitivity"], p["scale"]))
	case "exponential", "randomized-response", "pure":
		a.Epsilon = epsilonOf(p["epsilon"])
	case "approx":
		a.Epsilon = epsilonOf(p["epsilon"])
		a.Delta, _ = privacy.DeltaOf(p["delta"]) // a spec's δ is valid
	default:
		return a, false
	}
	if s.sampling == nil {
		return a, true
	}
	sampled, err := a.Amplified(s.sampling, s.scheme)
	if err != nil { // an ε that is too large to amplify
		sampled = a
	}
	return sampled, true
}

// concentrated is the zCDP loss of one run of a step, if it has one; its δ is promise's.
//
// That of the exponential mechanism is ε²/8, a quarter of what its pure promise gives [Durfee & Rogers 2019; Cesar &
// Rogers 2021]. Proof. Its loss Z = ln P/Q ranges over an interval of length ε: the normalizing sums are one constant,
// and scores differ by Δ at most to either side, each weighing ε/2. L(s) = ln E_Q e^(sZ) has L(0) = L(1) = 0 and L″
// ≤ ε²/4, a variance on such an interval, so that L(α) ≤ α(α−1)ε²/8 and D_α(P‖Q) = L(α)/(α−1) ≤
// αε²/8. ∎
func (s Step) concentrated() (privacy.Rho, bool) {
	p := s.parameters
	half := big.NewRat(1, 2)
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	if s.sampling == nil {
		switch s.kind.name {
		case "gaussian", "discrete-gaussian":
			// Δ²/(2σ²) [Bun & Steinke 2016, Proposition 1.6; Canonne, Kamath & Steinke 2020, Theorem 4]
			return rhoOf(half.Mul(half, square(new(big.Rat).Quo(p["sensitivity"], p["sigma"])))), true
		case "gdp": // Gaussian DP is dominated by N(0,1) and N(μ,1) [Dong, Roth & Su 2022, Section 2.3]
			return rhoOf(half.Mul(half, square(p["mu"]))), true
		case "zcdp":
			return rhoOf(p["rho"]), true
		case "exponential":
			return rhoOf(new(big.Rat).Mul(big.NewRat(1, 8), square(p["epsilon"]))), true
		}
	}
	if a, ok := s.promise(); ok {
		return a.Epsilon.Rho(), true
	}
	return privacy.Rho{}, false
}

// epsilonOf returns r as a loss. r must be at least 0; EpsilonOf fails only below 0.
func epsilonOf(r *big.Rat) privacy.Epsilon {
	e, _ := privacy.EpsilonOf(r)
	return e
}

func rhoOf(r *big.Rat) privacy.Rho {
	rho, _ := privacy.RhoOf(r)
	return rho
}
