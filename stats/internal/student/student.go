// Package student computes quantiles of Student's t distribution, for intervals that rest on an estimated variance.
package student

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// FromNormal converts a quantile or a random draw z of the standard normal distribution to one of Student's t with
// n − 1 degrees of freedom. The conversion is approximate: it is the first term of the expansion of Cornish and
// Fisher (1938).
func FromNormal(z, n float64) float64 { return z + z*(z*z+1)/(4*math.Max(n-1, 1)) }

// Quantile returns the number t that |T| exceeds with probability alpha, where T has Student's distribution with ν
// = freedom degrees of freedom. At this t, ν/(ν + t²) is the quantile alpha of Beta(ν/2, ½). Above 1,000 degrees of
// freedom, Quantile uses [FromNormal].
func Quantile(alpha, freedom float64) float64 {
	if freedom > 1000 {
		return FromNormal(math.Sqrt2*math.Erfinv(1-alpha), freedom+1)
	}
	y := mathext.InvRegIncBeta(freedom/2, 0.5, alpha)
	return math.Sqrt(freedom * (1 - y) / y)
}
