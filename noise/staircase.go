package noise

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
)

// MaxStaircaseEpsilon is the largest ε of a staircase. A larger one is probably a mistake.
const MaxStaircaseEpsilon = 1 << 10

// Staircase is the staircase-shaped distribution over the integers [Geng & Viswanath 2014, "The Optimal Mechanism
// in Differential Privacy", the discrete case]. Let Δ be the length of a stair, 1 ≤ r ≤ Δ, and b = exp(−ε). Then
//
//	P(x) = (1 − b)/D·bˢ, s = ⌊(|x| + Δ − r)/Δ⌋, D = (2r − 1) + b(2(Δ − r) + 1).
//
// The middle stair covers the 2r − 1 integers with |x| < r. Stair s ≥ 1 covers Δ integers on each side, r + (s −
// 1)Δ ≤ |x| < r + sΔ. The weights 2r − 1 and 2Δ(b + b² + …) = 2Δb/(1 − b) sum to D/(1 − b).
//
// Between two integers at most Δ apart, P changes by a factor of at most exp(ε), because |x| changes by at most Δ,
// hence s by at most 1. At Δ = 1 the distribution is the discrete Laplace of scale 1/ε.
//
// A Staircase is immutable. NewStaircase creates it. The zero value is no distribution: its methods panic, because
// the alternative would be no noise.
type Staircase struct {
	length, step *big.Int // Δ, the length of a stair, and r, the step
	epsilon      *big.Rat
}

var _ Distribution = Staircase{}

// NewStaircase returns the distribution for a length Δ ≥ 1, a step r from 1 to Δ, and an ε above 0 and at most
// MaxStaircaseEpsilon. It returns ErrScale for other parameters, and if Δ/ε or ε exceeds the limits of a scale.
func NewStaircase(length, step *big.Int, epsilon *big.Rat) (Staircase, error) {
	if err := checkStairs(length, epsilon); err != nil {
		return Staircase{}, err
	}
	if step == nil || step.Sign() <= 0 || step.Cmp(length) > 0 {
		return Staircase{}, fmt.Errorf("%w: a staircase's step must be from 1 to its length", ErrScale)
	}
	return Staircase{new(big.Int).Set(length), new(big.Int).Set(step), new(big.Rat).Set(epsilon)}, nil
}

// checkStairs returns ErrScale for invalid parameters.
func checkStairs(length *big.Int, epsilon *big.Rat) error {
	switch {
	// a bound that is implied by ε ≤ 2¹⁰ and Δ/ε ≤ 2²⁰⁰
	case length == nil || length.Sign() <= 0 || length.BitLen() > MaxScaleBits+11:
		return fmt.Errorf("%w: a staircase's length must be above 0 and at most 2^%d", ErrScale, MaxScaleBits)
	case epsilon == nil || epsilon.Sign() <= 0 || epsilon.Cmp(big.NewRat(MaxStaircaseEpsilon, 1)) > 0:
		return fmt.Errorf("%w: a staircase's ε must be above 0 and at most %d", ErrScale, MaxStaircaseEpsilon)
	}
	if err := checkScale(epsilon, MaxScaleBits); err != nil {
		return err
	}
	scale := new(big.Rat).SetInt(length)
	return checkScale(scale.Quo(scale, epsilon), MaxScaleBits)
}

// Length returns a copy of Δ, the length of a stair.
func (d Staircase) Length() *big.Int { return new(big.Int).Set(d.length) }

// Step returns a copy of r, the step.
func (d Staircase) Step() *big.Int { return new(big.Int).Set(d.step) }

// Epsilon returns a copy of ε.
func (d Staircase) Epsilon() *big.Rat { return new(big.Rat).Set(d.epsilon) }

// Draw returns an integer that has exactly this distribution and is independent of every other draw. It uses the
// operating system's randomness. Its running time depends on the draw. It is safe for concurrent use.
func (d Staircase) Draw() *big.Int {
	source := entropy.System()
	defer source.Wipe()
	return sample.NewStaircase(d.length, d.step, d.epsilon).Draw(source, new(big.Int))
}

// base returns b = exp(−ε), and drop returns 1 − b, to about 15 digits. The result is 0 if the value is below the
// least float.
func (d Staircase) base() float64 { return math.Exp(-ratFloat(d.epsilon)) }
func (d Staircase) drop() float64 { return -math.Expm1(-ratFloat(d.epsilon)) }

// divisor returns the number D of [Staircase], to about 15 digits.
func (d Staircase) divisor() float64 {
	inner, outer := d.inner()
	return intFloat(inner) + d.base()*intFloat(outer)
}

// inner returns the two integers in the divisor D = inner + b·outer: inner = 2r − 1 and outer = 2(Δ − r) + 1.
func (d Staircase) inner() (inner, outer *big.Int) {
	one := big.NewInt(1)
	inner = new(big.Int).Lsh(d.step, 1)
	outer = new(big.Int).Sub(d.length, d.step)
	outer.Lsh(outer, 1)
	return inner.Sub(inner, one), outer.Add(outer, one)
}

// stair returns the stair s of x, and the position j of |x| in it: |x| + Δ − r = sΔ + j, with the length Δ of a
// stair and the step r.
func (d Staircase) stair(x *big.Int) (s, j *big.Int) {
	t := new(big.Int).Abs(x)
	t.Add(t, d.length).Sub(t, d.step)
	return t.QuoRem(t, d.length, new(big.Int))
}

// exponent returns sε, exactly, where s is the number of a stair.
func (d Staircase) exponent(s *big.Int) *big.Rat {
	e := new(big.Rat).SetInt(s)
	return e.Mul(e, d.epsilon)
}

// Mass returns P(X = x), to about 12 digits. It is 0 if that is below the least float.
func (d Staircase) Mass(x *big.Int) float64 {
	s, _ := d.stair(x)
	return math.Exp(-ratFloat(d.exponent(s))) * d.drop() / d.divisor()
}

// CDF returns P(X ≤ x), to about 12 digits of the smaller of itself and its complement.
func (d Staircase) CDF(x *big.Int) float64 {
	if x.Sign() < 0 {
		return d.above(new(big.Int).Neg(x))
	}
	return 1 - d.above(new(big.Int).Add(x, big.NewInt(1)))
}

// above returns P(X ≥ a) for a > 0. With s and j of stair and b = exp(−ε), the rest of a's own stair and the stairs
// beyond it have the weight bˢ((Δ − j) + bΔ/(1 − b)) = bˢ((Δ − j) + bj)/(1 − b).
func (d Staircase) above(a *big.Int) float64 {
	s, j := d.stair(a)
	left := new(big.Int).Sub(d.length, j)
	return math.Exp(-ratFloat(d.exponent(s))) * (intFloat(left) + d.base()*intFloat(j)) / d.divisor()
}

// Tail returns an upper bound on P(|X| > k). Its relative error is at most 1e-12 (or a few of the least floats).
// Tail is 1 for k < 0.
func (d Staircase) Tail(k *big.Int) float64 {
	if k.Sign() < 0 {
		return 1
	}
	s, j := d.stair(new(big.Int).Add(k, big.NewInt(1)))
	up := func(i *big.Int) float64 { return exact.FloatUp(new(big.Rat).SetInt(i)) }
	down := func(i *big.Int) float64 { return exact.FloatDown(new(big.Rat).SetInt(i)) }
	inner, outer := d.inner()
	divisor := exact.AddDown(down(inner), exact.MulDown(exact.ExpDown(-exact.FloatUp(d.epsilon)), down(outer)))
	base := exact.ExpUp(-exact.FloatDown(d.epsilon))
	left := exact.AddUp(up(new(big.Int).Sub(d.length, j)), exact.MulUp(base, up(j)))
	share := exact.DivUp(exact.MulUp(2, left), divisor)
	return min(1, exact.MulUp(exact.ExpUp(-exact.FloatDown(d.exponent(s))), share))
}

// Quantile returns a two-sided quantile: a k ≥ 0 with P(|X| ≤ k) ≥ 1 − alpha. The inequality is certified. k is the
// least such integer up to the error of Tail. If alpha ≤ 0 or NaN, no integer suffices, and Quantile returns nil.
//
// It is found by bisection below a k₀ that suffices however the floats round: P(|X| ≥ a + Δ) = b·P(|X| ≥ a) for a ≥
// 1, so P(|X| > mΔ) ≤ bᵐ, which is at most α for m ≥ ln(1/α)/ε.
func (d Staircase) Quantile(alpha float64) *big.Int {
	switch {
	case !(alpha > 0):
		return nil
	case alpha >= 1:
		return new(big.Int)
	}
	stairs := new(big.Rat).SetFloat64(-exact.LogDown(alpha)) // finite, at most 745
	enough := exact.CeilRat(stairs.Quo(stairs, d.epsilon))
	return bisect(enough.Mul(enough, d.length), func(k *big.Int) bool { return d.Tail(k) <= alpha })
}

// Variance returns E X² for noise X with this distribution, in squared units, to about 12 digits. It is 0 if that
// is below the least float.
func (d Staircase) Variance() float64 {
	n, m, q := d.moments()
	long, w, b := intFloat(d.length), d.drop(), d.base()
	return 2 / d.divisor() * (long/w*(long/w)*n*b*(1+b) + 2*(long/w)*m*b + q)
}

// StdDev returns the square root of the variance, in units, as accurately as Variance.
func (d Staircase) StdDev() float64 { return math.Sqrt(d.Variance()) }

// MeanAbs returns E|X| for noise X with this distribution, in units, to about 12 digits. It is 0 if that is below
// the least float.
func (d Staircase) MeanAbs() float64 {
	n, m, _ := d.moments()
	return 2 / d.divisor() * (intFloat(d.length)/d.drop()*n*d.base() + m)
}

// moments returns Σ w, Σ jw and Σ j²w over 0 ≤ j < Δ, where w = 1 for j < r and w = b for j ≥ r. Since P(kΔ + j) =
// bᵏ·w·(1 − b)/D (see [Staircase]), these sums give E|X| and E X², with Σbᵏ = 1/(1 − b), Σkbᵏ = b/(1 − b)² and
// Σk²bᵏ = b(1 + b)/(1 − b)³.
func (d Staircase) moments() (n, m, q float64) {
	sum := func(power func(*big.Int) *big.Int) float64 {
		low, all := power(d.step), power(d.length)
		return intFloat(low) + d.base()*intFloat(all.Sub(all, low))
	}
	return sum(func(x *big.Int) *big.Int { return new(big.Int).Set(x) }), sum(sumFirst), sum(sumSquares)
}

// sumFirst returns 0 + 1 + … + (x − 1).
func sumFirst(x *big.Int) *big.Int {
	s := new(big.Int).Sub(x, big.NewInt(1))
	return s.Rsh(s.Mul(s, x), 1)
}

// sumSquares returns 0² + 1² + … + (x − 1)².
func sumSquares(x *big.Int) *big.Int {
	twice := new(big.Int).Lsh(x, 1)
	s := sumFirst(x)
	s.Mul(s, twice.Sub(twice, big.NewInt(1)))
	return s.Quo(s, big.NewInt(3))
}

func intFloat(x *big.Int) float64 { f, _ := new(big.Float).SetInt(x).Float64(); return f }

func ratFloat(x *big.Rat) float64 { f, _ := x.Float64(); return f }
