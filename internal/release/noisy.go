package release

import (
	"math/big"

	"dither/internal/plan"
	"dither/mechanism"
)

// noisyRows adds the noise of each measure to the cells (groups) of one grouping.
func noisyRows(measures []*plan.Measure, cells [][]mechanism.Exact) ([][]*big.Int, error) {
	out := make([][]*big.Int, len(cells))
	for j, m := range measures {
		noisy, err := noisily(m, column(cells, j))
		if err == nil {
			err = measuredAsPlanned(m, noisy)
		}
		if err != nil {
			return nil, err
		}
		for i, v := range noisy.Values {
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// column returns the exact value of the j-th measure in every cell (group).
func column(cells [][]mechanism.Exact, j int) []mechanism.Exact {
	out := make([]mechanism.Exact, len(cells))
	for i := range cells {
		out[i] = cells[i][j]
	}
	return out
}

// noisily runs the mechanism that the plan chose for a measure, on its vector of exact numbers, one for each cell
// (group).
func noisily(m *plan.Measure, vector []mechanism.Exact) (mechanism.Measurement, error) {
	switch m.Noise {
	case plan.Gaussian:
		rho, _ := m.Loss.ZCDP()
		return mechanism.Gaussian{L2Squared: m.L2Squared, Rho: rho}.Measure(vector)
	case plan.Laplace:
		if e, pure := m.Loss.Pure(); pure {
			return mechanism.Laplace{Sensitivity: m.L1, Epsilon: e}.Measure(vector)
		}
	}
	return mechanism.Measurement{}, ErrUnplanned // Laplace noise under ρ is never planned
}
