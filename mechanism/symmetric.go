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

// SymmetricGaussian is the discrete Gaussian mechanism for symmetric matrices of integers. Each matrix is given as
// its upper triangle, row by row, with the diagonal. The noise on a diagonal entry has the parameter σ² =
// L2Squared/(2·Rho). The noise on an entry off the diagonal has σ²/2: that entry occurs twice in the matrix, so
// half the variance gives noise that is spherical in the Frobenius norm.
//
// Claim: the mechanism is Rho-zCDP. Proof: let D be the difference between the exact matrices of neighbouring
// datasets, all matrices together. Then Σ_a D_aa² + 2Σ_{a<b} D_ab² = ‖D‖_F² ≤ L2Squared =: Δ². The noise on each
// given entry is independent. The bound for one coordinate (see Gaussian) holds for every variance and every
// integer shift. So the Rényi divergence of order α between the outputs is at most α·(Σ_a D_aa²/(2σ²) + Σ_{a<b}
// D_ab²/(2·σ²/2)) = α·(Σ_a D_aa² + 2Σ_{a<b} D_ab²)/(2σ²) ≤ αΔ²/(2σ²) = αρ. σ² and σ²/2 are exact rationals, and the
// noise is sampled exactly. ∎
//
// If D is diagonal, σ² on all entries has the same loss. So the lower noise off the diagonal costs nothing.
type SymmetricGaussian struct {
	Dimension int // the number of rows of each matrix
	// the squared Frobenius norm of the difference of all matrices, which counts entries off the diagonal twice; at
	// least 1
	L2Squared *big.Int
	Rho       privacy.Rho // the loss of all entries together
}

// SymmetricMeasurement is the release of SymmetricGaussian. Measurement.Noise is the noise of the diagonal entries,
// OffDiagonal that of all others.
type SymmetricMeasurement struct {
	Measurement
	OffDiagonal noise.Distribution
}

// Measure releases the matrices whose upper triangles x lists one after the other, with independent noise on each
// entry. An error depends only on the parameters and the number of entries: it is ErrParameter or comes from
// package noise.
func (m SymmetricGaussian) Measure(x []Exact) (SymmetricMeasurement, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.measure(source, x)
}

func (m SymmetricGaussian) measure(source *entropy.Source, x []Exact) (SymmetricMeasurement, error) {
	var out SymmetricMeasurement
	if m.Dimension < 1 || m.Dimension > maxDimension || len(x)%(m.Dimension*(m.Dimension+1)/2) != 0 {
		return out, fmt.Errorf("%w: %d entries do not fill upper triangles of dimension %d",
			ErrParameter, len(x), m.Dimension)
	}
	sigma2, err := Gaussian{L2Squared: m.L2Squared, Rho: m.Rho}.Sigma2()
	if err != nil {
		return out, err
	}
	half := new(big.Rat).Mul(sigma2, big.NewRat(1, 2))
	if out.Noise, err = noise.NewDiscreteGaussian(sigma2); err != nil {
		return out, err
	}
	if out.OffDiagonal, err = noise.NewDiscreteGaussian(half); err != nil {
		return out, err
	}
	diagonal, off := sample.NewGaussian(sigma2), sample.NewGaussian(half)
	out.Loss = privacy.ZCDPLoss(m.Rho, privacy.Delta{})
	out.Values = make([]*big.Int, 0, len(x))
	for len(x) > 0 {
		for a := range m.Dimension {
			for b := a; b < m.Dimension; b++ {
				noisy := off
				if a == b {
					noisy = diagonal
				}
				z := noisy.Draw(source, new(big.Int))
				out.Values, x = append(out.Values, z.Add(z, opaque.Open(x[0]))), x[1:]
			}
		}
	}
	return out, nil
}

// maxDimension limits the dimension so that the number of entries cannot overflow.
const maxDimension = 1 << 15
