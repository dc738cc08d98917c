package regression

import (
	"math"

	"dither/stats/internal/student"
)

// widened returns the residual variance that intervals of level alpha use. The residual variance is an estimate
// with as many degrees of freedom as rows minus predictors. Without noise, the right quantile is therefore
// Student's t instead of the normal z. The normal quantile with the variance s²·(t/z)² has the same effect. The
// result is at most 1, which is the largest variance of a response between −1 and 1. At this largest variance, z is
// correct.
func (s *solution) widened(spread, alpha float64) float64 {
	if spread >= 1 || s.freedom < 1 {
		return spread
	}
	ratio := student.Quantile(alpha, s.freedom) / (math.Sqrt2 * math.Erfinv(1-alpha))
	if !(ratio >= 1) {
		return spread
	}
	return math.Min(1, spread*ratio*ratio)
}
