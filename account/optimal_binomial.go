package account

import (
	"math/big"

	"dither/internal/exact"
)

// ends is an interval of non-negative numbers, changed in place: the lower end is rounded down, the upper one up.
type ends struct{ lo, hi *big.Float }

func endsOf(x exact.Interval) ends {
	return ends{x.Lo().SetMode(big.ToNegativeInf), x.Hi().SetMode(big.ToPositiveInf)}
}

func (x ends) copy() ends {
	return ends{new(big.Float).Set(x.lo).SetMode(x.lo.Mode()), new(big.Float).Set(x.hi).SetMode(x.hi.Mode())}
}

func (x ends) add(y ends) {
	x.lo.Add(x.lo, y.lo)
	x.hi.Add(x.hi, y.hi)
}

func (x ends) mul(y ends) {
	x.lo.Mul(x.lo, y.lo)
	x.hi.Mul(x.hi, y.hi)
}

// quo divides by a y above 0.
func (x ends) quo(y ends) {
	x.lo.Quo(x.lo, y.hi)
	x.hi.Quo(x.hi, y.lo)
}

// power is xⁿ, n ≥ 0.
func (x ends) power(n int64) ends {
	out := x.copy()
	out.lo.SetInt64(1)
	out.hi.SetInt64(1)
	for square := x.copy(); n > 0; n >>= 1 {
		if n&1 == 1 {
			out.mul(square)
		}
		square.mul(square)
	}
	return out
}

// scale is x·num/den.
func (x ends) scale(num, den int64) {
	n, d := new(big.Float).SetInt64(num), new(big.Float).SetInt64(den) // 64 bits, which hold them
	x.lo.Quo(x.lo.Mul(x.lo, n), d)
	x.hi.Quo(x.hi.Mul(x.hi, n), d)
}

// binomial is a binomial law on 0 … k. Its terms f(j) = C(k,j)·pʲ(1−p)^(k−j) are found by walking from the
// largest, as multiples of it, and divided by their sum: no factorial is needed. Every step has its two ends rounded
// outward; what is not summed is bounded by a geometric series, since f(j+1)/f(j) = odds·(k−j)/(j+1) falls in j.
type binomial struct {
	k     int64
	bits  uint
	odds  ends  // p/(1−p), above 0
	mode  int64 // the j of a largest term, or one near it, which counts as 1
	total ends  // Σf in that measure
}

func newBinomial(k int64, odds ends) *binomial {
	b := &binomial{k: k, bits: odds.lo.Prec(), odds: odds}
	// The mode is near (k+1)p. Any start is right; a good one is quick.
	against, _ := new(big.Float).Quo(big.NewFloat(1), odds.lo).Float64()
	b.mode = min(int64(float64(k+1)/(1+against)), k)
	b.total = b.zero()
	for w := b.start(); ; w.up() {
		b.total.add(w.f)
		if rest, done := w.after(b.total.lo); done {
			b.total.hi.Add(b.total.hi, rest)
			break
		}
	}
	for w := b.start(); w.j > 0; {
		if rest, done := w.before(b.total.lo); done {
			b.total.hi.Add(b.total.hi, rest)
			break
		}
		w.down()
		b.total.add(w.f)
	}
	return b
}

// walk is a place among the terms.
type walk struct {
	o *binomial
	j int64
	f ends
}

func (b *binomial) zero() ends {
	return ends{
		new(big.Float).SetPrec(b.bits).SetMode(big.ToNegativeInf),
		new(big.Float).SetPrec(b.bits).SetMode(big.ToPositiveInf),
	}
}

func (b *binomial) start() *walk {
	w := &walk{o: b, j: b.mode, f: b.zero()}
	w.f.lo.SetInt64(1)
	w.f.hi.SetInt64(1)
	return w
}

// up goes from f(j) to f(j+1) = f(j)·odds·(k−j)/(j+1).
func (w *walk) up() {
	w.f.mul(w.o.odds)
	w.f.scale(w.o.k-w.j, w.j+1)
	w.j++
}

// down goes from f(j) to f(j−1) = f(j)/odds·j/(k−j+1).
func (w *walk) down() {
	w.f.quo(w.o.odds)
	w.f.scale(w.j, w.o.k-w.j+1)
	w.j--
}

// tail bounds Σ_{i>j} f(i), where the terms fall by then: with r = f(j+1)/f(j) < 1 it is at most f(j)·r/(1−r).
func (w *walk) tail() (rest *big.Float, bounded bool) {
	return w.series(w.o.k-w.j, w.j+1, w.o.odds.hi)
}

// after is tail where it is too small to matter beside a sum.
func (w *walk) after(sum *big.Float) (rest *big.Float, done bool) {
	rest, bounded := w.tail()
	return rest, bounded && w.slight(rest, sum)
}

// before is after for Σ_{i<j} f(i).
func (w *walk) before(sum *big.Float) (rest *big.Float, done bool) {
	inverse := new(big.Float).SetPrec(w.o.bits).SetMode(big.ToPositiveInf)
	inverse.Quo(big.NewFloat(1), w.o.odds.lo)
	rest, bounded := w.series(w.j, w.o.k-w.j+1, inverse)
	return rest, bounded && w.slight(rest, sum)
}

// slight holds of nothing, and of what is below 2⁻¹²⁰ of the sum.
func (w *walk) slight(rest, sum *big.Float) bool {
	return rest.Sign() == 0 || sum.Sign() > 0 && rest.MantExp(nil) < sum.MantExp(nil)-120
}

// series is f·r/(1−r) rounded up, with r at most factor·num/den; not bounded unless r is below 1.
func (w *walk) series(num, den int64, factor *big.Float) (sum *big.Float, bounded bool) {
	up := func() *big.Float { return new(big.Float).SetPrec(w.o.bits).SetMode(big.ToPositiveInf) }
	r := up().Mul(factor, new(big.Float).SetInt64(num))
	r.Quo(r, new(big.Float).SetInt64(den))
	left := new(big.Float).SetPrec(w.o.bits).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), r)
	if left.Sign() <= 0 {
		return nil, false
	}
	r.Mul(r, w.f.hi)
	return r.Quo(r, left), true
}

// to goes to j.
func (w *walk) to(j int64) {
	for w.j < j {
		w.up()
	}
	for w.j > j {
		w.down()
	}
}
