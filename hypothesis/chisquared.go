package hypothesis

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// chiSquaredTail returns P(X ≥ x) for a χ² variable X with df degrees of freedom.
func chiSquaredTail(x float64, df int) float64 {
	switch {
	case df <= 0 || !(x > 0):
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return mathext.GammaIncRegComp(float64(df)/2, x/2)
}

// chiSquaredQuantile returns the x with P(X ≥ x) = p, for a χ² variable X with df degrees of freedom and 0 < p < 1.
func chiSquaredQuantile(p float64, df int) float64 {
	return 2 * mathext.GammaIncRegCompInv(float64(df)/2, p)
}

// noncentralTail returns P(X ≥ x) for a noncentral χ² variable X. Such a variable is χ² with df + 2J degrees of
// freedom, where J is Poisson with mean noncentrality/2. The sum over J begins at the mean and goes outward until
// the terms are negligible.
func noncentralTail(x float64, df int, noncentrality float64) float64 {
	mean := noncentrality / 2
	if !(mean > 0) {
		return chiSquaredTail(x, df)
	}
	if mean > 1e8 { // the normal approximation, with an error below 1e-4
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
