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

// CountingFactorization counts continually by the square root of the matrix of prefix sums [Fichtenberger, Henzinger &
// Upadhyay 2023; Henzinger, Upadhyay & Upadhyay 2023].
//
// Let A be the lower triangular matrix of ones, which makes sums of the stream x, and R = A^½ that with entries
// f_{t−j}, f_k = C(2k, k)/4ᵏ, so that A = R·R. R̃ is R in integers: its entries are f_k·2^fractionBits, rounded,
// with f_0 = 1 exact, so that R̃ is invertible. The mechanism measures y = R̃x + z with discrete Gaussian noise z_t
// of σ² = Δ²N²/(2ρ), and post-processes it to ⌊My + ½⌋, where M = A·R̃⁻¹.
//
// It is Rho-zCDP. Proof: where one value of the stream moves by an integer d, |d| ≤ Sensitivity =: Δ, y moves by d
// times a column of R̃, integers whose squares sum to at most d²·N², N² = Σ_{k<Steps} f̃_k², that of the first
// column. So Δ²N² is the squared L2 sensitivity of an integer vector, and y is ρ-zCDP as Gaussian is. The rest sees
// y alone. ∎ A stream may be chosen with a view of what came before: y_t is measured one after another, at a loss of
// d²f̃_{t−j}²/(2σ²) each that adds up to at most ρ whatever is chosen (privacy.Filter).
//
// My = Ax + Mz whatever R̃ is, so rounding R costs no bias, and little of the variance; and as Ax is an integer, ⌊My
// + ½⌋ = Ax + ⌊Mz + ½⌋. That is how it is computed: from the exact sum and the noise, with M in fixed point, at
// a precision that is raised where the floor would be in doubt. So the floor is exact, and the noise of each sum is the
// rounding of a variable that is symmetric about 0.
//
// Its variance after t steps is near Δ²/(2ρ)·(Σ_{k<Steps} f_k²)·(Σ_{k<t} f_k²) ≈ Δ²/(2ρ)·((ln Steps)/π
// + 1.07)², against the tree's Δ²/(2ρ)·L·(number of 1s in t's binary digits). It remembers the noise of all
// steps, and takes time in proportion to their square: half a second for 4096.
type CountingFactorization struct {
	Steps       int         // the length of the stream, fixed in advance; from 1 to MaxFactorizationSteps
	Sensitivity *big.Int    // the most by which one step's value changes between neighbours, in its unit; at least 1
	Rho         privacy.Rho // the loss of the whole stream
}

// MaxFactorizationSteps limits CountingFactorization, whose time grows with the square of the steps.
const MaxFactorizationSteps = 1 << 14

const (
	fractionBits = 30 // of R̃'s entries
	spareDigits  = 64 // of M's entries, beyond those that inverseDigits counts
)

// Begin prepares a stream. Parameters that give no privacy, or need more noise than can be drawn, are ErrParameter.
func (m CountingFactorization) Begin() (*Counter, error) {
	switch {
	case m.Steps < 1 || m.Steps > MaxFactorizationSteps:
		return nil, fmt.Errorf("%w: a stream of %d steps", mechanism.ErrParameter, m.Steps)
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

// inverseDigits is how many digits M's entries get at first: so many that a floor is rarely in doubt, and a finer
// inverse not computed. An entry is off by err, in practice below Steps (newInverse), and the sizes of z sum to less
// than 2⁴·σ·Steps but with a negligible probability. So Mz is known to within 2⁴·σ·Steps² units of
// 2^−digits, which leaves a floor open with a probability of some 2⁵·σ·Steps²·2^−digits, below 2⁻⁵⁰.
// (Such a floor is settled too: see next.)
func inverseDigits(sigma2 *big.Rat, steps int) uint {
	whole := new(big.Int).Quo(sigma2.Num(), sigma2.Denom())
	return uint(whole.BitLen()/2+1+2*bits.Len(uint(steps))) + spareDigits
}

// rootColumn is R̃'s first column: f_k·2^fractionBits, rounded to the nearest, by f_k = f_{k−1}·(2k − 1)/(2k) in
// 64 more digits. (How it is rounded is of no consequence, as long as all agree.)
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

// squaredNorm is Σ f̃², exactly.
func squaredNorm(column []int64) *big.Int {
	total, square := new(big.Int), new(big.Int)
	for _, f := range column {
		square.SetInt64(f)
		total.Add(total, square.Mul(square, square))
	}
	return total
}

// inverse is the first column of M, in fixed point.
type inverse struct {
	digits  uint
	entries []*big.Int // M_k·2^digits, each within err
	err     *big.Int
}

// newInverse solves M·R̃·D = 1, D the matrix of differences, A's inverse. Let c be the first column of R̃D; then
// Σ_j c_j·M_{k−j} is 1 for k = 0 and else 0.
//
// With all in units of 2^−digits, entries G_k = −⌊Σ_{j≥1} c_j·G_{k−j}/c_0⌋ leave integers e_k = Σ_j
// c_j·G_{k−j}, 0 ≤ e_k < c_0, in place of 0; e_0 = 0. So G − 2^digits·M = M∗e, and with K = Σ e_k and m =
// max |M_k|·2^digits, |G_k − 2^digits·M_k| ≤ m·K/2^digits =: b. Since m ≤ max |G| + b, b ≤ max
// |G|·K/(2^digits − K): err, rounded up. K is below 2^(fractionBits+14), far below 2^digits.
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

// rootNoise is ⌊Mz + ½⌋, step by step.
type rootNoise struct {
	each    sample.Sampler
	dist    noise.DiscreteGaussian
	root    []int64
	inverse *inverse   // of the first precision, which is public
	finest  *inverse   // of the highest that a floor has needed so far
	drawn   []*big.Int // z so far
}

func newRootNoise(each sample.Sampler, dist noise.DiscreteGaussian, root []int64, digits uint) *rootNoise {
	in := newInverse(root, digits)
	return &rootNoise{each: each, dist: dist, root: root, inverse: in, finest: in}
}

// next raises the precision where it does not tell the floor, and stays there. What variance says does not depend on
// that.
func (n *rootNoise) next(src *entropy.Source) *big.Int {
	n.drawn = append(n.drawn, n.each.Draw(src, new(big.Int)))
	for {
		if v, ok := n.finest.round(n.drawn); ok {
			return v
		}
		n.finest = newInverse(n.root, 2*n.finest.digits)
	}
}

// round is ⌊(Mz)_t + ½⌋ for the last t of z; ok is false if this precision does not tell. (Mz)_t is a multiple
// of 2^(−fractionBits·(t+1)), for so is each entry of M up to t, and from so many digits on there is no error: so
// some precision does tell.
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

// variance bounds that of ⌊v + ½⌋, v = (Mz)_t: rounding moves v by at most ½, so the deviation is at most v's
// plus ½.
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
