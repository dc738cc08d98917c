package release

import (
	"context"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
)

// Vectors are sums of the rows' vectors, and of their products. Each sum is one noisy vector, with one sensitivity
// for all its entries, derived from the norms of its blocks.
//
// By composition, its loss is the price: the sums' shares add up to it. The cells and entries of a sum form one
// vector under one mechanism, and the plan proves its sensitivity. The mechanism is mechanism.Laplace or
// mechanism.Gaussian, or mechanism.SymmetricGaussian for a block's product with itself. The norms are enforced on
// integers, row by row.
type Vectors struct {
	numbersAlone
	plan *plan.Moments
}

// Plan returns the plan that the access runs.
func (m *Vectors) Plan() *plan.Moments { return m.plan }

// Vectors returns the primitive for a plan of sums of vectors.
func (k *Kernel) Vectors(m *plan.Moments, by Asker) (*Vectors, error) {
	l, versions, err := k.lookAt(&m.Statement, by)
	if err != nil {
		return nil, err
	}
	l.price, l.key = m.Price, m.Key(versions...)
	l.releases(m.Cells(), m.Width())
	for _, s := range m.Sums {
		l.mechanisms = append(l.mechanisms, sumMechanism(m, s))
	}
	return &Vectors{numbersAlone{l}, m}, sharesAddUp(m)
}

// access implements [Primitive].
func (v *Vectors) access(ctx context.Context, rows reader) (out Values, err error) {
	cells, err := rows.engine.Aggregate(ctx, &v.plan.Statement, rows.sealed)
	if err == nil {
		out.Numbers, err = noisySums(v.plan, cells)
	}
	return out, err
}

// sumMechanism describes a sum's mechanism for the ledger.
func sumMechanism(m *plan.Moments, s *plan.VectorSum) ledger.Mechanism {
	sensitivity, name := s.Noise.Calibrated(s.L1, s.L2Squared), string(s.Noise)
	if s.Noise == plan.Gaussian && s.Symmetric() {
		name += ", symmetric"
	}
	return ledger.Mechanism{
		Name:        name,
		Sensitivity: sensitivity.String(),
		Scale:       exact.FormatRat(s.Parameter),
		Cells:       m.Cells() * len(m.RowVectors.Terms(&s.VectorSum)),
	}
}

// noisySums adds noise to the exact sums of all cells (groups).
func noisySums(m *plan.Moments, cells [][]mechanism.Exact) ([][]*big.Int, error) {
	out := make([][]*big.Int, len(cells))
	first := 0
	for _, s := range m.Sums {
		n := len(m.RowVectors.Terms(&s.VectorSum))
		var vector []mechanism.Exact
		for _, cell := range cells {
			vector = append(vector, cell[first:first+n]...)
		}
		noisy, err := noisySum(m, s, vector)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = append(out[i], noisy[i*n:(i+1)*n]...)
		}
		first += n
	}
	return out, nil
}

// noisySum runs the plan's mechanism for one sum. vector holds the sum's entries, cell by cell (group by group).
func noisySum(m *plan.Moments, s *plan.VectorSum, vector []mechanism.Exact) ([]*big.Int, error) {
	planned := &plan.Measure{
		Measure:   bounded.Measure{Kind: bounded.Sum},
		L1:        s.L1,
		L2Squared: s.L2Squared,
		Loss:      s.Loss,
		Noise:     s.Noise,
		Parameter: s.Parameter,
	}
	if s.Noise == plan.Gaussian && s.Symmetric() {
		rho, _ := s.Loss.ZCDP()
		d := m.RowVectors.Blocks[s.I].Size
		noisy, err := mechanism.SymmetricGaussian{Dimension: d, L2Squared: s.L2Squared, Rho: rho}.Measure(vector)
		if err != nil {
			return nil, err
		}
		return noisy.Values, symmetricAsPlanned(planned, noisy)
	}
	noisy, err := noisily(planned, vector)
	if err != nil {
		return nil, err
	}
	return noisy.Values, measuredAsPlanned(planned, noisy)
}
