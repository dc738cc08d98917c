package exact

import (
	"math"
	"math/big"
)

// The tail of the standard normal distribution is computed from Mills' ratio R(x) = (1−Φ(x))/φ(x), where Φ is the
// distribution function and φ the density. R neither overflows nor underflows for positive x, and keeps its
// precision in the tail. R decreases in x, so the ends of an interval give the ends of the result. At a point x ≥ 0
// one of two forms is used, both with positive terms only:
//
//	R(x) = √(π/2)·e^(x²/2) − Σ_n x^(2n+1)/(2n+1)!!              [Abramowitz & Stegun 1964, 26.2.11]
//	R(x) = 1/(x + 1/(x + 2/(x + 3/(x + …))))                   [ibid., 26.2.14; Laplace]
//
// The first form loses some 0.72·x² bits to cancellation. The second needs more terms for smaller x.

// maxNormal is the largest argument at which e^(x²/2) is evaluated. It keeps x²/2 in the range of Exp: 1448²/2 = 1
// 048 352 < 2²⁰.
const maxNormal = 1448

// guard is the number of extra bits for the operations around a series: the square of an x up to maxNormal, and a
// dozen roundings.
const guard = 48

// Mills returns Mills' ratio R(x) = (1−Φ(x))/φ(x) of the standard normal distribution. It panics if x contains a
// number below −1448.
func (x Interval) Mills() Interval {
	bits := x.bits()
	return Interval{
		toward(big.ToNegativeInf, bits).Set(millsAt(x.hi, bits+guard).lo),
		toward(big.ToPositiveInf, bits).Set(millsAt(x.lo, bits+guard).hi),
	}
}

// NormalTail returns 1 − Φ(x), the probability that a standard normal variable is above x. For x above 1448, where
// the probability is below e^(−1448²/2), it returns the interval from 0 to a bound on it.
func (x Interval) NormalTail() Interval {
	bits := x.bits()
	return Interval{
		toward(big.ToNegativeInf, bits).Set(normalTailAt(x.hi, bits+guard).lo),
		toward(big.ToPositiveInf, bits).Set(normalTailAt(x.lo, bits+guard).hi),
	}
}

// NormalCDF returns Φ(x), the probability that a standard normal variable is at most x.
func (x Interval) NormalCDF() Interval {
	return Interval{new(big.Float).Neg(x.hi), new(big.Float).Neg(x.lo)}.NormalTail()
}

// NormalDensity returns φ(x) = e^(−x²/2)/√(2π). It panics if |x| may exceed 1448.
func (x Interval) NormalDensity() Interval {
	half, pi := IntervalOf(big.NewRat(-1, 2), x.bits()), Pi(x.bits())
	return x.Mul(x).Mul(half).Exp().Quo(pi.Add(pi).Sqrt())
}

// Erfc returns the complementary error function, 2·(1 − Φ(x√2)), where Φ is the standard normal distribution
// function.
func (x Interval) Erfc() Interval {
	bits := x.bits() + guard
	two := IntervalOf(big.NewRat(2, 1), bits)
	wide := two.Mul(Interval{x.lo, x.hi}.Mul(two.Sqrt()).NormalTail())
	return Interval{toward(big.ToNegativeInf, x.bits()).Set(wide.lo), toward(big.ToPositiveInf, x.bits()).Set(wide.hi)}
}

// normalTailAt returns 1 − Φ(x), the upper tail of the standard normal distribution, at a point x.
func normalTailAt(x *big.Float, bits uint) Interval {
	one := PointOf(big.NewFloat(1), bits)
	limit := big.NewFloat(maxNormal)
	switch size := new(big.Float).Abs(x); {
	case x.Sign() < 0:
		return one.Sub(normalTailAt(size, bits))
	case size.Cmp(limit) > 0: // 1 − Φ(x) ≤ e^(−x²/2)/2 for x ≥ 0
		top := PointOf(limit, bits)
		return Interval{toward(big.ToNegativeInf, bits), top.Mul(top).Mul(IntervalOf(big.NewRat(-1, 2), bits)).Exp().hi}
	}
	return PointOf(x, max(bits, x.Prec())).NormalDensity().Mul(millsAt(x, bits))
}

// millsAt returns Mills' ratio R(x) at a point x. For x < 0 it is 1/φ(x) − R(−x), where the first term is at least
// twice the second.
func millsAt(x *big.Float, bits uint) Interval {
	if x.Sign() < 0 {
		one := PointOf(big.NewFloat(1), bits)
		up := new(big.Float).Neg(x)
		return one.Quo(PointOf(up, max(bits, x.Prec())).NormalDensity()).Sub(millsAt(up, bits))
	}
	if f, _ := x.Float64(); 2*f*f < float64(bits) {
		return millsSeries(x, bits+bits/2) // for x² below bits/2, cancellation loses less than 0.37·bits + 8 bits
	}
	return millsFraction(x, bits)
}

// millsSeries computes Mills' ratio R by the first form of the comment at the top of this file, a series. Once a
// term is less than half of the one before, the sum of all later terms is less than that term.
func millsSeries(x *big.Float, bits uint) Interval {
	square := PointOf(x, max(bits, x.Prec()))
	square = square.Mul(square)
	side := func(mode big.RoundingMode, square *big.Float) *big.Float {
		sum, term := toward(mode, bits), toward(mode, bits).Set(x)
		for n := int64(3); ; n += 2 {
			sum.Add(sum, term)
			term.Quo(term.Mul(term, square), new(big.Float).SetInt64(n))
			falling := square.Cmp(new(big.Float).SetInt64(n/2)) < 0
			if falling && (term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(bits)) {
				break
			}
		}
		if mode == big.ToPositiveInf {
			sum.Add(sum, double(term))
		}
		return sum
	}
	half := IntervalOf(big.NewRat(1, 2), bits)
	whole := Pi(bits).Mul(half).Sqrt().Mul(square.Mul(half).Exp())
	return whole.Sub(Interval{side(big.ToNegativeInf, square.lo), side(big.ToPositiveInf, square.hi)})
}

// millsFraction computes Mills' ratio R by the second form of the comment at the top of this file, a continued
// fraction, from the innermost fraction outwards. u_k = x + k/u_{k+1} lies between x and x + k/x, whatever u_{k+1}
// is. Each step from u_{k+1} to u_k narrows the interval by a factor of about k/u². Too few steps would give a
// wider result, not a wrong one.
func millsFraction(x *big.Float, bits uint) Interval {
	f, _ := x.Float64()
	f = min(f, 1e9)
	steps := int64(2)
	for known := 0.0; known < float64(bits); steps++ {
		u := f/2 + math.Sqrt(f*f/4+float64(steps)) // about u, the solution of u = x + k/u
		known += math.Log2(u * u / float64(steps))
	}
	down, up := big.ToNegativeInf, big.ToPositiveInf
	lo := toward(down, bits).Set(x)
	hi := toward(up, bits).Quo(new(big.Float).SetInt64(steps), lo)
	hi.Add(hi, x)
	for k := steps - 1; k >= 1; k-- {
		number := new(big.Float).SetInt64(k)
		below := toward(down, bits).Quo(number, hi)
		above := toward(up, bits).Quo(number, lo)
		lo.Add(below, x)
		hi.Add(above, x)
	}
	one := big.NewFloat(1)
	return Interval{toward(down, bits).Quo(one, hi), toward(up, bits).Quo(one, lo)}
}
