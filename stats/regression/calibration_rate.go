package regression

import (
	"math"

	"dither/noise"
)

// rateInterval returns an interval for a probability r, from the noisy counts N₁ of rows with a property and N₀ of
// rows without it. sd is the standard deviation of the noise on each count. The interval contains all r that a test
// does not reject. The statistic of the test is T(r) = (1 − r)·N₁ − r·N₀.
//
// Let n be the unknown number of rows, and s² the variance of the noise on each count. At the true r, T has mean 0
// for every n. Its variance is n·r(1 − r) from sampling plus s²((1 − r)² + r²) from noise. The test therefore
// accepts r if
//
//	|T(r)| ≤ ½ + q·√(n̂·r(1 − r) + s²((1 − r)² + r²)).
//
// Here n̂ is N₁ + N₀ plus q of its standard deviations, so that it is rarely below n. The ½ is the correction for
// continuity, because counts are integers. Without noise, the result is Wilson's score interval with this
// correction. q is the normal quantile or, with Laplace noise, the larger of the normal and the Laplace quantile.
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
	if math.IsNaN(low) { // no grid point is accepted, so return the grid point nearest to acceptance
		low, high = at, at
	}
	return max(low-1.0/parts, 0), min(high+1.0/parts, 1) // the exact ends lie within one grid step of these
}

// noiseOfCounts returns the parameters of a noise distribution that [rateInterval] needs.
func noiseOfCounts(d noise.Distribution) (sd float64, laplace bool) {
	_, laplace = d.(noise.DiscreteLaplace)
	return d.StdDev(), laplace
}
