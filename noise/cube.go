package noise

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
)

// MaxCubeDimension is the largest dimension of a DiscreteCube.
const MaxCubeDimension = 1 << 10

// DiscreteCube is the distribution of one coordinate of a vector z of k integers with P(z) ∝ p^‖z‖∞, p =
// exp(−1/scale). The vector is uniform on cubes of random size. So its coordinates are uncorrelated, and dependent. It
// is the noise of the ℓ∞ case of the K-norm mechanism [Hardt & Talwar 2010], over integers. In one dimension it is the
// discrete Laplace.
//
// Let A_j(a) = Σ_{m≥a} (2m + 1)^j·p^m. The half-side M of the cube has P(M = m) = (2m + 1)^k·p^m/A_k(0) (see
// sample.Cube), and given M the coordinate X is uniform on its 2M + 1 values. So for a ≥ 0
//
//	P(X = a) = A_{k−1}(a)/A_k(0),
//	P(X ≥ a) = Σ_{m≥a} (2m + 1)^{k−1}·(m − a + 1)·p^m/A_k(0) = (A_k(a) − (2a − 1)·A_{k−1}(a))/(2·A_k(0)),
//	Var X = E[M(M + 1)/3] = (A_{k+2}(0)/A_k(0) − 1)/12.
//
// Let q = 1 − p, v = (a + ½)q and r_i = q^{i+1}·Σ_{t≥0} tⁱpᵗ/i!. By the binomial theorem
//
//	A_j(a) = j!·2^j/q^{j+1}·p^a·B_j(v),  B_j(v) = Σ_{i≤j} r_i·v^{j−i}/(j − i)!.
//
// Since Σ tⁱpᵗ = p·Σ (t + 1)ⁱpᵗ for i ≥ 1, r_i = p·Σ_{l<i} r_l·q^{i−l−1}/(i − l)!, and r_0 = 1. All terms are positive.
// In P(X ≥ a), the two sums combine term by term to p^a·Σ_i r_i·v^{k−i}/(k − i)!·(i·v + (k − i)·q)/(kv)/(2·B_k(q/2)).
//
// A DiscreteCube is immutable. NewDiscreteCube creates it. The zero value is no distribution: its methods panic,
// because the alternative would be no noise.
type DiscreteCube struct {
	scale *big.Rat
	k     int
	rate  float64   // 1/scale
	q     float64   // 1 − p
	r     []float64 // r_0 … r_{k+2}
	whole float64   // B_k(q/2)
}

var _ Distribution = DiscreteCube{}

// NewDiscreteCube returns the distribution with the given scale, in units of the drawn integers, in the given
// dimension. It returns ErrScale for invalid parameters, and for a scale below an eighth of a dimension above 4, whose draws
// would take very long.
func NewDiscreteCube(scale *big.Rat, dimension int) (DiscreteCube, error) {
	if err := checkScale(scale, MaxScaleBits); err != nil {
		return DiscreteCube{}, err
	}
	if dimension < 1 || dimension > MaxCubeDimension {
		return DiscreteCube{}, fmt.Errorf("%w: the dimension must be from 1 to %d", ErrScale, MaxCubeDimension)
	}
	if eighth := big.NewRat(int64(dimension), 8); dimension > 4 && scale.Cmp(eighth) < 0 { // draws would be rejected nearly always
		return DiscreteCube{}, fmt.Errorf("%w: the scale must be at least an eighth of the dimension, or the dimension at most 4", ErrScale)
	}
	d := DiscreteCube{scale: new(big.Rat).Set(scale), k: dimension, rate: floatsOf(scale).inverse}
	p := math.Exp(-d.rate)
	d.q = -math.Expm1(-d.rate)
	d.r = append(make([]float64, 0, dimension+3), 1)
	for i := 1; i <= dimension+2; i++ {
		sum, f := 0.0, 1.0
		for l := i - 1; l >= 0 && f > 0; l-- { // f = q^{i−l−1}/(i − l)!
			sum += d.r[l] * f
			f *= d.q / float64(i-l+1)
		}
		d.r = append(d.r, p*sum)
	}
	d.whole = d.sum(d.k, d.q/2, 0, func(int) float64 { return 1 })
	return d, nil
}

// Scale returns a copy of the scale.
func (d DiscreteCube) Scale() *big.Rat { return new(big.Rat).Set(d.scale) }

// Dimension returns k, the number of coordinates of a draw of the whole vector.
func (d DiscreteCube) Dimension() int { return d.k }

// Draw returns an integer that has exactly this distribution: a coordinate of a fresh vector. It uses the operating
// system's randomness. Its running time depends on the draw. It is safe for concurrent use.
func (d DiscreteCube) Draw() *big.Int {
	source := entropy.System()
	defer source.Wipe()
	z := make([]*big.Int, d.k)
	for i := range z {
		z[i] = new(big.Int)
	}
	sample.Cube(source, d.scale, z)
	return z[0]
}

// sum returns e^(−decay)·Σ_i r_i·v^{j−i}/(j − i)!·weight(i) over i from 0 to j.
func (d DiscreteCube) sum(j int, v, decay float64, weight func(i int) float64) float64 {
	log, out := math.Log(v), 0.0
	for i := range j + 1 {
		n := float64(j - i)
		factorial, _ := math.Lgamma(n + 1)
		if w := d.r[i] * weight(i); w > 0 {
			out += w * math.Exp(n*log-factorial-decay)
		}
	}
	return out
}

// at returns v and a/scale for an integer a ≥ 0.
func (d DiscreteCube) at(a *big.Int) (v, decay float64) {
	x := new(big.Rat).SetInt(a)
	decay, _ = new(big.Rat).Quo(x, d.scale).Float64()
	f, _ := x.Add(x, big.NewRat(1, 2)).Float64()
	return f * d.q, decay
}

// Mass returns P(X = x), to about 10 digits. It is 0 if that is below the least float.
func (d DiscreteCube) Mass(x *big.Int) float64 {
	v, decay := d.at(new(big.Int).Abs(x))
	return d.sum(d.k-1, v, decay, func(int) float64 { return 1 }) * d.q / (2 * float64(d.k) * d.whole)
}

// atLeast returns P(X ≥ a) for a ≥ 1, to about 10 digits.
func (d DiscreteCube) atLeast(a *big.Int) float64 {
	v, decay := d.at(a)
	k := float64(d.k)
	share := d.q / v
	return d.sum(d.k, v, decay, func(i int) float64 { return (float64(i) + (k-float64(i))*share) / k }) / (2 * d.whole)
}

// CDF returns P(X ≤ x), to about 10 digits for x < 0.
func (d DiscreteCube) CDF(x *big.Int) float64 {
	if x.Sign() < 0 {
		return d.atLeast(new(big.Int).Neg(x))
	}
	return 1 - d.atLeast(new(big.Int).Add(x, big.NewInt(1)))
}

// Variance returns the variance, in squared units, to about 10 digits for a scale of at least 1. For smaller scales its
// absolute error is about 1e-12.
func (d DiscreteCube) Variance() float64 {
	one := func(int) float64 { return 1 }
	k := float64(d.k)
	ratio := d.sum(d.k+2, d.q/2, 0, one) / d.whole
	return max((4*(k+1)*(k+2)/(d.q*d.q)*ratio-1)/12, 0)
}

// StdDev returns the square root of the variance, in units.
func (d DiscreteCube) StdDev() float64 { return math.Sqrt(d.Variance()) }

// Tail returns an upper bound on P(|X| > k). It is 1 for k < 0. The computed probability is a sum of positive terms with
// a relative error far below 1e-9 (the largest part, of the logarithms of factorials, is below 1e-11). It is increased
// by 1e-9 of itself, and by the least float.
func (d DiscreteCube) Tail(k *big.Int) float64 {
	if k.Sign() < 0 {
		return 1
	}
	return min(1, 2*d.atLeast(new(big.Int).Add(k, big.NewInt(1)))*(1+1e-9)+math.SmallestNonzeroFloat64)
}

// Quantile returns the least k ≥ 0 with Tail(k) ≤ alpha: P(|X| ≤ k) ≥ 1 − alpha. If alpha ≤ 0 or NaN, no integer
// suffices, and Quantile returns nil.
func (d DiscreteCube) Quantile(alpha float64) *big.Int {
	if !(alpha > 0) {
		return nil
	}
	high := exact.CeilRat(d.scale)
	for d.Tail(high) > alpha && high.BitLen() < 2*MaxScaleBits {
		high.Lsh(high, 1)
	}
	low := big.NewInt(-1) // Tail(low) > alpha, or low = −1
	for {
		middle := new(big.Int).Add(low, high)
		if middle.Rsh(middle, 1).Cmp(low) == 0 {
			return high
		}
		if d.Tail(middle) <= alpha {
			high = middle
		} else {
			low = middle
		}
	}
}
