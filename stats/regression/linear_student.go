package regression

import (
	"math"

	"dither/stats/internal/student"
)

// widened returns the sampling variance that intervals of level alpha use. The residual variance is an estimate, with
// as many degrees of freedom as there are rows less predictors. So without noise the quantile is Student's t in place
// of the normal z, and s²·(t/z)² has that of z. The result is at most 1: that is the largest variance of a response
// between −1 and 1, and with it z is right.
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
