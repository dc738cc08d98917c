package account

import (
	"math/big"

	"dither/internal/exact"
)

// ends is an interval of numbers of at least 0, changed in place: the lower end is rounded down, the upper one up.
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

// walk is a place among the terms f(j), measured in the largest.
type walk struct {
	o  *Optimal
	j  int64
	f  ends
	by *big.Float // scratch for a count, which it holds exactly
}

func (o *Optimal) zero() ends {
	return ends{new(big.Float).SetPrec(o.bits).SetMode(big.ToNegativeInf), new(big.Float).SetPrec(o.bits).SetMode(big.ToPositiveInf)}
}

func (o *Optimal) start() *walk {
	w := &walk{o: o, j: o.mode, f: o.zero(), by: new(big.Float).SetPrec(64)}
	w.f.lo.SetInt64(1)
	w.f.hi.SetInt64(1)
	return w
}

// up goes from f(j) to f(j+1) = f(j)·e^ε₀·(k−j)/(j+1).
func (w *walk) up() {
	w.f.mul(w.o.growth)
	w.scale(w.o.k-w.j, w.j+1)
	w.j++
}

// down goes from f(j) to f(j−1) = f(j)·e^−ε₀·j/(k−j+1).
func (w *walk) down() {
	w.f.quo(w.o.growth)
	w.scale(w.j, w.o.k-w.j+1)
	w.j--
}

func (w *walk) scale(num, den int64) {
	w.by.SetInt64(num)
	w.f.lo.Mul(w.f.lo, w.by)
	w.f.hi.Mul(w.f.hi, w.by)
	w.by.SetInt64(den)
	w.f.lo.Quo(w.f.lo, w.by)
	w.f.hi.Quo(w.f.hi, w.by)
}

// tail bounds Σ_{i>j} f(i), where the terms fall by then: with r = f(j+1)/f(j) < 1 it is at most f(j)·r/(1−r).
func (w *walk) tail() (rest *big.Float, bounded bool) {
	return w.series(w.o.k-w.j, w.j+1, w.o.growth.hi)
}

// after is tail where it is too small to matter beside a sum.
func (w *walk) after(sum *big.Float) (rest *big.Float, done bool) {
	rest, bounded := w.tail()
	return rest, bounded && w.slight(rest, sum)
}

// before is after for Σ_{i<j} f(i).
func (w *walk) before(sum *big.Float) (rest *big.Float, done bool) {
	inverse := new(big.Float).SetPrec(w.o.bits).SetMode(big.ToPositiveInf)
	inverse.Quo(big.NewFloat(1), w.o.growth.lo)
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
	r := up().Mul(factor, w.by.SetInt64(num))
	r.Quo(r, w.by.SetInt64(den))
	left := new(big.Float).SetPrec(w.o.bits).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), r)
	if left.Sign() <= 0 {
		return nil, false
	}
	r.Mul(r, w.f.hi)
	return r.Quo(r, left), true
}
