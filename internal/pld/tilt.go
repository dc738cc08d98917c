package pld

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// tilted is a lattice in which the mass at point j was multiplied by e^(θj − κ). The constant κ makes the masses
// sum to about 1, and θ determines their mean. So rare losses become common, and floats represent them with full
// relative precision. Composition commutes with tilting: the factors of several lattices multiply to e^(θ·Σj − Σκ).
type tilted struct {
	sequence
	kappa  float64
	middle int64 // about the mean of j
}

// tilt multiplies the masses of a lattice by e^(θj − κ). It rounds above up, and below down.
func tilt(l *lattice, theta float64, count int64) tilted {
	top := math.Inf(-1)
	step := max(1, len(l.above)/512)
	for j := 0; j < len(l.above); j += step {
		if p := l.above[j]; p > 0 {
			top = max(top, math.Log(p)+theta*float64(j))
		}
	}
	if math.IsInf(top, 0) {
		top = theta * float64(len(l.above)/2)
	}
	// The first pass finds the sum, and the second pass divides by it.
	sum, first := 0.0, 0.0
	for j, p := range l.above {
		w := timesExp(p, theta*float64(j)-top)
		sum += w
		first += w * float64(j)
	}
	t := tilted{kappa: top}
	if sum > 0 && !math.IsInf(sum, 0) {
		t.kappa += math.Log(sum)
		t.middle = int64(first / sum)
	}
	t.count = count
	t.above, t.below = make([]float64, len(l.above)), make([]float64, len(l.above))
	share := 4*unit*(math.Abs(theta)*float64(len(l.above))+math.Abs(t.kappa)) + 4*slack
	more, less := math.Exp(share)*(1+slack), math.Exp(-share)*(1-slack)
	for j := range l.above {
		if l.above[j] > 0 || l.below[j] > 0 {
			y := theta*float64(j) - t.kappa
			t.above[j] = timesExp(l.above[j], y)*more + least
			t.below[j] = max(0, timesExp(l.below[j], y)*less-least)
		}
	}
	return t
}

// timesExp returns p·e^y. It multiplies by e^(y/2) twice, so that it does not overflow unless the product does.
func timesExp(p, y float64) float64 {
	if p == 0 {
		return 0
	}
	if math.Abs(y) < 600 {
		return p * math.Exp(y)
	}
	half := math.Exp(y / 2)
	return p * half * half
}

// excess returns an upper bound on ln Σ max(above, below)·e^(s·(j − middle)), over the points j.
func (t tilted) excess(s float64) float64 {
	sum := 0.0
	for j := range t.above {
		if x := max(t.above[j], t.below[j]); x > 0 {
			sum += x * math.Exp(s*float64(int64(j)-t.middle))
		}
	}
	// An exponent y has an error of at most |y| times the unit roundoff. Exponents above 700 overflow to +Inf.
	return exact.LogUp(sum * (1 + 1e-12 + 4*unit*float64(len(t.above))))
}

// wide returns x as a number of 256 bits, for sums whose rounding errors are negligible beside those of floats.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(256).SetFloat64(x) }

func wideTimes(n int64, x float64) *big.Float {
	return new(big.Float).SetPrec(256).Mul(new(big.Float).SetInt64(n), wide(x))
}
