package derive

import (
	"math/big"

	"dither/noise"
)

// unfitted returns the fit of a measure whose tables are not sums of one another, such as a distinct count
// (plan.Measure.Additive). Each table stays as it was released, with its own noise.
func unfitted(noises []noise.Distribution) (f fit) {
	for _, d := range noises {
		law := &noise.Combination{}
		law.Add(1, d, 1)
		f.laws = append(f.laws, law)
	}
	return f
}

// fit returns the estimated table of each grouping, as integers over one denominator for each.
func (f fit) fit(noisy [][]*big.Int) (fitted [][]*big.Int, denominators []*big.Int) {
	if f.lattice != nil {
		return f.lattice.fit(noisy)
	}
	for range noisy {
		denominators = append(denominators, big.NewInt(1))
	}
	return noisy, denominators
}
