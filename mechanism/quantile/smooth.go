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

// Smooth releases the median with noise adapted to the data [Nissim, Raskhodnikova & Smith 2007]: if values are dense
// around the median, one row hardly changes it, and the noise is small. The noise's scale is secret, and so are the
// spread and any interval derived from it, because they reveal how dense the values are. The release is a value, and
// the loss.
//
// The values are x₁ ≤ … ≤ x_n, moved into the domain. The median f is the middle one, or the mean of the middle
// two; of no values it is the middle of the domain. One row more or less is a step.
//
// The noise: with s = S̃/α, S̃ and α below, the output is f + s·Z, Z a standard Cauchy variable, rounded to the
// nearest integer and moved into the domain, which is post-processing. It is drawn exactly (sample.RoundedCauchy).
//
// It is e-differentially private for one step, e = Epsilon/steps, and so Epsilon-differentially private for as many
// steps as join neighbours (Unit) by group privacy. Proof: two facts hold between datasets one step apart (see
// smoothBound): |f − f′| ≤ min(S̃, S̃′), and |ln S̃ − ln S̃′| ≤ β. The densities of f + s·Z are
// p(o) = s/(π·Q(o)), Q(o) = (o − f)² + s², and p′(o) with f′, s′. The ratio R = p/p′ takes a value at
// some o where R·s′·Q(o) − s·Q′(o) = 0 has a real root; a quarter of its discriminant is ss′·(R((f −
// f′)² + s² + s′²) − ss′(R² + 1)). So every value of R has
//
//	R + 1/R ≤ 2 + ((f − f′)² + (s − s′)²)/(ss′),                                                  (1)
//
// and R ≤ exp(e) everywhere if the right-hand side is at most 2·cosh e. Let s ≤ s′, s′ = s·exp(λ), 0 ≤ λ
// ≤ β: then (f − f′)² ≤ α²s², and (1)'s right-hand side is at most α²·exp(−λ) + 2·cosh λ, which is
// convex in λ and so at most what it is at 0, α² + 2, or at β, α²·exp(−β) + 2·cosh β. Both are at most
// 2·cosh e, since α is chosen so (smoothAlpha). ∎ (1) says that the largest ln R is the distance of (f, s) and
// (f′, s′) in the hyperbolic half plane; going there by a move of f and then one of s would need α + β ≤ e.
type Smooth struct {
	Domain
	mechanism.Unit
	Epsilon privacy.Epsilon
}

// Release draws the median. The error is ErrParameter, or the scan's. The time depends on the data and the draw.
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

// draw is the median with its noise, rounded and moved into the domain.
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

// smoothParameters depend on the public parameters alone.
type smoothParameters struct {
	beta, alpha *big.Rat
	window      int64 // K of smoothBound
}

// maxStep bounds the e for which noise is computed: beyond it the noise is negligible.
const maxStep = 32

// maxWindow bounds the number of values around the median that are read.
const maxWindow = 1 << 20

// parameters chooses β = 3e/4, α by smoothAlpha, and K so that the floor of S̃ is below 2⁻²⁰ of an integer if
// maxWindow allows.
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
		// any K is private: this one need not be exact
		p.window = max(1, int64(k))
	}
	return p
}

// smoothAlpha is an α with α² ≤ 2(cosh e − 1) and α² ≤ 2·exp(β)(cosh e − cosh β), for 0 < β < e ≤
// 32. The first is (2·sinh(e/2))², and the second 4·exp(β)·sinh((e + β)/2)·sinh((e − β)/2), without
// cancellation; each is bounded from below. Where e is below the floats' normal range the bounds are taken at first
// order, in rationals: sinh x ≥ x, and with β = 3e/4 an α of 5e/8 has α² ≤ e² − β² = 7e²/16.
func smoothAlpha(e, beta *big.Rat) *big.Rat {
	if e.Cmp(new(big.Rat).SetFloat64(0x1p-100)) < 0 {
		return new(big.Rat).Mul(e, big.NewRat(5, 8))
	}
	half := big.NewRat(1, 2)
	sinh := func(x *big.Rat) float64 { // from below, at half of x
		y := exact.FloatDown(new(big.Rat).Mul(x, half))
		return max(y, exact.SubDown(exact.ExpDown(y), exact.ExpUp(-y))/2)
	}
	sum, difference := new(big.Rat).Add(e, beta), new(big.Rat).Sub(e, beta)
	square := 4 * exact.MulDown(exact.ExpDown(exact.FloatDown(beta)), exact.MulDown(sinh(sum), sinh(difference)))
	root := math.Nextafter(math.Sqrt(square), 0) // Sqrt is rounded to the nearest
	return new(big.Rat).SetFloat64(min(2*sinh(e), root))
}
