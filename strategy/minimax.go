package strategy

import (
	"fmt"
	"math"
	"slices"
)

// Minimax is a strategy for running totals that is chosen for its largest error.
type Minimax struct {
	*Strategy
	// Bound is a certified lower bound on the largest standard deviation of a running total, for every strategy under
	// Gaussian noise, in units of the noise of one count.
	Bound float64
}

// MinimaxPrefixes returns the strategy of least maximum error for the running totals of n cells, under Gaussian noise.
// Its matrix C is lower triangular, so that row t needs the cells 0 … t alone: C suits a stream that is measured step
// by step. The columns of C have norms near 2³⁰.
//
// With W the matrix of running totals and X = CᵀC, the problem is min max_t (W·X⁻¹·Wᵀ)_tt with X_jj ≤ 1. The largest of
// several numbers is at least every weighted mean of them. So for weights z > 0 on the totals and y > 0 on the cells,
// the duality of [Optimal] gives the lower bound T(y, z)²/(Σy·Σz) on the variance, where T is the trace of
// (D^½·WᵀZW·D^½)^½, the sum of the singular values of Z^½·W·D^½. Reversing the order of the cells turns W into Wᵀ, so
// the optimum has z equal to y reversed. The code ascends to it as [Optimal] does.
func MinimaxPrefixes(n int) (*Minimax, error) {
	if n < 1 || n > MaxOptimised {
		return nil, fmt.Errorf("%w: the strategy of least maximum error is computed for 1 to %d cells, not %d",
			ErrWorkload, MaxOptimised, n)
	}
	w, err := Prefixes(n)
	if err != nil {
		return nil, err
	}
	y, bound := ascendBoth(n)
	z := slices.Clone(y)
	slices.Reverse(z)
	m, err := factor(gramOf(prefixRoots(z).full(y), y))
	if err != nil {
		return nil, err
	}
	s, err := New("minimax", w, m, Rho)
	if err != nil {
		return nil, err
	}
	return &Minimax{Strategy: s, Bound: math.Sqrt(bound)}, nil
}

// ascendBoth maximises T(y, z)²/(Σy·Σz) over y, where z is y reversed.
func ascendBoth(n int) (best []float64, bound float64) {
	y, z := make([]float64, n), make([]float64, n)
	for i := range y {
		y[i] = 1
	}
	for range 1000 {
		for i := range z {
			z[i] = y[n-1-i]
		}
		m, trace := prefixRoots(z).diagonal(y)
		sum, gap := 0.0, 0.0
		for _, v := range y {
			sum += v
		}
		if value := trace / sum * trace / sum; value > bound {
			bound, best = value, append(best[:0], y...)
		}
		for i := range y {
			gap = max(gap, m[i]/y[i]*sum/trace-1)
		}
		if gap < 1e-4 {
			break
		}
		for i := range y {
			y[i] = m[i] / trace
		}
	}
	return best, bound
}
