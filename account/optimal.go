package account

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// MostRepeated is the largest number of mechanisms whose composition Optimal computes term by term.
const MostRepeated = 1 << 20

// Optimal is the optimal composition of k mechanisms that each promise (ε₀, δ₀), fixed in advance. No other
// function of k, ε₀ and δ₀ bounds their joint δ(ε) more tightly [Kairouz, Oh & Viswanath 2017, Theorem 3.3].
//
// Every pair of laws that (ε₀, δ₀) allows is an image of the pair of randomized response, under the same randomised
// map for both laws. Randomized response reveals the data with probability δ₀. Otherwise it answers with a bit that
// is true with probability p = e^ε₀/(1+e^ε₀) [ibid., Theorem 2.5]. So the answers of k mechanisms, even adaptive
// ones, are an image of k such answers. If j of the k bits are true, the loss of these answers is (2j−k)ε₀. With
// f(j) = C(k,j)·pʲ(1−p)^(k−j),
//
//	δ*(ε) = Σ_j f(j)·max(0, 1 − e^(ε−(2j−k)ε₀)),  δ(ε) = 1 − (1−δ₀)^k·(1 − δ*(ε)).
//
// The figures of Optimal are certified, because the terms are added as intervals.
type Optimal struct {
	*binomial             // the law of j; its odds are e^ε₀
	epsilon   *big.Rat    // ε₀
	decay     ends        // e^−2ε₀
	keep      keep        // (1−δ₀)^k
	own       Approximate // basic composition: (kε₀, kδ₀)
}

// NewOptimal returns the composition of k mechanisms with promise a. It returns ErrParameter for a k below 1 or
// beyond MostRepeated, for an ε beyond 100,000, and for a sum of ε beyond 2²⁹. For such jobs use privacy loss
// distributions.
func NewOptimal(k int64, a Approximate) (*Optimal, error) {
	e := a.Epsilon.Rat()
	sum := new(big.Rat).Mul(e, new(big.Rat).SetInt64(k))
	switch {
	case k <= 0 || k > MostRepeated:
		return nil, fmt.Errorf("%w: optimal composition supports 1 to %d mechanisms, not %d",
			ErrParameter, MostRepeated, k)
	case sum.Cmp(big.NewRat(1<<29, 1)) > 0 || e.Cmp(big.NewRat(steepest, 1)) > 0:
		return nil, fmt.Errorf("%w: optimal composition supports an ε of at most 2²⁹ in all, and %d each",
			ErrParameter, steepest)
	}
	bits := uint(certainty)
	if e.Sign() > 0 { // if ε₀ has n zeros after the binary point, 1 − e^−2ε₀ loses n bits of precision
		bits += zeros(e)
	}
	o := &Optimal{epsilon: e, keep: keepOf([]Repeated{{a, k}}, bits), own: Basic(Repeated{a, k})}
	x := exact.IntervalOf(e, o.keep.bits)
	o.decay = endsOf(x.Mul(exact.IntervalOf(big.NewRat(-2, 1), o.keep.bits)).Exp())
	o.binomial = newBinomial(k, endsOf(x.Exp()))
	return o, nil
}

// Delta returns a lower and an upper bound of δ(e).
func (o *Optimal) Delta(e privacy.Epsilon) (lower, upper float64) {
	d := o.zero()
	if j, ok := o.beyond(e.Rat()); ok {
		d = o.excess(e.Rat(), j)
		d.quo(o.total)
	}
	return o.keep.whole(d.lo, d.hi)
}

// beyond returns the least j whose loss exceeds ε. If there is none, ok is false.
func (o *Optimal) beyond(e *big.Rat) (j int64, ok bool) {
	if o.epsilon.Sign() == 0 {
		return 0, false
	}
	r := new(big.Rat).Quo(e, o.epsilon)
	r.Add(r, new(big.Rat).SetInt64(o.k))
	first := exact.FloorRat(r.Quo(r, big.NewRat(2, 1)))
	first.Add(first, big.NewInt(1))
	if !first.IsInt64() || first.Int64() > o.k {
		return 0, false
	}
	return first.Int64(), true
}

// loss returns (2j−k)ε₀, the loss if j bits are true.
func (o *Optimal) loss(j int64) *big.Rat {
	return new(big.Rat).Mul(o.epsilon, new(big.Rat).SetInt64(2*j-o.k))
}

// excess returns Σ f(i)(1 − e^(ε − loss(i))) over i ≥ j, in units of the term at the mode. j must be the least
// index whose loss exceeds ε.
func (o *Optimal) excess(e *big.Rat, j int64) ends {
	return o.binomial.excess(j, endsOf(exact.IntervalOf(new(big.Rat).Sub(e, o.loss(j)), o.bits).Exp()), o.decay)
}

// Epsilon returns a lower and an upper bound of the least ε ≥ 0 with δ(ε) ≤ d. Both are +Inf if no ε satisfies
// this, because δ₀ alone exceeds d. The composition is not (ε, d)-differentially private for an ε below the lower
// bound, and is at the upper bound.
func (o *Optimal) Epsilon(d privacy.Delta) (lower, upper float64) {
	least, most := o.keep.rest(d)
	lower, _ = o.solve(most)
	_, upper = o.solve(least)
	if o.own.Delta.Cmp(d) <= 0 { // basic composition is exact, and sometimes less
		upper = min(upper, exact.FloatUp(o.own.Epsilon.Rat()))
	}
	return lower, upper
}

// solve returns a lower and an upper bound of the least ε with δ*(ε) ≤ d.
//
// Between the losses of j−1 and j, the curve is δ*(ε) = A − e^ε·B with A = Σ_{i≥j} f(i) and B = Σ_{i≥j}
// f(i)·e^−loss(i). Everywhere, the curve is the largest of these functions. solve goes down from the largest j. It
// stops at the first j for which the curve at the loss of j−1 is not certainly at most d. Then the curve reaches d
// between the losses of j−1 and j, at ε = ln((A−d)/B). If rounding moves this ε outside that range, the ends of the
// range are the bounds.
func (o *Optimal) solve(d *big.Float) (lower, upper float64) {
	switch {
	case d.Cmp(big.NewFloat(1)) >= 0:
		return 0, 0
	case d.Sign() < 0:
		return math.Inf(1), math.Inf(1)
	case o.epsilon.Sign() == 0:
		return 0, 0
	case d.Sign() == 0:
		return exact.FloatDown(o.loss(o.k)), exact.FloatUp(o.loss(o.k))
	}
	aim := o.zero() // d in units of the term at the mode
	aim.lo.Mul(d, o.total.lo)
	aim.hi.Mul(d, o.total.hi)
	w, rest := o.end(aim.lo)
	a, b := o.zero(), o.zero()
	a.hi.Add(a.hi, rest)
	v := o.decayed(w.j)     // e^−loss(j)
	step := o.odds.power(2) // the factor from e^−loss(j) to e^−loss(j−1): e^2ε₀
	b.hi.Add(b.hi, new(big.Float).SetPrec(o.bits).SetMode(big.ToPositiveInf).Mul(rest, v.hi))
	for ; ; w.down() {
		a.add(w.f)
		g := w.f.copy()
		g.mul(v)
		b.add(g)
		v.mul(step) // now e^−loss(j−1)
		if 2*(w.j-1) <= o.k {
			break // the range includes ε = 0
		}
		worst := b.copy()
		worst.quo(v)
		if at := new(big.Float).SetPrec(o.bits).SetMode(big.ToPositiveInf).Sub(a.hi, worst.lo); at.Cmp(aim.lo) > 0 {
			break
		}
	}
	from, to := o.loss(w.j-1), o.loss(w.j)
	if from.Sign() < 0 {
		from = new(big.Rat)
	}
	lower = floatBelow(logOf(a.lo, aim.hi, b.hi, big.ToNegativeInf, o.bits))
	upper = floatAbove(logOf(a.hi, aim.lo, b.lo, big.ToPositiveInf, o.bits))
	upper = max(min(upper, exact.FloatUp(to)), exact.FloatUp(from))
	return max(lower, 0), upper
}

// logOf returns ln((a−d)/b), rounded as mode says, or 0 if that is negative.
func logOf(a, d, b *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	x := new(big.Float).SetPrec(bits).SetMode(mode).Sub(a, d)
	x.Sub(x.Quo(x, b), big.NewFloat(1))
	if x.Sign() <= 0 {
		return x.SetInt64(0)
	}
	ln := exact.PointOf(x, bits).Log1p()
	if mode == big.ToPositiveInf {
		return ln.Hi()
	}
	return ln.Lo()
}

// end goes up to a term after which the remaining terms sum to at most 2⁻⁷⁰ of d. It returns the position of that
// term and an upper bound of the remaining sum.
func (o *Optimal) end(d *big.Float) (*walk, *big.Float) {
	limit := new(big.Float).SetMantExp(d, -70)
	for w := o.start(); ; w.up() {
		if rest, bounded := w.tail(); bounded && rest.Cmp(limit) <= 0 {
			return w, rest
		}
	}
}

// decayed returns e^−loss(j), for j ≥ k/2.
func (o *Optimal) decayed(j int64) ends {
	one := endsOf(exact.IntervalOf(one, o.bits))
	one.quo(o.odds)
	return one.power(2*j - o.k)
}
