package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/sample"
	"dither/noise"
	"dither/privacy"
)

// Staircase is the staircase mechanism for one integer [Geng & Viswanath 2014, the discrete case]. Among all
// Epsilon-differentially private noises that do not depend on the value, it has the least expected error. At a
// sensitivity of 1 it is the discrete Laplace mechanism; it gains if the sensitivity is large and ε is above about 1.
//
// It is Epsilon-differentially private. Proof: the noise has P(z) = c·exp(−ε·s(|z|)), s(k) = ⌊(k + Δ −
// r)/Δ⌋ (see noise.Staircase). For neighbours x, x′ with |x − x′| ≤ Sensitivity =: Δ and any output y, ||y
// − x| − |y − x′|| ≤ Δ, so that s of the two differs by at most 1, and P(y|x)/P(y|x′) ≤ exp(ε). It is
// sampled exactly. ∎
//
// A vector's loss does not follow from its L1 sensitivity, as it does for Laplace: ten coordinates that change by one
// each cost up to ten times ε, not ε. So this mechanism is for one number, and refuses a vector.
type Staircase struct {
	Sensitivity *big.Int        // the most by which the integer changes between neighbours; at least 1
	Epsilon     privacy.Epsilon // the loss
	Squared     bool            // minimise the expected squared error instead of the absolute error
}

// Noise is the noise's distribution; or ErrParameter.
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

// Measure releases the one integer of x with noise. The error is ErrParameter, also if x does not have exactly one
// integer. It depends on the parameters and the length of x alone.
func (m Staircase) Measure(x []Exact) (Measurement, error) {
	if len(x) != 1 {
		return Measurement{},
			fmt.Errorf("%w: the staircase mechanism is for one number, not for %d", ErrParameter, len(x))
	}
	dist, err := m.Noise()
	if err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewStaircase(dist.Length(), dist.Step(), dist.Epsilon()), dist,
		privacy.PureLoss(m.Epsilon)), nil
}
