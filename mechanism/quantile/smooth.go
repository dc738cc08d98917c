package quantile

import (
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/privacy"
)

// Smooth releases the median with noise adapted to the data [Nissim, Raskhodnikova & Smith 2007]. If values are
// dense around the median, one row hardly changes it, and the noise is small. The release is a value and the loss.
// The noise's scale is secret, and so is every interval derived from it, because the scale reveals how dense the
// values are.
//
// Let x₁ ≤ … ≤ x_n be the values, clamped to the domain. The median f is the middle value, or the mean of the
// middle two. Without values it is the middle of the domain. Adding or removing one row is a step.
//
// The noise: let s = S̃/α, with S̃ and α as below. The output is f + s·Z, where Z is a standard Cauchy variable,
// rounded to the nearest integer and clamped to the domain. Rounding and clamping are post-processing. The output
// is drawn exactly (sample.RoundedCauchy).
//
// Claim: Smooth is e-differentially private for one step, where e = Epsilon/steps. By group privacy it is
// Epsilon-differentially private for the number of steps between neighbours (Unit). Proof: two facts hold between
// datasets one step apart (see smoothBound): |f − f′| ≤ min(S̃, S̃′), and |ln S̃ − ln S̃′| ≤ β. The densities of f
// + s·Z are p(o) = s/(π·Q(o)) with Q(o) = (o − f)² + s², and p′(o) with f′ and s′. The ratio p/p′ takes the value R
// at some o only if R·s′·Q(o) − s·Q′(o) = 0 has a real root. A quarter of the discriminant of that quadratic
// equation is ss′·(R((f − f′)² + s² + s′²) − ss′(R² + 1)). So every value R of the ratio satisfies
//
//	R + 1/R ≤ 2 + ((f − f′)² + (s − s′)²)/(ss′).                                                  (1)
//
// Hence R ≤ exp(e) everywhere if the right-hand side is at most 2·cosh e. Let s ≤ s′ and s′ = s·exp(λ), 0 ≤ λ ≤ β.
// Then (f − f′)² ≤ α²s², and the right-hand side of (1) is at most α²·exp(−λ) + 2·cosh λ. This is convex in λ, so
// it is at most its value at λ = 0, α² + 2, or at λ = β, α²·exp(−β) + 2·cosh β. Both are at most 2·cosh e by the
// choice of α (smoothAlpha). ∎
//
// In other words, (1) says that the largest ln R is the distance of (f, s) and (f′, s′) in the hyperbolic half
// plane. Bounding a move of f and then a move of s separately would need α + β ≤ e.
type Smooth struct {
	Domain
	mechanism.Unit
	Epsilon privacy.Epsilon
}

// Release draws the median. The error is ErrParameter or comes from the scan. The running time depends on the data
// and on the draw.
func (m Smooth) Release(data mechanism.Ordered) (OrderStatistics, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m Smooth) release(src *entropy.Source, data mechanism.Ordered) (OrderStatistics, error) {
	if err := checkRelease(m.Domain, m.Unit, m.Epsilon); err != nil {
		return OrderStatistics{}, err
	}
	p := m.parameters()
	twice, smooth, err := m.measure(p, data)
	if err != nil {
		return OrderStatistics{}, err
	}
	return OrderStatistics{Values: []int64{m.draw(src, p, twice, smooth)}, Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// draw returns the median plus noise, rounded and clamped to the domain. twice is twice the median.
func (m Smooth) draw(src *entropy.Source, p smoothParameters, twice *big.Int, smooth smoothBound) int64 {
	if m.points() == 1 {
		return m.Lower
	}
	scale := func(bits uint) (down, up *big.Rat) {
		down, up = smooth.enclose(p.beta, bits)
		return down.Quo(down, p.alpha), up.Quo(up, p.alpha)
	}
	return sample.RoundedCauchy(src, twice, scale, m.Lower, m.Upper)
}

// smoothParameters holds the constants of the noise, which depend on public parameters alone.
type smoothParameters struct {
	beta, alpha *big.Rat
	window      int64 // K, the largest k of a term of S̃ (see smoothBound)
}

// maxStep is the largest e for which noise is computed. A larger e uses the noise of maxStep, which is negligible.
const maxStep = 32

// maxWindow limits the number of values around the median that are read.
const maxWindow = 1 << 20

// parameters chooses the constants of [Smooth]: β = 3e/4, α by smoothAlpha, and K so that the floor τ of S̃ is
// below 2⁻²⁰, if maxWindow allows.
func (m Smooth) parameters() smoothParameters {
	e := m.Epsilon.Rat()
	e.Quo(e, new(big.Rat).SetInt64(steps(m.Unit)))
	if e.Cmp(big.NewRat(maxStep, 1)) > 0 {
		e.SetInt64(maxStep)
	}
	beta := new(big.Rat).Mul(e, big.NewRat(3, 4))
	p := smoothParameters{beta: beta, alpha: smoothAlpha(e, beta), window: maxWindow}
	b, _ := beta.Float64()
	if k := math.Ceil(math.Log(float64(m.points())*0x1p20) / b); k < maxWindow {
		// every K is private, so a float computation suffices
		p.window = max(1, int64(k))
	}
	return p
}

// smoothAlpha returns an α with α² ≤ 2(cosh e − 1) and α² ≤ 2·exp(β)(cosh e − cosh β), for 0 < β < e ≤ 32. To avoid
// cancellation, it bounds these terms from below in another form. The first term is (2·sinh(e/2))². The second is
// 4·exp(β)·sinh((e + β)/2)·sinh((e − β)/2). If e < 2⁻¹⁰⁰, it uses first-order bounds in rationals: sinh x ≥ x, and
// with β = 3e/4, α = 5e/8 has α² ≤ e² − β² = 7e²/16.
func smoothAlpha(e, beta *big.Rat) *big.Rat {
	if e.Cmp(new(big.Rat).SetFloat64(0x1p-100)) < 0 {
		return new(big.Rat).Mul(e, big.NewRat(5, 8))
	}
	half := big.NewRat(1, 2)
	sinh := func(x *big.Rat) float64 { // a lower bound on sinh(x/2)
		y := exact.FloatDown(new(big.Rat).Mul(x, half))
		return max(y, exact.SubDown(exact.ExpDown(y), exact.ExpUp(-y))/2)
	}
	sum, difference := new(big.Rat).Add(e, beta), new(big.Rat).Sub(e, beta)
	square := 4 * exact.MulDown(exact.ExpDown(exact.FloatDown(beta)), exact.MulDown(sinh(sum), sinh(difference)))
	root := math.Nextafter(math.Sqrt(square), 0) // Sqrt rounds to the nearest float
	return new(big.Rat).SetFloat64(min(2*sinh(e), root))
}
