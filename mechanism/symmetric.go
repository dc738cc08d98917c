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

// SymmetricGaussian is the discrete Gaussian mechanism for symmetric matrices of integers, each given as its upper
// triangle, diagonal included, row by row. The noise on an entry of the diagonal has σ² = L2Squared/(2·Rho), and off
// it σ²/2: as an entry off the diagonal stands in the matrix twice, a symmetric matrix of Gaussian noise with
// independent entries above the diagonal is, in the Frobenius norm, round where these have half of the diagonal's
// variance.
//
// It is Rho-zCDP. Proof: let D be the difference between the true matrices of neighbouring datasets (of all matrices
// together), so that Σ_a D_aa² + 2Σ_{a<b} D_ab² = ‖D‖_F² ≤ L2Squared =: Δ². The noise on each given entry
// is independent. By the bound of one coordinate (see Gaussian), which holds for every variance and every integer
// shift, the Rényi divergence of order α between the outputs is at most α·(Σ_a D_aa²/(2σ²) + Σ_{a<b}
// D_ab²/(2·σ²/2)) = α·(Σ_a D_aa² + 2Σ_{a<b} D_ab²)/(2σ²) ≤ αΔ²/(2σ²) = αρ. σ² and σ²/2 are
// exact rationals, and sampled exactly. With the same σ² on all entries the loss is the same where D is diagonal, so
// the half is free.
type SymmetricGaussian struct {
	Dimension int // of each matrix
	// the square of the Frobenius norm of all matrices' difference, entries off the diagonal counted twice; at least 1
	L2Squared *big.Int
	Rho       privacy.Rho // the loss of all entries together
}

// SymmetricMeasurement is a Measurement whose Noise is that of the diagonals.
type SymmetricMeasurement struct {
	Measurement
	OffDiagonal noise.Distribution
}

// Measure releases matrices, one after the other, with independent noise on each entry. The error is ErrParameter or
// the noise's own, and a function of the parameters and of the number of entries alone.
func (m SymmetricGaussian) Measure(x []Exact) (SymmetricMeasurement, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.measure(source, x)
}

func (m SymmetricGaussian) measure(source *entropy.Source, x []Exact) (SymmetricMeasurement, error) {
	var out SymmetricMeasurement
	if m.Dimension < 1 || m.Dimension > maxDimension || len(x)%(m.Dimension*(m.Dimension+1)/2) != 0 {
		return out, fmt.Errorf("%w: %d entries are no upper triangles of dimension %d",
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

// maxDimension keeps the number of entries far from overflow.
const maxDimension = 1 << 15
