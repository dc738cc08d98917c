// Package mechanism contains the randomised mechanisms. Each is a pure function from exact values and public
// parameters to a noisy measurement. The package knows nothing about tables, questions or budgets.
package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/parallel"
	"dither/internal/sample"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// ErrParameter reports parameters that give no privacy, such as a sensitivity of 0 or a missing ε, or with which a
// mechanism cannot compute.
var ErrParameter = parameter.Err

// Laplace is the discrete Laplace mechanism for a vector of integers [Dwork, McSherry, Nissim & Smith 2006; Ghosh,
// Roughgarden & Sundararajan 2009].
//
// Claim: the mechanism is Epsilon-differentially private. Proof: let x and x′ be the vectors of neighbouring
// datasets. Then ‖x − x′‖₁ ≤ Sensitivity =: Δ. Let b = Δ/ε. The noise on each coordinate is independent with mass
// f(z) = c·exp(−|z|/b) over all integers. So every integer vector y is possible under both datasets, and
// P(y|x)/P(y|x′) = ∏ f(y_i − x_i)/f(y_i − x′_i) ≤ ∏ exp(|x_i − x′_i|/b) ≤ exp(Δ/b) = exp(ε). The sampler draws
// exact integers, and b is an exact rational, so no step of the argument is rounded. ∎
type Laplace struct {
	Sensitivity *big.Int        // the L1 sensitivity of the whole vector, in the values' unit; at least 1
	Epsilon     privacy.Epsilon // the loss of the whole vector
}

// Measurement is the release of a mechanism: noisy values, the distribution of their noise, and the loss.
type Measurement struct {
	Values []*big.Int
	Noise  noise.Distribution // the noise of each value; independent between values, except from Cube
	Loss   privacy.Loss       // the loss of all values together
}

// Scale returns the noise's scale, Sensitivity/Epsilon, exactly. It returns ErrParameter if Sensitivity or Epsilon
// is not above 0.
func (m Laplace) Scale() (*big.Rat, error) {
	if m.Sensitivity == nil || m.Sensitivity.Sign() <= 0 || m.Epsilon.IsZero() {
		return nil, fmt.Errorf("%w: the Laplace mechanism needs a sensitivity and an epsilon above 0", ErrParameter)
	}
	return privacy.LaplaceScale(m.Sensitivity, m.Epsilon)
}

// Measure releases x with independent noise on each value. An error depends on the parameters alone: it is
// ErrParameter or comes from package noise.
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

const (
	// drawnTogether is the number of values to which one goroutine adds noise, with a source of its own.
	drawnTogether = 1 << 14
	// valueWords is the room for a noisy value, in words: that of a word and its carry.
	valueWords = 2
)

// measure adds an independent draw of noisy to each value, and returns the sums with dist and loss. It uses all
// processors for many values, so noisy must be safe for concurrent use.
func measure(x []Exact, noisy sample.Sampler, dist noise.Distribution, loss privacy.Loss) Measurement {
	out := Measurement{Values: make([]*big.Int, len(x)), Noise: dist, Loss: loss}
	room, digits := make([]big.Int, len(x)), make([]big.Word, len(x)*valueWords)
	parallel.Each((len(x)+drawnTogether-1)/drawnTogether, func(part int) {
		source, small := entropy.System(), new(big.Int)
		defer source.Wipe()
		for i := part * drawnTogether; i < min((part+1)*drawnTogether, len(x)); i++ {
			z := noisy.Draw(source, room[i].SetBits(digits[i*valueWords:i*valueWords:(i+1)*valueWords]))
			if word, ok := opaque.OpenWord(x[i]); ok {
				out.Values[i] = z.Add(z, small.SetInt64(word))
			} else {
				out.Values[i] = z.Add(z, opaque.Open(x[i]))
			}
		}
	})
	return out
}
