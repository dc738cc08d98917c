package strategy

import "math"

// optimise adds the candidates that are found by optimisation, and returns a certified lower bound on the RMSE of every
// strategy.
//
// The bound for Gaussian noise also holds for Laplace noise: the L2 norm of a column is at most its L1 norm, so a
// matrix has at least the error under Laplace noise that it has under Gaussian noise, both in units of the noise of one
// count.
func (c *Choice) optimise(w Workload, unit Unit, add func(*Strategy, error) error) (float64, error) {
	if unit == Rho && w.cells <= MaxOptimised {
		s, bound, err := Optimal(w)
		return bound, add(s, err)
	}
	if unit == Epsilon && w.cells > 1 && w.cells <= mostPIdentity {
		if err := add(PIdentity(w, max(1, w.cells/16))); err != nil {
			return 0, err
		}
	}
	return Bound(w), nil
}

// mostPIdentity is the largest number of cells for which p-identity is a candidate. It takes some five seconds there.
const mostPIdentity = 1024

// Bound returns a certified lower bound on the RMSE of every strategy for the workload, under either noise.
func Bound(w Workload) float64 {
	r, slow := w.roots()
	_, bound := ascend(r, w.cells, tolerance(slow))
	return math.Sqrt(bound / w.Weight())
}
