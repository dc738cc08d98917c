package quantile

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
	"dither/mechanism"
)

// The smooth bound of the median's sensitivity, in steps of one row more or less.
//
// Let x_i be the lower end of the domain for i ≤ 0 and the upper end for i > n. The median is then (x_⌊c⌋ +
// x_⌈c⌉)/2 with c = (n + 1)/2, for n = 0 too. The gap between x_s and x_{s+1} is called central if |2s + 1 − (n +
// 1)| ≤ 1, that is, if the numbers of rows on its two sides, s and n − s, differ by at most 1.
//
// Local sensitivity. The most that one step moves the median is half of the widest central gap. For even n there is
// one, (x_{n/2}, x_{n/2+1}): a row more makes the median a point of it, a row less one of its ends; its middle is where
// the median was. For odd n there are two, beside the median x_p: a row more makes it the mean of x_p and a point of
// one of them, and a row less the mean of two of x_{p−1}, x_p, x_{p+1} where p stays, or of x_{p−1} and x_{p+1};
// the largest of these moves is half of the wider gap. Both are attained but for removals from few rows, where
// additions attain them.
//
// At a distance. Let A_k be the largest local sensitivity of datasets at most k steps away. Then
//
//	A_k = 1/2·max{x_t − x_s : t − s = j + 1 for some j ≤ k, |s + t − (n + 1)| ≤ 1}.
//
// Proof. Let D′ be k steps away and (a, b) a central gap of it. Let x_s be the last value of D at or below a, and x_t
// the first at or above b: x_t − x_s ≥ b − a. The t − s − 1 rows between must have gone, and each other step
// changes the difference of the two sides, s − (n − t + 1), by 1: k ≥ t − s − 1 + max(0, |s + t − (n + 1)|
// − 1). Say s + t − (n + 1) = d ≥ 2, the case d ≤ −2 being its mirror image. Lowering s by d − 1 makes that
// difference 1, adds d − 1 to t − s − 1, so that the bound on k stays, and widens x_t − x_s. So a pair with |s
// + t − (n + 1)| ≤ 1 and t − s − 1 ≤ k is as wide. And such a pair is attained: by removing the t − s − 1
// rows between; or where s < 0, hence t > n, or the other way round, all n rows. ∎
//
// The smooth bound. S = max_k exp(−βk)·A_k is at least the local sensitivity A₀, and within a factor of exp(β)
// of S′, one step away, for A_k ≤ A′_{k+1} [Nissim, Raskhodnikova & Smith 2007]. Terms beyond k = K are at most
// the public number τ = (Upper − Lower)/2·exp(−β(K + 1)). So
//
//	S̃ = max(τ, max_{k ≤ K} exp(−βk)·A_k) = max(τ, S)
//
// has both properties too: the larger of two numbers, each of which changes by a factor of at most exp(β), does. ∎
//
// S̃ needs the K + 2 values about the median, which are read in one pass.

// smoothBound is S̃, as above: half of the largest of gap·exp(−βk) over its terms.
type smoothBound []smoothTerm

type smoothTerm struct{ gap, k int64 }

// enclose bounds S̃ from both sides, to nearly so many bits.
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

// measure is twice the median and the terms of S̃.
func (m Smooth) measure(p smoothParameters, data mechanism.Ordered) (twice *big.Int, bound smoothBound, err error) {
	w, err := m.around(p, data)
	if err != nil {
		return nil, nil, err
	}
	low, high := big.NewInt(w.at((w.rows+1)/2)), big.NewInt(w.at((w.rows+2)/2))
	return low.Add(low, high), w.terms(p), nil
}

// around reads the values that the terms need.
func (m Smooth) around(p smoothParameters, data mechanism.Ordered) (*window, error) {
	n, err := countRows(data, m.Domain)
	if err != nil {
		return nil, err
	}
	w := &window{domain: m.Domain, rows: n, first: n/2 - p.window/2 - 2, last: n/2 + p.window/2 + 3}
	return w, eachAgain(data, m.Domain, n, w.visit)
}

// terms lists those k whose terms may be the largest, in their order and τ with them.
func (w *window) terms(p smoothParameters) smoothBound { return w.candidates(p).settle(p.beta) }

// candidates lists those whose terms may be the largest as far as floats tell. gap is A_k·2; k counts only where it is
// wider than before.
//
// A float decides who may be. Of ln gap − βk both parts are below 150, for β is at most 24 and βK at most
// ln(2⁶²·2²⁰) + β; so its error is below 10⁻¹², and what is 10⁻⁹ below another is not the largest. Data
// may be made so that many are nearer than that: settle tells those apart.
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

// settleBits is the precision with which settle multiplies, and settled how far terms must be apart, as a binary
// exponent.
const (
	settleBits = 320
	settled    = -256
)

// settle keeps of terms in the order of k those that are within 2⁻²⁵⁶ of the largest, relative to it. That is
// nearly always one, and no enclosing interval is computed for any of the others again and again.
//
// exp(−βk) is a product of powers exp(−β·2ⁱ), one for each binary digit of the steps from one k to the next:
// at most K + 1 factors in all. Each is within 2⁻³⁰⁰ of the real one, and so is each rounding; as K ≤ 2²⁰,
// a term is within 2⁻²⁷⁷, and of two that differ by 2⁻²⁵⁶ as computed the larger one is the larger.
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

// gap is the widest x_t − x_s with t − s = k + 1 and s + t = n + 1 + d, where d is 0 or ±1 as parity has it.
func (w *window) gap(k int64) int64 {
	widest := int64(0)
	for d := int64(-1); d <= 1; d++ {
		if twice := w.rows + 1 + d - (k + 1); twice&1 == 0 {
			widest = max(widest, w.at(twice/2+k+1)-w.at(twice/2))
		}
	}
	return widest
}

// window holds the values x_first … x_last of a sequence, as runs of equal ones.
type window struct {
	domain      Domain
	rows        int64 // n
	first, last int64
	seen        int64
	values      []int64
	ends        []int64 // the index of the last x that has the value
}

func (w *window) visit(value, count int64) {
	begin := w.seen + 1
	w.seen += count
	if w.seen >= w.first && begin <= w.last {
		w.values, w.ends = append(w.values, value), append(w.ends, w.seen)
	}
}

// at is x_i, first ≤ i ≤ last.
func (w *window) at(i int64) int64 {
	if i < 1 {
		return w.domain.Lower
	}
	if i > w.rows {
		return w.domain.Upper
	}
	lo, hi := 0, len(w.ends)-1 // the first end that is at least i
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
