package account

import (
	"fmt"
	"math/big"

	"dither/privacy"
)

// Job is a list of mechanisms on the same data, all fixed in advance.
type Job struct {
	steps    []Step             // distinct steps, each with the number of its runs
	relation privacy.Neighbours // the relation under which the job's sampling amplifies; 0 without sampling
	tally    *tally
}

// mostParts is the largest number of steps that NewJob accepts, not counting how often each is repeated.
const mostParts = 10_000

// NewJob returns a job of the given steps. It returns ErrParameter for no steps, for more than 10,000 steps, or if
// their counts add up to more than MostSteps. It also does so for a zero Step, and if the steps use both sampling
// schemes, which need different relations.
func NewJob(steps ...Step) (*Job, error) {
	if len(steps) == 0 || len(steps) > mostParts {
		return nil, fmt.Errorf("%w: a job must have 1 to %d steps, not %d", ErrParameter, mostParts, len(steps))
	}
	j := &Job{}
	total, places := int64(0), map[string]int{}
	for _, s := range steps {
		if s.kind == nil {
			return nil, fmt.Errorf("%w: a step was not made by ParseStep", ErrParameter)
		}
		if total += s.count; total > MostSteps {
			return nil, fmt.Errorf("%w: the counts of a job's steps sum to more than %d",
				ErrParameter, int64(MostSteps))
		}
		needs := map[Scheme]privacy.Neighbours{Poisson: privacy.AddRemove, FixedSize: privacy.ChangeOne}[s.scheme]
		if needs != 0 && j.relation != 0 && needs != j.relation {
			return nil, fmt.Errorf(
				"%w: a job cannot mix Poisson sampling, which needs add-remove, and fixed-size sampling, which "+
					"needs change-one",
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

// Relation returns the neighbouring relation under which the job's sampling amplifies. Without sampling, ok is
// false: the loss then holds under any relation under which the steps' parameters hold.
func (j *Job) Relation() (n privacy.Neighbours, ok bool) { return j.relation, j.relation != 0 }

// promise returns the (ε, δ) promise of one run of a step. ok is false if the step has none.
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
		a.Delta, _ = privacy.DeltaOf(p["delta"]) // no error: ParseStep has checked δ
	default:
		return a, false
	}
	if s.sampling == nil {
		return a, true
	}
	sampled, err := a.Amplified(s.sampling, s.scheme)
	if err != nil { // ε is too large to amplify, so count the unsampled promise
		sampled = a
	}
	return sampled, true
}

// concentrated returns the ρ of one run of a step as approximate zCDP. Its δ is that of promise. ok is false if the
// step has no ρ.
//
// The ρ of the exponential mechanism is ε²/8, a quarter of the ρ of a pure promise of ε [Durfee & Rogers 2019;
// Cesar & Rogers 2021]. Proof. Let P and Q be the output laws on two neighbours. The loss Z = ln P/Q takes values
// in an interval of length ε: the normalizing sums contribute a constant, and each score moves by at most Δ in
// either direction, with weight ε/(2Δ). Let L(s) = ln E_Q e^(sZ). Then L(0) = L(1) = 0. L″ is the variance of a
// variable on such an interval, so L″ ≤ ε²/4. Therefore L(α) ≤ α(α−1)ε²/8, and D_α(P‖Q) = L(α)/(α−1) ≤ αε²/8. ∎
func (s Step) concentrated() (privacy.Rho, bool) {
	p := s.parameters
	half := big.NewRat(1, 2)
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	if s.sampling == nil {
		switch s.kind.name {
		case "gaussian", "discrete-gaussian":
			// sensitivity²/(2·sigma²) [Bun & Steinke 2016, Proposition 1.6; Canonne, Kamath & Steinke 2020, Theorem
			// 4]
			return rhoOf(half.Mul(half, square(new(big.Rat).Quo(p["sensitivity"], p["sigma"])))), true
		case "gdp": // the pair N(0,1), N(μ,1) dominates every μ-GDP mechanism [Dong, Roth & Su 2022, Section 2.3]
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

// epsilonOf returns r ≥ 0 as an ε. EpsilonOf fails only below 0.
func epsilonOf(r *big.Rat) privacy.Epsilon {
	e, _ := privacy.EpsilonOf(r)
	return e
}

func rhoOf(r *big.Rat) privacy.Rho {
	rho, _ := privacy.RhoOf(r)
	return rho
}
