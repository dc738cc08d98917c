package privacy

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// problem holds the known parameters of a search for the best order: two of ρ, ε and L = ln 1/δ. surprise is L.
type problem struct {
	bits                   uint
	rho, epsilon, surprise exact.Interval
}

// surprise returns L = ln 1/δ = ln(1 + (1−δ)/δ), for 0 < δ < 1.
func surprise(d Delta, bits uint) exact.Interval {
	odds := new(big.Rat).Sub(one, d.rat())
	return exact.IntervalOf(odds.Quo(odds, d.rat()), bits).Log1p()
}

func (p problem) number(n int64) exact.Interval {
	return exact.IntervalOf(new(big.Rat).SetInt64(n), p.bits)
}

// lnInverse returns ln(1+1/β).
func (p problem) lnInverse(b exact.Interval) exact.Interval { return p.number(1).Quo(b).Log1p() }

// The best order β = α−1 of each conversion is the only root of a function.
//
// For ε(β), the derivative is ρ − (L − ln(1+β))/β². Its sign is that of ρβ² + ln(1+β) − L, which increases in β.
//
// For ln δ(β), the derivative is (1+2β)ρ − ε − ln(1+1/β), which increases in β.
//
// At the best order for ρ(β), both of these functions are 0. Eliminating ρ gives the function (L − ln(1+β))(1+2β) −
// β²(ε + ln(1+1/β)), which is 0 there. It equals β²(e(β) − ε), where e(β) is the ε for which β is the best order.
// Along the curve of best orders, ε(ρ) has the slope 1+β, and ρ decreases in β. So e(β) decreases in β, and the
// function changes sign once, from positive to negative.
//
// The code finds each root in u = ln β: first by bisection in floating point, and then by Newton's method at full
// precision.

// orderForEpsilon solves ρβ² + ln(1+β) = L.
func (p problem) orderForEpsilon() exact.Interval {
	r, l := ln(p.rho), ln(p.surprise)
	start := halve(func(u float64) bool { return lnSum(r+2*u, lnLn1p(u)) > l })
	return p.newton(start, func(b exact.Interval) (f, slope exact.Interval) {
		f = p.rho.Mul(b).Mul(b).Add(b.Log1p()).Sub(p.surprise)
		return f, p.number(2).Mul(p.rho).Mul(b).Add(p.number(1).Quo(p.number(1).Add(b)))
	})
}

// orderForDelta solves (1+2β)ρ = ε + ln(1+1/β).
func (p problem) orderForDelta() exact.Interval {
	r, e := ln(p.rho), ln(p.epsilon)
	start := halve(func(u float64) bool { return r+ln1p(u+math.Ln2) > lnSum(e, lnLn1p(-u)) })
	return p.newton(start, func(b exact.Interval) (f, slope exact.Interval) {
		double := p.number(2).Mul(p.rho)
		f = p.rho.Add(double.Mul(b)).Sub(p.epsilon).Sub(p.lnInverse(b))
		return f, double.Add(p.number(1).Quo(b.Mul(p.number(1).Add(b))))
	})
}

// orderForRho solves (L − ln(1+β))(1+2β) = β²(ε + ln(1+1/β)).
func (p problem) orderForRho() exact.Interval {
	e := ln(p.epsilon)
	l, _ := p.surprise.Lo().Float64()
	start := halve(func(u float64) bool {
		left := l - ln1p(u)
		return left <= 0 || math.Log(left)+ln1p(u+math.Ln2) < 2*u+lnSum(e, lnLn1p(-u))
	})
	return p.newton(start, func(b exact.Interval) (f, slope exact.Interval) {
		left, right := p.surprise.Sub(b.Log1p()), p.epsilon.Add(p.lnInverse(b))
		f = left.Mul(p.number(1).Add(p.number(2).Mul(b))).Sub(b.Mul(b).Mul(right))
		return f, p.number(2).Mul(left.Sub(b.Mul(right))).Sub(p.number(1))
	})
}

// halve returns the point at which the function above changes from false to true, by bisection. Its range covers
// the logarithms of all orders that can occur.
func halve(above func(u float64) bool) float64 {
	low, high := -1e8, 1e8
	for range 90 { // enough steps to narrow a width of 10⁸ to the last bit of a u of size 10⁻³
		if middle := low + (high-low)/2; above(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// newton refines the order e^start. The start is correct to about 24 bits, and each step of Newton's method doubles
// that number. newton stops at a step that would change the order by more than half, because such a step does not
// converge.
func (p problem) newton(start float64, at func(b exact.Interval) (f, slope exact.Interval)) exact.Interval {
	exponent := math.Floor(start / math.Ln2)
	b := big.NewFloat(math.Exp2(start/math.Ln2 - exponent))
	b.SetMantExp(b, int(exponent))
	point := exact.PointOf(b, p.bits)
	for known := uint(24); known < p.bits; known *= 2 {
		f, slope := at(point)
		if slope.Lo().Sign() != slope.Hi().Sign() || slope.Lo().Sign() == 0 {
			break
		}
		step := f.Quo(slope).Lo()
		if half := new(big.Float).SetMantExp(point.Lo(), -1); new(big.Float).Abs(step).Cmp(half) > 0 {
			break
		}
		point = exact.PointOf(new(big.Float).Sub(point.Lo(), step), p.bits)
	}
	return point
}

// ln approximates ln x. It is −Inf for x = 0.
func ln(x exact.Interval) float64 {
	mantissa := new(big.Float)
	exponent := x.Lo().MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log(f) + float64(exponent)*math.Ln2
}

// ln1p approximates ln(1+eᵘ).
func ln1p(u float64) float64 {
	if u > 700 {
		return u
	}
	return math.Log1p(math.Exp(u))
}

// lnLn1p approximates ln ln(1+eᵘ).
func lnLn1p(u float64) float64 {
	if u < -40 {
		return u
	}
	return math.Log(ln1p(u))
}

// lnSum approximates ln(eᵃ + eᵇ). b must be finite.
func lnSum(a, b float64) float64 {
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}
