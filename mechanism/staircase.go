package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/sample"
	"dither/noise"
	"dither/privacy"
)

// Staircase is the staircase mechanism for one integer [Geng & Viswanath 2014, the discrete case]. It has the least
// expected error among all Epsilon-differentially private mechanisms whose noise does not depend on the value. At a
// sensitivity of 1 it is the discrete Laplace mechanism. It is better than Laplace if the sensitivity is large and
// ε is above about 1.
//
// Claim: the mechanism is Epsilon-differentially private. Proof: the noise has P(z) = c·exp(−ε·s(|z|)), where s(k)
// = ⌊(k + Δ − r)/Δ⌋ (see noise.Staircase). For neighbours x and x′ with |x − x′| ≤ Sensitivity =: Δ and any output
// y, ||y − x| − |y − x′|| ≤ Δ. So s(|y − x|) and s(|y − x′|) differ by at most 1, and P(y|x)/P(y|x′) ≤ exp(ε). The
// noise is sampled exactly. ∎
//
// The loss of a vector does not follow from its L1 sensitivity, unlike for Laplace. For example, ten coordinates
// that change by 1 each may cost ten times ε, not ε. So the mechanism releases one number, and refuses a vector.
type Staircase struct {
	Sensitivity *big.Int        // the most that the integer changes between neighbours; at least 1
	Epsilon     privacy.Epsilon // ε, the loss; above 0
	Squared     bool            // minimise the expected squared error, not the expected absolute error
}

// Noise returns the noise's distribution, with the step that minimises the chosen error, or ErrParameter.
func (m Staircase) Noise() (noise.Staircase, error) {
	if m.Sensitivity == nil || m.Sensitivity.Sign() <= 0 || m.Epsilon.IsZero() {
		return noise.Staircase{},
			fmt.Errorf("%w: the staircase mechanism needs a sensitivity and an epsilon above 0", ErrParameter)
	}
	best := noise.AbsoluteStep
	if m.Squared {
		best = noise.SquaredStep
	}
	step, err := best(m.Sensitivity, m.Epsilon.Rat())
	if err != nil {
		return noise.Staircase{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return noise.NewStaircase(m.Sensitivity, step, m.Epsilon.Rat())
}

// Measure releases the one integer of x with noise. An error is ErrParameter, also if x does not have exactly one
// integer. It depends only on the parameters and the length of x.
func (m Staircase) Measure(x []Exact) (Measurement, error) {
	if len(x) != 1 {
		return Measurement{},
			fmt.Errorf("%w: the staircase mechanism measures one number, not %d", ErrParameter, len(x))
	}
	dist, err := m.Noise()
	if err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewStaircase(dist.Length(), dist.Step(), dist.Epsilon()), dist,
		privacy.PureLoss(m.Epsilon)), nil
}
