package pld

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// bound is an interval [lo, hi] that contains a real number. Every operation rounds outward.
type bound struct{ lo, hi float64 }

func point(x float64) bound { return bound{x, x} }

func boundOf(r *big.Rat) bound { return bound{exact.FloatDown(r), exact.FloatUp(r)} }

// mid returns about the middle of the interval, or its finite end if one end is infinite.
func (a bound) mid() float64 {
	switch {
	case math.IsInf(a.lo, 0):
		return a.hi
	case math.IsInf(a.hi, 0):
		return a.lo
	}
	return a.lo + (a.hi-a.lo)/2
}

// meet returns the intersection of two intervals that contain the same number.
func (a bound) meet(b bound) bound { return bound{max(a.lo, b.lo), min(a.hi, b.hi)} }

func (a bound) neg() bound { return bound{-a.hi, -a.lo} }

func (a bound) add(b bound) bound { return bound{exact.AddDown(a.lo, b.lo), exact.AddUp(a.hi, b.hi)} }

func (a bound) sub(b bound) bound { return bound{exact.SubDown(a.lo, b.hi), exact.SubUp(a.hi, b.lo)} }

// mul returns a·b. b must not be negative.
func (a bound) mul(b bound) bound {
	lo, hi := b.lo, b.hi
	if a.lo < 0 {
		lo = b.hi
	}
	if a.hi < 0 {
		hi = b.lo
	}
	return bound{exact.MulDown(a.lo, lo), exact.MulUp(a.hi, hi)}
}

// over returns a/b. b must be positive.
func (a bound) over(b bound) bound {
	lo, hi := b.hi, b.lo
	if a.lo < 0 {
		lo = b.lo
	}
	if a.hi < 0 {
		hi = b.hi
	}
	return bound{exact.DivDown(a.lo, lo), exact.DivUp(a.hi, hi)}
}

func (a bound) exp() bound { return bound{exact.ExpDown(a.lo), exact.ExpUp(a.hi)} }

func (a bound) expm1() bound { return bound{exact.Expm1Down(a.lo), exact.Expm1Up(a.hi)} }

func (a bound) log() bound { return bound{exact.LogDown(a.lo), exact.LogUp(a.hi)} }

// log1p returns ln(1 + a). Its lower end is −Inf if a may be −1.
func (a bound) log1p() bound {
	return bound{down(math.Log1p(max(a.lo, -1))), up(math.Log1p(max(a.hi, -1)))}
}

// share returns the bounds of a number that is known to lie in [0, 1].
func (a bound) share() bound { return bound{min(1, max(0, a.lo)), min(1, max(0, a.hi))} }

// positive returns the bounds of a number that is known not to be negative.
func (a bound) positive() bound { return bound{max(0, a.lo), max(0, a.hi)} }

// slack is the relative error that is allowed for functions of package math: 2⁻⁴⁹ is more than 8 ulps. Go's
// portable Erfc, Log1p and Expm1 come from FreeBSD's msun, which promises less than 1 ulp. The tests measure less
// than 3 ulps. least is an absolute error for subnormal results.
const (
	slack = 0x1p-49
	least = 16 * math.SmallestNonzeroFloat64
)

func up(y float64) float64 {
	if math.IsInf(y, 0) || y == 0 {
		return y
	}
	return y + (math.Abs(y)*slack + least)
}

func down(y float64) float64 {
	if math.IsInf(y, 0) || y == 0 {
		return y
	}
	return y - (math.Abs(y)*slack + least)
}

// erfc returns the complementary error function, which is decreasing.
func erfc(x bound) bound {
	lo, hi := math.Erfc(x.hi), math.Erfc(x.lo)
	return bound{max(0, lo-(lo*slack+least)), hi + (hi*slack + least)}
}

// erfcx returns e^(x²)·erfc(x) for x ≥ 12. This function is decreasing, and has the asymptotic series
//
//	erfcx(x)·x·√π = 1 − 1/(2x²) + 1·3/(2x²)² − 1·3·5/(2x²)³ + …
//
// The function lies between any two consecutive partial sums [Abramowitz & Stegun 7.1.23–24]. At x = 12 the twelfth
// term is below 10⁻¹⁷.
func erfcx(x bound) bound {
	series := func(x float64) float64 {
		sum, term, y := 1.0, 1.0, 1/(2*x*x)
		for k := range 12 {
			term *= -float64(2*k+1) * y
			sum += term
		}
		return sum / (x * math.SqrtPi)
	}
	lo, hi := series(x.hi), series(x.lo)
	return bound{lo - lo*slack, hi + hi*slack}
}
