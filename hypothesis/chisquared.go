package hypothesis

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// chiSquaredTail is P(X ≥ x) of χ² with so many degrees of freedom.
func chiSquaredTail(x float64, df int) float64 {
	switch {
	case df <= 0 || !(x > 0):
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return mathext.GammaIncRegComp(float64(df)/2, x/2)
}

// chiSquaredQuantile is the x with P(X ≥ x) = p, 0 < p < 1.
func chiSquaredQuantile(p float64, df int) float64 {
	return 2 * mathext.GammaIncRegCompInv(float64(df)/2, p)
}

// noncentralTail is P(X ≥ x) of noncentral χ²: of χ² with df + 2J degrees of freedom, J Poisson of mean
// noncentrality/2, summed outwards from the mean until what is left is below 1e-14.
func noncentralTail(x float64, df int, noncentrality float64) float64 {
	mean := noncentrality / 2
	if !(mean > 0) {
		return chiSquaredTail(x, df)
	}
	if mean > 1e8 { // by its normal limit, which is within 1e-4 there
		d, sd := float64(df)+noncentrality, math.Sqrt(2*(float64(df)+2*noncentrality))
		return math.Erfc((x-d)/sd/math.Sqrt2) / 2
	}
	sum, weight := 0.0, 0.0
	add := func(j float64) bool {
		w := math.Exp(j*math.Log(mean) - mean - logGamma(j+1))
		weight += w
		sum += w * chiSquaredTail(x, df+2*int(j))
		return w > 1e-17
	}
	middle := math.Floor(mean)
	for j := middle; j >= 0 && add(j); j-- {
	}
	for j := middle + 1; add(j); j++ {
	}
	return min(1, max(0, sum/weight))
}
