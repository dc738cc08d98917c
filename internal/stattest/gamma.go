package stattest

import "math"

// UpperGamma returns the regularized upper incomplete gamma function Q(a, x) = Γ(a, x)/Γ(a), for a > 0 and x ≥ 0,
// to about 12 digits. For a χ² variable with k degrees of freedom, P(χ² > y) is Q(k/2, y/2).
func UpperGamma(a, x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case x < a+1:
		return 1 - gammaSeries(a, x)
	}
	return gammaFraction(a, x)
}

const (
	gammaTolerance = 1e-15
	gammaRounds    = 100_000
)

// gammaFactor returns xᵃ·e⁻ˣ/Γ(a).
func gammaFactor(a, x float64) float64 {
	logGamma, _ := math.Lgamma(a)
	return math.Exp(a*math.Log(x) - x - logGamma)
}

// gammaSeries returns the lower function P(a, x), by its power series [Abramowitz & Stegun 6.5.29]. It is fast for
// x < a + 1.
func gammaSeries(a, x float64) float64 {
	term := 1 / a
	sum := term
	for k := 1.0; k < gammaRounds && term > sum*gammaTolerance; k++ {
		term *= x / (a + k)
		sum += term
	}
	return sum * gammaFactor(a, x)
}

// gammaFraction returns the upper function Q(a, x), by its continued fraction [Abramowitz & Stegun 6.5.31], which
// Lentz's method evaluates from the front. It is fast for x ≥ a + 1.
func gammaFraction(a, x float64) float64 {
	const floor = 1e-300
	b := x + 1 - a
	c, d := 1/floor, 1/b
	value := d
	for k := 1.0; k < gammaRounds; k++ {
		numerator := -k * (k - a)
		b += 2
		d = 1 / nonzero(numerator*d+b, floor)
		c = nonzero(b+numerator/c, floor)
		value *= c * d
		if math.Abs(c*d-1) < gammaTolerance {
			break
		}
	}
	return value * gammaFactor(a, x)
}

func nonzero(x, floor float64) float64 {
	if math.Abs(x) < floor {
		return floor
	}
	return x
}
