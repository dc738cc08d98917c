package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism/internal/opaque"
	"dither/noise"
	"dither/privacy"
)

// Cube is the mechanism for a vector of integers of which one unit changes every coordinate by a bounded amount. It is
// the K-norm mechanism [Hardt & Talwar 2010] for the ℓ∞ norm, over integers. If all k coordinates may change at once,
// its noise has variance (k + 1)(k + 2)/3·(Δ/ε)², and Laplace noise has 2k²·(Δ/ε)².
//
// Claim: the mechanism is Epsilon-differentially private. Proof: let x and x′ be the vectors of neighbouring datasets.
// Then ‖x − x′‖∞ ≤ Sensitivity =: Δ. Let b = Δ/ε. The noise has mass f(z) = c·exp(−‖z‖∞/b) over all integer vectors. So
// every integer vector y is possible under both datasets, and by the triangle inequality P(y|x)/P(y|x′) = f(y − x)/f(y −
// x′) ≤ exp(‖x − x′‖∞/b) ≤ exp(Δ/b) = exp(ε). The sampler draws exact integers (sample.Cube has the proof), and b is an
// exact rational, so no step of the argument is rounded. ∎
type Cube struct {
	Sensitivity *big.Int        // the most that a coordinate changes, in the values' unit; at least 1
	Epsilon     privacy.Epsilon // the loss of the whole vector
}

// Scale returns b, Sensitivity/Epsilon, exactly. It returns ErrParameter if Sensitivity or Epsilon is not above 0.
func (m Cube) Scale() (*big.Rat, error) {
	if m.Sensitivity == nil || m.Sensitivity.Sign() <= 0 || m.Epsilon.IsZero() {
		return nil, fmt.Errorf("%w: the cube mechanism needs a sensitivity and an epsilon above 0", ErrParameter)
	}
	return privacy.LaplaceScale(m.Sensitivity, m.Epsilon)
}

// Noise returns the distribution of the noise on each of k coordinates. Unlike that of other mechanisms, the noise of
// different coordinates is dependent, though uncorrelated.
func (m Cube) Noise(k int) (noise.DiscreteCube, error) {
	scale, err := m.Scale()
	if err != nil {
		return noise.DiscreteCube{}, err
	}
	return noise.NewDiscreteCube(scale, k)
}

// Measure releases x with noise. Measurement.Noise is the distribution of Noise. An error depends on the parameters and
// the length of x alone: it is ErrParameter or comes from package noise.
func (m Cube) Measure(x []Exact) (Measurement, error) {
	d, err := m.Noise(len(x))
	if err != nil {
		return Measurement{}, err
	}
	out := Measurement{Values: make([]*big.Int, len(x)), Noise: d, Loss: privacy.PureLoss(m.Epsilon)}
	for i := range x {
		out.Values[i] = new(big.Int)
	}
	source := entropy.System()
	defer source.Wipe()
	sample.Cube(source, d.Scale(), out.Values)
	for i, v := range out.Values {
		v.Add(v, opaque.Open(x[i]))
	}
	return out, nil
}
