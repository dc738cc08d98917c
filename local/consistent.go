package local

import (
	"fmt"

	"dither/internal/simplex"
)

// Consistent returns the estimates of all values of the domain moved to the nearest counts that are not negative and
// sum up to n, in the sum of squares. The intervals are clamped to 0 … n, which keeps their coverage. It is
// post-processing, so it costs no privacy. The counts are no longer unbiased: rare values are overestimated. If the
// estimates are not those of all values, the error is ErrParameter.
func (t *Tally) Consistent(all []Estimate) ([]Estimate, error) {
	if uint64(len(all)) != t.oracle.params.Values {
		return nil, fmt.Errorf("%w: counts that sum up to n need the estimates of all %d values", ErrParameter,
			t.oracle.params.Values)
	}
	n := float64(t.n)
	counts := make([]float64, len(all))
	for i, e := range all {
		counts[i] = e.Count
	}
	out := append([]Estimate(nil), all...)
	for i, c := range simplex.Project(counts, n) {
		out[i].Count = c
		out[i].Low, out[i].High = min(max(out[i].Low, 0), n), min(max(out[i].High, 0), n)
	}
	return out, nil
}
