package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Scores are what is known of M = Σ g gᵀ, the sum over the clusters of dependent rows, where g is the gradient of a
// cluster's rows at the coefficients of a fit.
type Scores struct {
	Estimate *mat.SymDense
	// Upper returns an upper bound on M for normal intervals of level alpha. It falls as alpha grows.
	Upper func(alpha float64) *mat.SymDense
}

// Depend lets the rows depend on each other within clusters: the covariance of the sampling error becomes J⁻¹MJ⁻¹, where
// J is the Hessian [Liang & Zeger 1986]. Only clusters need to be independent of each other.
//
// Intervals use the upper bound on M. They also allow for the error E of the released Hessian. It changes the variance
// aᵀMa of a coefficient by about −2aᵀE J⁻¹Ma, where a is its row of J⁻¹. The standard deviation of this is added to the
// variance: see [Fit.turned].
func (f *Fit) Depend(s Scores) { f.scores = &s }

// Known reports whether any coefficient can have an interval.
func (f *Fit) Known() bool { return !f.unknown }

// Unknown removes all intervals, and warns of the reason.
func (f *Fit) Unknown(reason string) {
	f.unknown = true
	f.warn(reason)
}

// sampling returns the variance of the weighted sum of coefficients by sampling, for an interval of level alpha. The
// variance is an upper bound if rows depend on each other.
func (f *Fit) sampling(weights []float64, alpha float64) float64 {
	if f.scores == nil {
		return max(inner(weights, times(f.Sampling, weights)), 0)
	}
	a := times(f.inverse, weights)
	b := times(f.scores.Upper(alpha), a)
	return max(inner(a, b), 0) + f.turned(a, times(f.inverse, b))
}

// estimated returns the estimated variance of the weighted sum of coefficients by sampling.
func (f *Fit) estimated(weights []float64) float64 {
	if f.scores == nil {
		return f.sampling(weights, 0)
	}
	a := times(f.inverse, weights)
	return max(inner(a, times(f.scores.Estimate, a)), 0)
}

// leastP is the least p-value of a fit with [Scores]. Quantiles of lower levels are beyond the precision of a float64.
const leastP = 1e-14

// excludes returns the least level, of at least leastP, at which the interval of a fit with [Scores] excludes 0: half(α)
// is its half-width at level α, which falls as α grows, and value the magnitude of the estimate.
func excludes(value float64, half func(alpha float64) float64) float64 {
	low, high := math.Log(leastP), 0.0
	if half(leastP) < value {
		return leastP
	}
	for range 50 {
		if mid := (low + high) / 2; half(math.Exp(mid)) < value {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Exp(high)
}
