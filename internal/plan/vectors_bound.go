package plan

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/sensitivity"
)

// vectorSums divides the price among the sums by their weights, bounds how far one unit moves each sum, and chooses
// the noise. The shares add up to the price exactly, so by basic composition the release costs the price.
func (c *capped) vectorSums(b *bounded.Statement, r VectorRequest) ([]*VectorSum, error) {
	total, weights := int64(0), make([]int64, len(r.Sums))
	for i, s := range r.Sums {
		w, err := weightOf(s)
		if err != nil {
			return nil, err
		}
		weights[i], total = w, total+w
	}
	var out []*VectorSum
	for i, s := range b.RowVectors.Sums {
		m := Measure{Loss: c.price.Share(weights[i], total)}
		_, pure := m.Loss.Pure()
		m.moves(sensitivity.OfVectors(b, s, c.neighbours(), !pure))
		if err := m.choose(); err != nil {
			return nil, c.wrong("", "no noise can be chosen: %v", err)
		}
		out = append(out, &VectorSum{
			VectorSum: *s,
			L1:        m.L1,
			L2Squared: m.L2Squared,
			Loss:      m.Loss,
			Noise:     m.Noise,
			Parameter: m.Parameter,
		})
	}
	return out, nil
}

// Norms returns bounds on the vector of a block in every counting row, in grid units: on its L1 norm, and on the
// square of its L2 norm.
func (m *Moments) Norms(k bounded.Block) (l1, l2squared *big.Int) {
	return sensitivity.Norms(&m.Statement, k)
}
