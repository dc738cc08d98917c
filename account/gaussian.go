package account

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// The Gaussian mechanism adds independent N(0, σ²) noise to each value of a vector. Between neighbours the vector
// moves by at most Δ in L₂ norm. Let μ = Δ/σ, and let Φ and φ be the distribution function and the density of N(0,
// 1). The least δ at which the mechanism is (ε, δ)-differentially private is [Balle & Wang 2018, Theorem 8]
//
//	δ(ε) = Φ(−a) − e^ε·Φ(−b),  a = ε/μ − μ/2,  b = ε/μ + μ/2.
//
// Since b² − a² = 2ε, e^ε·φ(b) = φ(a). So with Mills' ratio R = (1−Φ)/φ,
//
//	δ(ε) = φ(a)·(R(a) − R(b)).
//
// Nothing overflows in this form. Its derivatives are ∂δ/∂ε = −φ(a)·R(b) and ∂δ/∂μ = φ(a).
//
// This is the curve of continuous Gaussian noise. It holds for every post-processing of the output. For integer
// values, that includes rounding exactly sampled continuous noise to integers, because rounding an integer plus
// noise gives the integer plus the rounded noise. It does not hold for the discrete Gaussian, whose curve is
// DiscreteGaussianDelta.

// GaussianDelta returns a lower and an upper bound of the least δ at which Gaussian noise is (e, δ)-differentially
// private. mu2 is μ² = Δ²/σ², for the L₂ sensitivity Δ and the noise's standard deviation σ. The bounds are equal
// or adjacent floats, or 0 and the least float above it. For a nil or negative mu2 they are the trivial bounds 0
// and 1.
func GaussianDelta(mu2 *big.Rat, e privacy.Epsilon) (lower, upper float64) {
	switch {
	case mu2 == nil || mu2.Sign() < 0:
		return 0, 1
	case mu2.Sign() == 0:
		return 0, 0
	}
	lower, upper = gaussianDelta(mu2, e.Rat()).delta.Floats()
	return max(lower, 0), min(upper, 1)
}

// GaussianEpsilon returns a lower and an upper bound of the least ε ≥ 0 at which Gaussian noise is (ε,
// d)-differentially private. mu2 is μ² = Δ²/σ², for the L₂ sensitivity Δ and the noise's standard deviation σ. At d
// = 0 no ε suffices, and both bounds are +Inf, unless mu2 is 0. For a nil or negative mu2 the bounds are the
// trivial ones, 0 and +Inf.
func GaussianEpsilon(mu2 *big.Rat, d privacy.Delta) (lower, upper float64) {
	target := d.Rat()
	switch {
	case mu2 == nil || mu2.Sign() < 0:
		return 0, math.Inf(1)
	case mu2.Sign() == 0:
		return 0, 0
	case target.Sign() == 0:
		return math.Inf(1), math.Inf(1)
	case gaussianDelta(mu2, new(big.Rat)).within(target):
		return 0, 0
	}
	// The symbols are those of the comment at the top of this file. With L = ln(1/d), the ε that satisfies a =
	// √(2L) is an upper bound, because Φ(−a) ≤ e^(−a²/2) for a ≥ 0.
	mu := exact.IntervalOf(mu2, gaussianBits).Sqrt()
	root := twiceSurprise(target).Sqrt()
	enough := mu.Mul(root).Add(mu.Mul(mu).Mul(exact.IntervalOf(big.NewRat(1, 2), gaussianBits))).Hi()
	least := exact.DecimalStep(gaussianSmallest)
	if target.Cmp(least) < 0 {
		smallest, _ := privacy.DeltaOf(least)
		lower, _ = GaussianEpsilon(mu2, smallest)
		_, upper = exact.PointOf(enough, gaussianBits).Floats()
		return lower, upper
	}
	found, _ := gaussianRoot(new(big.Float), enough, enough, func(x *big.Float) (float64, *big.Float) {
		g := gaussianDelta(mu2, ratOf(x))
		return -g.excess(target), new(big.Float).Quo(g.outer.Middle(), g.between.Middle())
	}).Float64()
	return gaussianBracket(found,
		func(e float64) bool { return gaussianDelta(mu2, new(big.Rat).SetFloat64(e)).above(target) },
		func(e float64) bool { return gaussianDelta(mu2, new(big.Rat).SetFloat64(e)).within(target) })
}

// GaussianSigma2 returns a σ² at which Gaussian noise on a vector is (e, d)-differentially private. l2Squared is
// Δ², the vector's squared L₂ sensitivity, and σ² is in the same unit. The result is certified, and is the least
// such σ² with 16 significant digits [the analytic calibration of Balle & Wang 2018].
//
// GaussianSigma2 returns privacy.ErrSensitivity for a nil, zero or negative l2Squared. It returns privacy.ErrDelta
// for a d below 10⁻¹⁰⁰⁰ and for a d above 1 − 10⁻²⁰. At d = 0 no σ² suffices, and at d = 1 there is no least one.
func GaussianSigma2(l2Squared *big.Int, e privacy.Epsilon, d privacy.Delta) (*big.Rat, error) {
	target, epsilon := d.Rat(), e.Rat()
	switch {
	case l2Squared == nil || l2Squared.Sign() <= 0:
		return nil, fmt.Errorf("%w: noise needs a sensitivity above 0", privacy.ErrSensitivity)
	case target.Sign() == 0:
		return nil, fmt.Errorf("%w: Gaussian noise needs a δ above 0", privacy.ErrDelta)
	case target.Cmp(exact.DecimalStep(gaussianSmallest)) < 0:
		return nil, fmt.Errorf("%w: calibration supports no value below 10^-%d", privacy.ErrDelta, gaussianSmallest)
	case new(big.Rat).Sub(big.NewRat(1, 1), target).Cmp(exact.DecimalStep(gaussianNearest)) < 0:
		return nil, fmt.Errorf("%w: calibration supports no δ above 1 - 10^-%d, because any noise meets a δ of 1",
			privacy.ErrDelta, gaussianNearest)
	}
	// The symbols are those of the comment at the top of this file. Two values of μ meet the target. The first is
	// d, because δ(ε) ≤ δ(0) ≤ μ/√(2π) ≤ μ. The second is the μ with a = √(2L), where L = ln(1/d), because Φ(−a) ≤
	// e^(−a²/2). That is μ = 2ε/(√(a²+2ε) + a). The search begins at the larger of them. This starting point needs
	// no certificate.
	square := twiceSurprise(target)
	double := exact.IntervalOf(new(big.Rat).Add(epsilon, epsilon), gaussianBits)
	low := exact.IntervalOf(target, gaussianBits).Middle()
	if far := double.Quo(square.Add(double).Sqrt().Add(square.Sqrt())).Middle(); far.Cmp(low) > 0 {
		low = far
	}
	high := new(big.Float).Set(low)
	for !gaussianDelta(squareOf(high), epsilon).above(target) && high.MantExp(nil) < 1<<16 {
		high.SetMantExp(high, 1)
	}
	mu := gaussianRoot(low, high, low, func(x *big.Float) (float64, *big.Float) {
		g := gaussianDelta(squareOf(x), epsilon)
		return g.excess(target), new(big.Float).Quo(big.NewFloat(1), g.between.Middle())
	})
	ratio := squareOf(mu)
	sigma2 := new(big.Rat).SetInt(l2Squared)
	sigma2 = exact.CeilDigits(sigma2.Quo(sigma2, ratio), gaussianDigits)
	// The loop certifies the result, whatever the search did. It ends, because more noise lowers δ.
	for step := big.NewRat(1, 1e15); ; step.Add(step, step) {
		if gaussianDelta(new(big.Rat).Quo(new(big.Rat).SetInt(l2Squared), sigma2), epsilon).within(target) {
			return sigma2, nil
		}
		grown := new(big.Rat).Add(big.NewRat(1, 1), step)
		sigma2 = exact.CeilDigits(grown.Mul(grown, sigma2), gaussianDigits)
	}
}

// gaussianDigits is the number of significant digits of a calibrated σ². 10^−gaussianSmallest is the least δ for
// which σ² is calibrated. 1 − 10^−gaussianNearest is the largest, so that a relative precision of 2^−90
// distinguishes it from 1. gaussianBits is the precision in bits of searches, and of the first evaluation of a δ.
const (
	gaussianDigits   = 16
	gaussianSmallest = 1000
	gaussianNearest  = 20
	gaussianBits     = 160
)

// gaussianPoint holds δ(ε) and its parts at one μ and ε. R is Mills' ratio, and a and b are those of the comment at
// the top of this file.
type gaussianPoint struct {
	delta   exact.Interval // δ(ε)
	between exact.Interval // R(a) − R(b) = δ/φ(a)
	outer   exact.Interval // R(b)
}

// gaussianDelta computes δ at growing precision, until its relative error is at most 2^−90. It stops earlier if δ
// is within e^(−980 000) of 0 or 1, the limit of gaussianAt, or at a precision of 2¹³ bits.
func gaussianDelta(mu2, epsilon *big.Rat) gaussianPoint {
	for bits := uint(gaussianBits); ; bits *= 2 {
		g, done := gaussianAt(mu2, epsilon, bits)
		hi := g.delta.Hi()
		if done || bits >= 1<<13 || g.delta.Width().Cmp(hi.SetMantExp(hi, -90)) <= 0 {
			return g
		}
	}
}

// gaussianAt computes δ at one precision, with the symbols of the comment at the top of this file. If |a| exceeds
// gaussianRange, far is true and δ is only known to be within 2φ(1400) < e^(−980 000) of 0 or 1. These bounds
// follow from R(x) ≤ 1/x. For a above 1, δ ≤ φ(a)·R(a) ≤ φ(a). For a below −1, 1 − δ = φ(a)·(R(−a) + R(b)) ≤ 2φ(a),
// because b ≥ −a.
func gaussianAt(mu2, epsilon *big.Rat, bits uint) (g gaussianPoint, far bool) {
	const gaussianRange = 1400
	half := new(big.Rat).Quo(mu2, big.NewRat(2, 1))
	mu := exact.IntervalOf(mu2, bits).Sqrt()
	a := exact.IntervalOf(new(big.Rat).Sub(epsilon, half), bits).Quo(mu) // the numerator is exact
	b := exact.IntervalOf(new(big.Rat).Add(epsilon, half), bits).Quo(mu)
	edge := exact.IntervalOf(big.NewRat(gaussianRange, 1), bits)
	one := exact.IntervalOf(big.NewRat(1, 1), bits)
	g.outer = b.Mills()
	switch {
	case a.Lo().Cmp(edge.Hi()) > 0:
		g.between = a.Mills().Sub(g.outer)
		g.delta = exact.Hull(one.Sub(one), edge.NormalDensity())
		return g, true
	case a.Hi().Cmp(new(big.Float).Neg(edge.Hi())) < 0:
		tail := edge.NormalDensity()
		g.between = one.Quo(tail)
		g.delta = exact.Hull(one.Sub(tail.Add(tail)), one)
		return g, true
	}
	g.between = a.Mills().Sub(g.outer)
	g.delta = a.NormalDensity().Mul(g.between)
	return g, false
}

// above reports whether δ certainly exceeds d. within reports whether δ is certainly at most d.
func (g gaussianPoint) above(d *big.Rat) bool {
	return g.delta.Lo().Cmp(exact.IntervalOf(d, 2*gaussianBits).Hi()) > 0
}

func (g gaussianPoint) within(d *big.Rat) bool {
	return g.delta.Hi().Cmp(exact.IntervalOf(d, 2*gaussianBits).Lo()) <= 0
}

// excess returns ln(δ/d), approximately.
func (g gaussianPoint) excess(d *big.Rat) float64 {
	one := big.NewFloat(1)
	ratio := new(big.Float).Quo(g.delta.Middle(), exact.IntervalOf(d, gaussianBits).Middle())
	if over, _ := new(big.Float).SetPrec(gaussianBits).Sub(ratio, one).Float64(); math.Abs(over) < 0.5 {
		return math.Log1p(over)
	}
	mantissa := new(big.Float)
	exponent := ratio.MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log(f) + float64(exponent)*math.Ln2
}

// gaussianRoot searches for the root of an increasing function between low and high. It uses Newton's method from
// x, and bisection where a Newton step leaves the bracket. The function at returns its value and its slope. The
// result is not certified.
func gaussianRoot(low, high, x *big.Float, at func(*big.Float) (f float64, slope *big.Float)) *big.Float {
	low, high = new(big.Float).Set(low), new(big.Float).Set(high)
	for range 300 {
		f, slope := at(x)
		if f > 0 {
			high = x
		} else {
			low = x
		}
		if f == 0 || slope.Sign() <= 0 {
			return x
		}
		step := new(big.Float).SetPrec(gaussianBits).Quo(big.NewFloat(f), slope)
		next := new(big.Float).SetPrec(gaussianBits).Sub(x, step)
		if next.Cmp(low) <= 0 || next.Cmp(high) >= 0 {
			next.Add(low, high)
			next.SetMantExp(next, -1)
		}
		if moved := new(big.Float).Sub(next, x); moved.Sign() == 0 || moved.MantExp(nil) < x.MantExp(nil)-80 {
			return next
		}
		x = next
	}
	return x
}

// gaussianBracket searches for certified bounds of ε, beginning at the value found. The function small reports that
// an ε is certainly too small, and the function enough that an ε certainly suffices. The lower bound is too small
// for certain, or 0. The upper bound suffices for certain, or is +Inf.
func gaussianBracket(found float64, small, enough func(float64) bool) (lower, upper float64) {
	found = min(found, math.MaxFloat64)
	ulp := math.Nextafter(found, math.Inf(1)) - found
	if math.IsInf(ulp, 1) {
		ulp = found - math.Nextafter(found, 0)
	}
	lower, upper = found, found
	for step := ulp; !enough(upper); step *= 2 {
		if upper = found + step; math.IsInf(upper, 1) {
			break
		}
	}
	for step := ulp; lower > 0 && !small(lower); step *= 2 {
		lower = max(found-step, 0)
	}
	return lower, upper
}

// twiceSurprise returns 2·ln(1/d), for 0 < d < 1.
func twiceSurprise(d *big.Rat) exact.Interval {
	odds := new(big.Rat).Sub(big.NewRat(1, 1), d)
	l := exact.IntervalOf(odds.Quo(odds, d), gaussianBits).Log1p()
	return l.Add(l)
}

// ratOf returns the exact value of a finite float, and squareOf its exact square.
func ratOf(x *big.Float) *big.Rat {
	r, _ := x.Rat(nil)
	return r
}

func squareOf(x *big.Float) *big.Rat { r := ratOf(x); return r.Mul(r, r) }
