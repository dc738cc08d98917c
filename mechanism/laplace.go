// Package mechanism holds the randomised mechanisms as pure functions from exact values and public parameters to a
// noisy measurement. It knows nothing of tables, questions or budgets.
package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// ErrParameter reports a mechanism whose parameters give no privacy: an unset, zero or negative sensitivity, or no ε.
var ErrParameter = parameter.Err

// Laplace is the discrete Laplace mechanism for a vector of integers [Dwork, McSherry, Nissim & Smith 2006; Ghosh,
// Roughgarden & Sundararajan 2009].
//
// It is Epsilon-differentially private. Proof: let x, x′ be the vectors of neighbouring datasets, so that ‖x −
// x′‖₁ ≤ Sensitivity =: Δ, and let b = Δ/ε. The noise on each coordinate is independent with mass f(z) =
// c·exp(−|z|/b) over all integers, so every integer vector y is possible under both, and P(y|x)/P(y|x′) = ∏
// f(y_i − x_i)/f(y_i − x′_i) ≤ ∏ exp(|x_i − x′_i|/b) ≤ exp(Δ/b) = exp(ε). The noise is sampled
// exactly, in integers, with b an exact rational: nothing in the argument is rounded. ∎
type Laplace struct {
	Sensitivity *big.Int        // the L1 sensitivity of the whole vector, in the values' unit; at least 1
	Epsilon     privacy.Epsilon // the loss of the whole vector
}

// Measurement is the release of a mechanism: noisy values, with everything public about their noise.
type Measurement struct {
	Values []*big.Int
	Noise  noise.Distribution // of each value, independently
	Loss   privacy.Loss       // of all values together
}

// Scale is the noise's scale, Sensitivity/Epsilon, exactly; or ErrParameter.
func (m Laplace) Scale() (*big.Rat, error) {
	if m.Sensitivity == nil || m.Sensitivity.Sign() <= 0 || m.Epsilon.IsZero() {
		return nil, fmt.Errorf("%w: the Laplace mechanism needs a sensitivity and an epsilon above 0", ErrParameter)
	}
	return privacy.LaplaceScale(m.Sensitivity, m.Epsilon)
}

// Measure releases x with independent noise on each value. The error is ErrParameter or the noise's own, and depends on
// the parameters alone.
func (m Laplace) Measure(x []Exact) (Measurement, error) {
	scale, err := m.Scale()
	if err != nil {
		return Measurement{}, err
	}
	dist, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewLaplace(scale), dist, privacy.PureLoss(m.Epsilon)), nil
}

// measure adds independent noise to each value.
func measure(x []Exact, noisy sample.Sampler, dist noise.Distribution, loss privacy.Loss) Measurement {
	source := entropy.System()
	defer source.Wipe()
	out := Measurement{Values: make([]*big.Int, len(x)), Noise: dist, Loss: loss}
	for i, e := range x {
		z := noisy.Draw(source, new(big.Int))
		out.Values[i] = z.Add(z, opaque.Open(e))
	}
	return out
}
