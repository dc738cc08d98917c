package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// widened is the variance that intervals of a level alpha take for sampling's. The residual variance is an estimate, with as many degrees of freedom as there are rows less
// predictors, so that without noise the quantile is Student's t in place of the normal z: s²·(t/z)² has that of z. It is no more than what a response between −1 and 1 can
// have, with which z is right.
func (s *solution) widened(spread, alpha float64) float64 {
	if spread >= 1 || s.freedom < 1 {
		return spread
	}
	ratio := studentQuantile(alpha, s.freedom) / (math.Sqrt2 * math.Erfinv(1-alpha))
	if !(ratio >= 1) {
		return spread
	}
	return math.Min(1, spread*ratio*ratio)
}

// studentQuantile is the t that |T| exceeds with probability alpha, T being Student's with so many degrees of freedom: where ν/(ν + t²) is the quantile alpha of Beta(ν/2, ½). Of
// many degrees it is the first term of its expansion about the normal one (Cornish and Fisher 1938).
func studentQuantile(alpha, freedom float64) float64 {
	z := math.Sqrt2 * math.Erfinv(1-alpha)
	if freedom > 1000 {
		return student(z, freedom+1)
	}
	y := mathext.InvRegIncBeta(freedom/2, 0.5, alpha)
	return math.Sqrt(freedom * (1 - y) / y)
}
