package quantile

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
	"dither/mechanism"
)

// This comment derives S̃, the smooth bound of the median's sensitivity. A step adds or removes one row.
//
// Let x₁ ≤ … ≤ x_n be the values of a dataset D, as in [Smooth]. Let x_i be the lower end of the domain for i ≤ 0,
// and the upper end for i > n. The median is then (x_⌊c⌋ + x_⌈c⌉)/2 with c = (n + 1)/2, for n = 0 too. The gap
// between x_s and x_{s+1} is called central if |2s + 1 − (n + 1)| ≤ 1. That is the case if the numbers of rows on
// its two sides, s and n − s, differ by at most 1.
//
// Local sensitivity. Claim: the most that one step moves the median is half of the widest central gap. For even n
// there is one central gap, (x_{n/2}, x_{n/2+1}), and the median is its middle. Adding a row makes the median a
// point of the gap. Removing a row makes it an end of the gap. For odd n there are two central gaps, on both sides
// of the median x_p. Adding a row makes the median the mean of x_p and a point of one of the gaps. Removing a row
// makes it the mean of x_p and one of x_{p−1} and x_{p+1}, or the mean of x_{p−1} and x_{p+1} if x_p is removed.
// The largest of these moves is half of the wider gap. Both cases attain the bound, except for removals from few
// rows, where additions attain it.
//
// Larger distances. Let A_k be the largest local sensitivity of the datasets at most k steps away. Claim:
//
//	A_k = 1/2·max{x_t − x_s : t − s = j + 1 for some j ≤ k, |s + t − (n + 1)| ≤ 1}.
//
// Proof. Let D′ be k steps away, and let (a, b) be a central gap of D′. Let x_s be the last value of D at or below
// a, and x_t the first at or above b. Then x_t − x_s ≥ b − a. The t − s − 1 rows between them must have been
// removed. Every other step changes the difference of the two sides, s − (n − t + 1), by 1. So k ≥ t − s − 1 +
// max(0, |s + t − (n + 1)| − 1). Suppose that s + t − (n + 1) = d ≥ 2 (the case d ≤ −2 is its mirror image).
// Lowering s by d − 1 makes the difference 1. It adds d − 1 to t − s − 1, so the bound on k is the same, and it
// widens x_t − x_s. So some pair with |s + t − (n + 1)| ≤ 1 and t − s − 1 ≤ k is at least as wide. Every such pair
// is attained: by removing the t − s − 1 rows between s and t. If s < 0, hence t > n, or the other way round,
// removing all n rows attains it. ∎
//
// The smooth bound. S = max_k exp(−βk)·A_k is at least the local sensitivity A₀. It is within a factor of exp(β) of
// S′, the bound of a dataset one step away, since A_k ≤ A′_{k+1} [Nissim, Raskhodnikova & Smith 2007]. Terms with k
// > K are at most the public number τ = (Upper − Lower)/2·exp(−β(K + 1)). Let
//
//	S̃ = max(τ, max_{k ≤ K} exp(−βk)·A_k) = max(τ, S).
//
// S̃ has both properties too: if each of two numbers changes by a factor of at most exp(β), so does the larger one.
// ∎
//
// Computing S̃ needs the K + 2 values around the median, which are read in one pass.

// smoothBound represents S̃ of the comment at the top of this file: half of the largest gap·exp(−βk) over its
// terms.
type smoothBound []smoothTerm

type smoothTerm struct{ gap, k int64 }

// enclose returns a lower and an upper bound on S̃, which b represents, to about the given number of bits.
func (b smoothBound) enclose(beta *big.Rat, bits uint) (down, up *big.Rat) {
	down, up = new(big.Rat), new(big.Rat)
	for _, t := range b {
		decay := exact.IntervalOf(new(big.Rat).Mul(beta, big.NewRat(-t.k, 1)), bits).Exp()
		x := decay.Mul(exact.IntervalOf(big.NewRat(t.gap, 2), max(bits, 64)))
		down, up = larger(down, x.Lo()), larger(up, x.Hi())
	}
	return down, up
}

func larger(x *big.Rat, y *big.Float) *big.Rat {
	if r, _ := y.Rat(nil); r.Cmp(x) > 0 {
		return r
	}
	return x
}

// measure returns twice the median, and the terms of S̃ (see smoothBound).
func (m Smooth) measure(p smoothParameters, data mechanism.Ordered) (twice *big.Int, bound smoothBound, err error) {
	w, err := m.around(p, data)
	if err != nil {
		return nil, nil, err
	}
	low, high := big.NewInt(w.at((w.rows+1)/2)), big.NewInt(w.at((w.rows+2)/2))
	return low.Add(low, high), w.terms(p), nil
}

// around reads the values around the median, from which S̃ is computed (see smoothBound).
func (m Smooth) around(p smoothParameters, data mechanism.Ordered) (*window, error) {
	n, err := countRows(data, m.Domain)
	if err != nil {
		return nil, err
	}
	w := &window{domain: m.Domain, rows: n, first: n/2 - p.window/2 - 2, last: n/2 + p.window/2 + 3}
	return w, eachAgain(data, m.Domain, n, w.visit)
}

// terms returns the terms of S̃ that may be the largest, in increasing order of k. τ counts as a term (see
// smoothBound).
func (w *window) terms(p smoothParameters) smoothBound { return w.candidates(p).settle(p.beta) }

// candidates returns the terms that may be the largest, as far as floats can tell. The gap of a term is 2·A_k. A k
// is left out if its gap is not wider than all earlier ones.
//
// Floats suffice for this preselection. Both parts of ln gap − βk are below 150, because β is at most 24 and βK is
// at most ln(2⁶²·2²⁰) + β. So the error is below 10⁻¹², and a term that is 10⁻⁹ below another is not the largest.
// For some data, many terms are closer than that. settle separates those.
func (w *window) candidates(p smoothParameters) smoothBound {
	beta, _ := p.beta.Float64()
	height := func(t smoothTerm) float64 { return math.Log(float64(t.gap)) - beta*float64(t.k) }
	floor := smoothTerm{gap: w.domain.points() - 1, k: p.window + 1}
	var all smoothBound
	best := height(floor)
	widest := int64(0)
	for k := int64(0); k <= p.window; k++ {
		gap := w.gap(k)
		if gap <= widest {
			continue
		}
		widest = gap
		t := smoothTerm{gap, k}
		if h := height(t); h > best-1e-9 {
			all, best = append(all, t), max(best, h)
		}
	}
	kept := all[:0]
	for _, t := range append(all, floor) {
		if height(t) > best-1e-9 {
			kept = append(kept, t)
		}
	}
	return kept
}

// settleBits is the precision of the products in settle. Terms whose relative difference is below 2^settled stay
// together.
const (
	settleBits = 320
	settled    = -256
)

// settle keeps the terms that are within 2⁻²⁵⁶ of the largest one, relative to it. The terms must be in the order
// of k. Nearly always one term remains, so that enclose computes few intervals.
//
// exp(−βk) is a product of powers exp(−β·2ⁱ), one for each binary digit of the difference between one k and the
// next. There are at most K + 1 factors in all. The relative error of each factor, and of each rounding, is at most
// 2⁻³⁰⁰. Since K ≤ 2²⁰, the error of a term is at most 2⁻²⁷⁷. So if two computed terms differ by 2⁻²⁵⁶, the larger
// one is truly larger.
func (b smoothBound) settle(beta *big.Rat) smoothBound {
	if len(b) < 2 {
		return b
	}
	var powers []*big.Float
	power := func(i int) *big.Float {
		for len(powers) <= i {
			x := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(len(powers))))
			powers = append(powers, exact.IntervalOf(x.Neg(x.Mul(x, beta)), settleBits).Exp().Lo())
		}
		return powers[i]
	}
	float := func() *big.Float { return new(big.Float).SetPrec(settleBits) }
	decay, size, best, beyond, margin := float().SetInt64(1), float(), float(), float(), float()
	var kept smoothBound
	for i, t := range b {
		if i > 0 {
			for step := uint64(t.k - b[i-1].k); step > 0; step &= step - 1 {
				decay.Mul(decay, power(bits.TrailingZeros64(step)))
			}
		}
		size.Mul(decay, size.SetInt64(t.gap))
		beyond.Sub(size, best)
		margin.SetMantExp(best, settled)
		if beyond.Cmp(margin) > 0 {
			kept = kept[:0]
		}
		if beyond.Sign() > 0 {
			best.Set(size)
		}
		if margin.Neg(margin).Cmp(beyond) <= 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// gap returns the widest distance x_t − x_s with t − s = k + 1 and s + t = n + 1 + d, where d is 0 or ±1 according
// to parity. The largest gap up to k is 2·A_k of the derivation above.
func (w *window) gap(k int64) int64 {
	widest := int64(0)
	for d := int64(-1); d <= 1; d++ {
		if twice := w.rows + 1 + d - (k + 1); twice&1 == 0 {
			widest = max(widest, w.at(twice/2+k+1)-w.at(twice/2))
		}
	}
	return widest
}

// window holds the values x_first … x_last of a sequence, as runs of equal values.
type window struct {
	domain      Domain
	rows        int64 // n, the number of rows
	first, last int64
	seen        int64
	values      []int64
	ends        []int64 // ends[j] is the index of the last x with the value values[j]
}

func (w *window) visit(value, count int64) {
	begin := w.seen + 1
	w.seen += count
	if w.seen >= w.first && begin <= w.last {
		w.values, w.ends = append(w.values, value), append(w.ends, w.seen)
	}
}

// at returns x_i, the i-th value of the sequence, for first ≤ i ≤ last.
func (w *window) at(i int64) int64 {
	if i < 1 {
		return w.domain.Lower
	}
	if i > w.rows {
		return w.domain.Upper
	}
	lo, hi := 0, len(w.ends)-1 // binary search for the first end ≥ i
	for lo < hi {
		mid := (lo + hi) / 2
		if w.ends[mid] < i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return w.values[lo]
}
