package account

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// The Gaussian mechanism adds independent N(0, σ²) noise to each value of a vector that moves by at most Δ in L₂
// norm between neighbours. With μ = Δ/σ, the least δ at which it is (ε, δ)-differentially private is [Balle &
// Wang 2018, Theorem 8]
//
//	δ(ε) = Φ(−a) − e^ε·Φ(−b),  a = ε/μ − μ/2,  b = ε/μ + μ/2.
//
// Since b² − a² = 2ε, e^ε·φ(b) = φ(a), so that with Mills' ratio R = (1−Φ)/φ it is
//
//	δ(ε) = φ(a)·(R(a) − R(b)),
//
// in which nothing overflows, and whose derivatives are ∂δ/∂ε = −φ(a)·R(b) and ∂δ/∂μ = φ(a).
//
// The curve is that of the continuous Gaussian. It holds for post-processing of its output, such as rounding an exactly
// sampled continuous Gaussian to integers, if the values are integers: rounding x + σN is x plus rounded noise. It
// does not hold for the discrete Gaussian, which has a curve of its own, DiscreteGaussianDelta.

// GaussianDelta bounds from both sides the least δ at which Gaussian noise is (e, δ)-differentially private, where
// mu2 is μ² = Δ²/σ². The bounds are equal or adjacent floats, or enclose a δ below the least float. At a nil or
// negative mu2 they are 0 and 1, which say nothing.
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

// GaussianEpsilon bounds from both sides the least ε ≥ 0 at which Gaussian noise is (ε, d)-differentially private,
// where mu2 is μ² = Δ²/σ². There is none at d = 0, where both are +Inf unless mu2 is 0. At a nil or negative mu2
// they are 0 and +Inf.
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
	// Φ(−a) ≤ e^(−a²/2) for a ≥ 0, and a = √(2L) at this ε, L = ln 1/d: it is beyond the one looked for.
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

// GaussianSigma2 is the σ² at which Gaussian noise on a vector whose squared L₂ sensitivity is l2Squared = Δ² is
// (e, d)-differentially private: certified, and the least such with 16 significant digits [the analytic calibration of
// Balle & Wang 2018]. It is in the square of the unit that l2Squared is in.
//
// A nil, zero or negative sensitivity is privacy.ErrSensitivity. There is no such σ² at a d of 0, and no least one at
// 1; a d below 10⁻¹⁰⁰⁰ is refused too, and one above 1 − 10⁻²⁰, which protects nobody: all are
// privacy.ErrDelta.
func GaussianSigma2(l2Squared *big.Int, e privacy.Epsilon, d privacy.Delta) (*big.Rat, error) {
	target, epsilon := d.Rat(), e.Rat()
	switch {
	case l2Squared == nil || l2Squared.Sign() <= 0:
		return nil, fmt.Errorf("%w: noise needs one above 0", privacy.ErrSensitivity)
	case target.Sign() == 0:
		return nil, fmt.Errorf("%w: Gaussian noise needs one above 0", privacy.ErrDelta)
	case target.Cmp(exact.DecimalStep(gaussianSmallest)) < 0:
		return nil, fmt.Errorf("%w: below 10^-%d nothing is calibrated", privacy.ErrDelta, gaussianSmallest)
	case new(big.Rat).Sub(big.NewRat(1, 1), target).Cmp(exact.DecimalStep(gaussianNearest)) < 0:
		return nil, fmt.Errorf("%w: above 1 - 10^-%d nothing is calibrated, and at 1 any noise will do",
			privacy.ErrDelta, gaussianNearest)
	}
	// Two values of μ that will do: δ(ε) ≤ δ(0) ≤ μ/√(2π) ≤ μ, and Φ(−a) ≤ e^(−a²/2) at a =
	// √(2L), L = ln 1/d, which μ = 2ε/(√(a²+2ε) + a) has. The larger is where the search begins; it needs no
	// certificate.
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
	// The result is certified here, however the search went. More noise lowers δ, so the loop ends.
	for step := big.NewRat(1, 1e15); ; step.Add(step, step) {
		if gaussianDelta(new(big.Rat).Quo(new(big.Rat).SetInt(l2Squared), sigma2), epsilon).within(target) {
			return sigma2, nil
		}
		grown := new(big.Rat).Add(big.NewRat(1, 1), step)
		sigma2 = exact.CeilDigits(grown.Mul(grown, sigma2), gaussianDigits)
	}
}

// gaussianDigits are the significant digits of a calibrated σ², 10^−gaussianSmallest the least δ that is
// calibrated for and 1 − 10^−gaussianNearest the largest (a share of 2^−90 must tell it from 1), and gaussianBits
// the precision that evaluations begin with and searches are made in.
const (
	gaussianDigits   = 16
	gaussianSmallest = 1000
	gaussianNearest  = 20
	gaussianBits     = 160
)

// gaussianPoint is the evaluation at one μ and ε.
type gaussianPoint struct {
	delta   exact.Interval // δ(ε)
	between exact.Interval // R(a) − R(b), hence δ/φ(a)
	outer   exact.Interval // R(b)
}

// gaussianDelta evaluates δ at growing precision, until it is known to a share of 2^−90, or to within e^(−980 000)
// of 0 or of 1, which is where gaussianAt ends, or 2¹³ bits are not enough.
func gaussianDelta(mu2, epsilon *big.Rat) gaussianPoint {
	for bits := uint(gaussianBits); ; bits *= 2 {
		g, done := gaussianAt(mu2, epsilon, bits)
		hi := g.delta.Hi()
		if done || bits >= 1<<13 || g.delta.Width().Cmp(hi.SetMantExp(hi, -90)) <= 0 {
			return g
		}
	}
}

// gaussianAt evaluates δ at one precision. If |a| is beyond gaussianRange, far is true and only φ(a) is returned. It bounds
// δ or 1 − δ: R(x) ≤ 1/x, so δ ≤ φ(a)·R(a) ≤ φ(a) for the a above 1, and for those below −1 1 − δ = φ(a)·(R(−a)
// + R(b)) ≤ 2φ(a), as b ≥ −a. 2φ(1400) is below e^(−980 000).
func gaussianAt(mu2, epsilon *big.Rat, bits uint) (g gaussianPoint, far bool) {
	const gaussianRange = 1400
	half := new(big.Rat).Quo(mu2, big.NewRat(2, 1))
	mu := exact.IntervalOf(mu2, bits).Sqrt()
	a := exact.IntervalOf(new(big.Rat).Sub(epsilon, half), bits).Quo(mu) // numerators are exact
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

// above reports that δ is certainly above d, and within reports that it certainly is not.
func (g gaussianPoint) above(d *big.Rat) bool {
	return g.delta.Lo().Cmp(exact.IntervalOf(d, 2*gaussianBits).Hi()) > 0
}

func (g gaussianPoint) within(d *big.Rat) bool {
	return g.delta.Hi().Cmp(exact.IntervalOf(d, 2*gaussianBits).Lo()) <= 0
}

// excess is roughly ln δ/d.
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

// gaussianRoot looks for the root of an increasing function between low and high by Newton's method from x, and by
// halving where that leaves the bracket. It needs no certificate.
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

// gaussianBracket widens found, from both sides, to an ε that is certainly too small, or 0, and one that certainly is
// not, or +Inf.
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

// twiceSurprise is 2·ln(1/d) for 0 < d < 1.
func twiceSurprise(d *big.Rat) exact.Interval {
	odds := new(big.Rat).Sub(big.NewRat(1, 1), d)
	l := exact.IntervalOf(odds.Quo(odds, d), gaussianBits).Log1p()
	return l.Add(l)
}

// ratOf is the exact value of a finite float, and squareOf its exact square.
func ratOf(x *big.Float) *big.Rat {
	r, _ := x.Rat(nil)
	return r
}

func squareOf(x *big.Float) *big.Rat { r := ratOf(x); return r.Mul(r, r) }
