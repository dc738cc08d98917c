package stream

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/noise"
	"dither/privacy"
)

// CountingFactorization releases running sums by the square root of the matrix of prefix sums [Fichtenberger,
// Henzinger & Upadhyay 2023; Henzinger, Upadhyay & Upadhyay 2023].
//
// Let A be the lower triangular matrix of ones, so that Ax are the running sums of the stream x. Let R = A^½, whose
// entries are f_{t−j} with f_k = C(2k, k)/4ᵏ, so that A = R·R. R̃ is an integer version of R: its entries are
// f_k·2^fractionBits, rounded. f_0 = 1 is exact, so R̃ is invertible. The mechanism measures y = R̃x + z, where the
// z_t are discrete Gaussian noise with σ² = Δ²N²/(2ρ). It then post-processes y to ⌊My + ½⌋, where M = A·R̃⁻¹.
//
// Claim: the mechanism is Rho-zCDP. Proof: suppose that one value of the stream changes by an integer d with |d| ≤
// Sensitivity =: Δ. Then y changes by d times a column of R̃. The squares of this change sum to at most d²·N²,
// where N² = Σ_{k<Steps} f̃_k² is that of the first column. So Δ²N² is the squared L2 sensitivity of an integer
// vector, and y is ρ-zCDP, as mechanism.Gaussian proves. The rest depends on y alone. ∎ The stream may be chosen
// adaptively: each y_t is measured in turn, at a loss of d²f̃_{t−j}²/(2σ²). These losses add up to at most ρ
// whatever the values are (privacy.Filter).
//
// My = Ax + Mz for every R̃, so rounding R costs no bias and little variance. Since Ax is an integer vector, ⌊My +
// ½⌋ = Ax + ⌊Mz + ½⌋. The code computes this form: from the exact sum and the noise, with M in fixed point. It
// raises the precision whenever the floor would be in doubt. So the floor is exact, and the noise of each sum is a
// rounded variable that is symmetric about 0.
//
// The variance after t steps is near Δ²/(2ρ)·(Σ_{k<Steps} f_k²)·(Σ_{k<t} f_k²) ≈ Δ²/(2ρ)·((ln Steps)/π + 1.07)².
// For CountingTree it is Δ²/(2ρ)·L·(number of 1s in t's binary digits). CountingFactorization stores the noise of
// all steps, and its time grows with the square of their number: half a second for 4096.
type CountingFactorization struct {
	Steps       int         // the length of the stream, fixed in advance; from 1 to MaxFactorizationSteps
	Sensitivity *big.Int    // the most that one value changes between neighbours, in the values' unit; at least 1
	Rho         privacy.Rho // the loss of the whole stream
}

// MaxFactorizationSteps limits CountingFactorization, whose time grows with the square of the steps.
const MaxFactorizationSteps = 1 << 14

const (
	fractionBits = 30 // binary digits after the point of the entries of R̃ (see CountingFactorization)
	spareDigits  = 64 // additional binary digits of the entries of M: see inverseDigits
)

// Begin starts a stream. It returns ErrParameter if the parameters give no privacy, or if the noise would be too
// large to draw.
func (m CountingFactorization) Begin() (*Counter, error) {
	switch {
	case m.Steps < 1 || m.Steps > MaxFactorizationSteps:
		return nil, fmt.Errorf("%w: the number of steps of a stream must be from 1 to %d, not %d",
			mechanism.ErrParameter, MaxFactorizationSteps, m.Steps)
	case m.Sensitivity == nil || m.Sensitivity.Sign() <= 0:
		return nil, fmt.Errorf("%w: counting needs a sensitivity above 0", mechanism.ErrParameter)
	}
	root := rootColumn(m.Steps)
	square := new(big.Int).Mul(m.Sensitivity, m.Sensitivity)
	dist, err := gaussianFor(square.Mul(square, squaredNorm(root)), m.Rho)
	if err != nil {
		return nil, err
	}
	return &Counter{
		steps: m.Steps, sum: new(big.Int), loss: privacy.ZCDPLoss(m.Rho, privacy.Delta{}),
		noise: newRootNoise(sample.NewGaussian(dist.Sigma2()), dist, root, inverseDigits(dist.Sigma2(), m.Steps)),
	}, nil
}

// inverseDigits returns the initial number of binary digits of M's entries after the point. It is large enough that
// a floor is rarely in doubt and a finer inverse is rarely computed. An entry's error is at most err, which is
// below Steps in practice (see newInverse). The magnitudes of z sum to less than 2⁴·σ·Steps except with negligible
// probability. So Mz is known to within 2⁴·σ·Steps² units of 2^−digits. The floor is in doubt with a probability of
// some 2⁵·σ·Steps²·2^−digits, which is below 2⁻⁵⁰. In that case, rootNoise.next raises the precision.
func inverseDigits(sigma2 *big.Rat, steps int) uint {
	whole := new(big.Int).Quo(sigma2.Num(), sigma2.Denom())
	return uint(whole.BitLen()/2+1+2*bits.Len(uint(steps))) + spareDigits
}

// rootColumn returns the first column of R̃, the integer matrix of [CountingFactorization]: f_k·2^fractionBits,
// rounded to the nearest integer. It computes f_k = f_{k−1}·(2k − 1)/(2k) with 64 extra digits. The direction of
// rounding does not matter, as long as every use of R̃ has the same entries.
func rootColumn(steps int) []int64 {
	const guard = 64
	out, f := make([]int64, steps), new(big.Int).Lsh(big.NewInt(1), fractionBits+guard)
	half := new(big.Int).Lsh(big.NewInt(1), guard-1)
	for k := range out {
		if k > 0 {
			f.Mul(f, big.NewInt(2*int64(k)-1)).Quo(f, big.NewInt(2*int64(k)))
		}
		rounded := new(big.Int).Add(f, half)
		out[k] = rounded.Rsh(rounded, guard).Int64()
	}
	return out
}

// squaredNorm returns the sum of the squares of the column's entries, exactly.
func squaredNorm(column []int64) *big.Int {
	total, square := new(big.Int), new(big.Int)
	for _, f := range column {
		square.SetInt64(f)
		total.Add(total, square.Mul(square, square))
	}
	return total
}

// inverse is the first column of M = A·R̃⁻¹, in fixed point: see [CountingFactorization].
type inverse struct {
	digits  uint
	entries []*big.Int // M_k·2^digits, each with an error of at most err
	err     *big.Int
}

// newInverse returns the first column of M with the given precision. M solves M·R̃·D = 1, where D is the matrix of
// differences, the inverse of A. Let c be the first column of R̃D. Then Σ_j c_j·M_{k−j} is 1 for k = 0, and 0 for k
// > 0.
//
// Error bound, in units of 2^−digits: the code computes G_k = −⌊Σ_{j≥1} c_j·G_{k−j}/c_0⌋. So Σ_j c_j·G_{k−j} is not
// 0 but an integer e_k, 0 ≤ e_k < c_0, with e_0 = 0. Hence G − 2^digits·M = M∗e. Let K = Σ e_k and m = max
// |M_k|·2^digits. Then |G_k − 2^digits·M_k| ≤ m·K/2^digits =: b. Since m ≤ max |G| + b, b ≤ max |G|·K/(2^digits −
// K). The field err is this bound, rounded up. K is below 2^(fractionBits+14), far below 2^digits.
func newInverse(root []int64, digits uint) *inverse {
	c := make([]*big.Int, len(root))
	for k, f := range root {
		c[k] = big.NewInt(f)
		if k > 0 {
			c[k].Sub(c[k], big.NewInt(root[k-1]))
		}
	}
	unit := new(big.Int).Lsh(big.NewInt(1), digits)
	in := &inverse{digits: digits, entries: make([]*big.Int, len(root))}
	in.entries[0] = new(big.Int).Rsh(unit, fractionBits) // c_0 = 2^fractionBits
	largest, rests := new(big.Int).Set(in.entries[0]), new(big.Int)
	product := new(big.Int)
	for k := 1; k < len(root); k++ {
		sum := new(big.Int)
		for j := 1; j <= k; j++ {
			sum.Add(sum, product.Mul(c[j], in.entries[k-j]))
		}
		rest := new(big.Int)
		g, _ := new(big.Int).DivMod(sum, c[0], rest)
		in.entries[k] = g.Neg(g)
		rests.Add(rests, rest)
		if g.CmpAbs(largest) > 0 {
			largest.Abs(g)
		}
	}
	in.err = largest.Mul(largest, rests)
	in.err.Add(in.err.Quo(in.err, unit.Sub(unit, rests)), big.NewInt(1))
	return in
}

// rootNoise generates the noise ⌊Mz + ½⌋ of [CountingFactorization], step by step.
type rootNoise struct {
	each    sample.Sampler
	dist    noise.DiscreteGaussian
	root    []int64
	inverse *inverse   // the inverse at the initial precision, which is public
	finest  *inverse   // the inverse at the highest precision that any floor has needed so far
	drawn   []*big.Int // the draws z so far
}

func newRootNoise(each sample.Sampler, dist noise.DiscreteGaussian, root []int64, digits uint) *rootNoise {
	in := newInverse(root, digits)
	return &rootNoise{each: each, dist: dist, root: root, inverse: in, finest: in}
}

// next draws the next noise variable z and returns the noise of the next sum. If the precision does not determine
// the floor, next doubles it, and later steps keep the higher precision. variance always uses the initial
// precision.
func (n *rootNoise) next(src *entropy.Source) *big.Int {
	n.drawn = append(n.drawn, n.each.Draw(src, new(big.Int)))
	for {
		if v, ok := n.finest.round(n.drawn); ok {
			return v
		}
		n.finest = newInverse(n.root, 2*n.finest.digits)
	}
}

// round returns ⌊(Mz)_t + ½⌋, where z has t + 1 elements. ok is false if this precision does not determine the
// floor. (Mz)_t is a multiple of 2^(−fractionBits·(t+1)), since each entry of M up to t is. With that many digits
// there is no error, so some precision determines the floor.
func (in *inverse) round(z []*big.Int) (v *big.Int, ok bool) {
	sum, size, product := new(big.Int), new(big.Int), new(big.Int)
	for j, drawn := range z {
		sum.Add(sum, product.Mul(drawn, in.entries[len(z)-1-j]))
		size.Add(size, product.Abs(drawn))
	}
	if in.digits < fractionBits*uint(len(z)) {
		size.Mul(size, in.err)
	} else {
		size.SetInt64(0)
	}
	sum.Add(sum, new(big.Int).Lsh(big.NewInt(1), in.digits-1))
	low, high := new(big.Int).Sub(sum, size), new(big.Int).Add(sum, size)
	low.Rsh(low, in.digits)
	high.Rsh(high, in.digits)
	return low, low.Cmp(high) == 0
}

// variance returns an upper bound on the variance of ⌊v + ½⌋, where v = (Mz)_t is the noise before rounding.
// Rounding moves v by at most ½, so the standard deviation is at most that of v plus ½.
func (n *rootNoise) variance(step int) float64 {
	sum := new(big.Int)
	for _, g := range n.inverse.entries[:step] {
		above := new(big.Int).Add(new(big.Int).Abs(g), n.inverse.err)
		sum.Add(sum, above.Mul(above, above))
	}
	squares := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), 2*n.inverse.digits))
	v := exact.MulUp(exact.FloatUp(squares), n.dist.Variance())
	deviation := exact.AddUp(math.Nextafter(math.Sqrt(v), math.Inf(1)), 0.5)
	return exact.MulUp(deviation, deviation)
}
