package regression

import (
	"math"

	"dither/noise"
)

// rateInterval is of a probability r, from the noisy counts of rows with and without what is counted: all r that a test
// does not reject, whose statistic is T(r) = (1 − r)·N₁ − r·N₀. Of n rows, n of which nobody knows, T has the
// mean 0 at the true r whatever n is, and the variance n·r(1 − r) of sampling and s²((1 − r)² + r²) of noise of
// variance s² on each count. So
//
//	|T(r)| ≤ ½ + q·√(n̂·r(1 − r) + s²((1 − r)² + r²)),
//
// where n̂, N₁ + N₀ and q of its own standard deviations, is rarely below n, and ½ is for counts being whole (the
// score interval of Wilson with the correction for continuity, where there is no noise). q is the larger of the
// quantiles of a normal variable and, where noise is Laplace's, of that.
func rateInterval(ones, zeros, sd float64, laplace bool, alpha float64) (low, high float64) {
	q := math.Sqrt2 * math.Erfinv(1-alpha)
	if laplace {
		q = max(q, -math.Log(alpha)/math.Sqrt2)
	}
	n := max(ones+zeros, 0) + q*math.Sqrt2*sd
	beyond := func(r float64) float64 {
		spread := max(n, 0)*r*(1-r) + sd*sd*((1-r)*(1-r)+r*r)
		return math.Abs((1-r)*ones-r*zeros) - 0.5 - q*math.Sqrt(spread)
	}
	const parts = 2000
	low, high = math.NaN(), math.NaN()
	least, at := math.Inf(1), 0.0
	for i := range parts + 1 {
		r := float64(i) / parts
		b := beyond(r)
		if b < least {
			least, at = b, r
		}
		if b <= 0 {
			if math.IsNaN(low) {
				low = r
			}
			high = r
		}
	}
	if math.IsNaN(low) { // narrower than a part, or beyond what is possible: the nearest
		low, high = at, at
	}
	return max(low-1.0/parts, 0), min(high+1.0/parts, 1) // the ends are within the next parts
}

// noiseOfCounts is what rateInterval needs of a law.
func noiseOfCounts(d noise.Distribution) (sd float64, laplace bool) {
	_, laplace = d.(noise.DiscreteLaplace)
	return d.StdDev(), laplace
}
