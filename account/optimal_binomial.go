package account

import (
	"math/big"

	"dither/internal/exact"
)

// ends is an interval of non-negative numbers. Its methods change it in place, and round its lower end down and its
// upper end up.
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

// quo divides x by y, which must be above 0.
func (x ends) quo(y ends) {
	x.lo.Quo(x.lo, y.hi)
	x.hi.Quo(x.hi, y.lo)
}

// power returns xⁿ, for n ≥ 0.
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

// scale multiplies x by num/den.
func (x ends) scale(num, den int64) {
	n, d := new(big.Float).SetInt64(num), new(big.Float).SetInt64(den) // exact: the precision is 64 bits
	x.lo.Quo(x.lo.Mul(x.lo, n), d)
	x.hi.Quo(x.hi.Mul(x.hi, n), d)
}

// binomial is a binomial law on 0 … k, with terms f(j) = C(k,j)·pʲ(1−p)^(k−j). The terms are computed one from the
// other, beginning at the largest, in units of the largest. They are divided by their sum at the end, so no
// factorial is needed. Both ends of every step are rounded outward. Since f(j+1)/f(j) = odds·(k−j)/(j+1) decreases
// in j, a geometric series bounds the terms that are not added.
type binomial struct {
	k     int64
	bits  uint
	odds  ends  // p/(1−p), above 0
	mode  int64 // the j at or near the largest term, which counts as 1
	total ends  // sum of all terms in that unit
}

func newBinomial(k int64, odds ends) *binomial {
	b := &binomial{k: k, bits: odds.lo.Prec(), odds: odds}
	// The mode is near (k+1)p. Any start gives a right result. A start near the mode gives it quickly.
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

// walk is a position j among the terms, with the term f(j).
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

// up moves w from j to j+1: f(j+1) = f(j)·odds·(k−j)/(j+1).
func (w *walk) up() {
	w.f.mul(w.o.odds)
	w.f.scale(w.o.k-w.j, w.j+1)
	w.j++
}

// down moves w from j to j−1: f(j−1) = f(j)/odds·j/(k−j+1).
func (w *walk) down() {
	w.f.quo(w.o.odds)
	w.f.scale(w.j, w.o.k-w.j+1)
	w.j--
}

// tail returns an upper bound of Σ_{i>j} f(i), the terms after w's position j. With r = f(j+1)/f(j), the bound is
// f(j)·r/(1−r). bounded is false if r is not below 1.
func (w *walk) tail() (rest *big.Float, bounded bool) {
	return w.series(w.o.k-w.j, w.j+1, w.o.odds.hi)
}

// after returns the bound of tail. done reports whether the bound exists and is negligible beside sum.
func (w *walk) after(sum *big.Float) (rest *big.Float, done bool) {
	rest, bounded := w.tail()
	return rest, bounded && w.slight(rest, sum)
}

// before is like after, for the terms before w's position: Σ_{i<j} f(i).
func (w *walk) before(sum *big.Float) (rest *big.Float, done bool) {
	inverse := new(big.Float).SetPrec(w.o.bits).SetMode(big.ToPositiveInf)
	inverse.Quo(big.NewFloat(1), w.o.odds.lo)
	rest, bounded := w.series(w.j, w.o.k-w.j+1, inverse)
	return rest, bounded && w.slight(rest, sum)
}

// slight reports whether rest is 0 or below 2⁻¹²⁰ of sum.
func (w *walk) slight(rest, sum *big.Float) bool {
	return rest.Sign() == 0 || sum.Sign() > 0 && rest.MantExp(nil) < sum.MantExp(nil)-120
}

// series returns f·r/(1−r), rounded up, where f is the term at w's position and r is factor·num/den rounded up.
// bounded is false if r is not below 1.
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

// to moves w to position j.
func (w *walk) to(j int64) {
	for w.j < j {
		w.up()
	}
	for w.j > j {
		w.down()
	}
}

// excess returns Σ f(i)(1 − u·decay^(i−j)) over i ≥ j, in units of the term at the mode. u and decay must be at most 1.
func (b *binomial) excess(j int64, u, decay ends) ends {
	w := b.start()
	w.to(j)
	sum := b.zero()
	for unit := big.NewFloat(1); ; w.up() {
		term := w.f.copy()
		rest := b.zero()
		rest.lo.Sub(unit, u.hi)
		rest.hi.Sub(unit, u.lo)
		term.mul(rest)
		sum.add(term)
		if rest, done := w.after(sum.lo); done {
			sum.hi.Add(sum.hi, rest)
			return sum
		}
		u.mul(decay)
	}
}
