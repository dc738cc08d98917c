// Package expsum computes exactly with rationals and rational powers of e. Its numbers are quotients of sums
//
//	Σ aᵢ·e^{rᵢ}, all aᵢ and rᵢ rational,
//
// which form a field. The probabilities of most mechanisms with finitely many outputs are such numbers, and so is
// e^ε.
//
// By the theorem of Lindemann and Weierstrass, the exponentials of different rationals are linearly independent
// over ℚ [Baker, Transcendental Number Theory, Theorem 1.4]. So a sum whose equal powers are collected is zero if
// and only if it has no terms: algebra decides equality. Unequal numbers are compared by intervals, which are
// narrowed until they are disjoint. The package computes exactly. It returns floats only where a caller requests
// them, and these are bounds.
package expsum

import (
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
)

// ErrSize reports a number whose terms are too many or too large to compute with, or whose computation takes too
// long.
var ErrSize = errors.New("the number is too large for exact arithmetic")

// ErrZero reports a division by zero.
var ErrZero = errors.New("division by zero")

// Number is an exact real number, num/den. It is immutable.
//
// den is above 0, and in a reduced form that is cheap to compute. If the number is a sum, den is 1. Otherwise den
// has several terms, its least exponent is 0, and its coefficients are integers without a common divisor. num and
// den may still have common factors, so a number can have several forms. But a number with a single term a·e^r, and
// so every rational, has only one form.
type Number struct {
	num sum
	den *denominator

	// cache of 1/x; quotients by the same number then share a denominator
	inverse atomic.Pointer[Number]
}

func number(num sum, den *denominator) *Number { return &Number{num: num, den: den} }

// Rat returns r as a Number.
func Rat(r *big.Rat) *Number { return number(monomial(r, new(big.Rat)), unit) }

// Exp returns e^r. It returns ErrSize if |r| is above 10,000, or r is too long a fraction.
func Exp(r *big.Rat) (*Number, error) {
	if new(big.Rat).Abs(r).Cmp(big.NewRat(maxPower, 1)) > 0 {
		return nil, fmt.Errorf("%w: e to a power beyond ±%d", ErrSize, maxPower)
	}
	if r.Num().BitLen() > maxPowerBits || r.Denom().BitLen() > maxPowerBits {
		return nil, fmt.Errorf("%w: e to a power of more than %d binary digits", ErrSize, maxPowerBits)
	}
	return number(monomial(big.NewRat(1, 1), r), unit), nil
}

// Limits on the argument of Exp.
const (
	maxPower     = 10_000
	maxPowerBits = 256
)

// quotient returns num/den in the form that Number describes.
func (w *Work) quotient(num, den sum) (*Number, error) {
	switch len(den) {
	case 0:
		return nil, ErrZero
	case 1:
		if err := w.spend(productCost(num, den)); err != nil {
			return nil, err
		}
		return w.reduced(num.times(den[0].inverse()), unit)
	}
	t, err := den.content(w)
	if err != nil {
		return nil, err
	}
	switch sign, err := den.sign(w); {
	case err != nil:
		return nil, err
	case sign < 0:
		t.coefficient.Neg(t.coefficient)
	}
	t = t.inverse()
	if err := w.spend(productCost(num, sum{t}) + productCost(den, sum{t})); err != nil {
		return nil, err
	}
	den = den.times(t)
	if err := den.check(); err != nil {
		return nil, err
	}
	return w.reduced(num.times(t), &denominator{sum: den})
}

// reduced returns num/den, where den already has the form that Number describes.
func (w *Work) reduced(num sum, den *denominator) (*Number, error) {
	switch {
	case den == unit:
	case len(num) == 0:
		den = unit
	case len(num) == len(den.sum):
		if err := w.spend(num.eachCost() + den.eachCost()); err != nil {
			return nil, err
		}
		if t, ok := num.over(den.sum); ok {
			num, den = sum{t}, unit
		}
	}
	return number(num, den), num.check()
}

// Add returns x + y, or ErrSize if the computation would get too large.
func (w *Work) Add(x, y *Number) (*Number, error) {
	if x.Alike(y) {
		if err := w.spend(x.num.eachCost() + y.num.eachCost()); err != nil {
			return nil, err
		}
		return w.reduced(x.num.plus(y.num), x.den)
	}
	left, err := x.num.mul(w, y.den.sum)
	if err != nil {
		return nil, err
	}
	right, err := y.num.mul(w, x.den.sum)
	if err != nil {
		return nil, err
	}
	den, err := x.den.mul(w, y.den.sum)
	if err != nil {
		return nil, err
	}
	if err := w.spend(left.eachCost() + right.eachCost()); err != nil {
		return nil, err
	}
	return w.quotient(left.plus(right), den)
}

// Sum returns Σ xᵢ, or ErrSize if the computation would get too large. It overwrites xs. It adds in pairs, and
// pairs of pairs, so that a long sum is not merged with one term at a time.
func (w *Work) Sum(xs []*Number) (*Number, error) {
	if len(xs) == 0 {
		return number(nil, unit), nil
	}
	for len(xs) > 1 {
		for i := 0; i < len(xs); i += 2 {
			x := xs[i]
			if i+1 < len(xs) {
				var err error
				if x, err = w.Add(x, xs[i+1]); err != nil {
					return nil, err
				}
			}
			xs[i/2] = x
		}
		xs = xs[:(len(xs)+1)/2]
	}
	return xs[0], nil
}

// Neg returns −x.
func (x *Number) Neg() *Number { return number(x.num.neg(), x.den) }

// Sub returns x − y, or ErrSize if the computation would get too large.
func (w *Work) Sub(x, y *Number) (*Number, error) { return w.Add(x, y.Neg()) }

// Mul returns x · y, or ErrSize if the computation would get too large.
func (w *Work) Mul(x, y *Number) (*Number, error) {
	num, err := x.num.mul(w, y.num)
	switch {
	case err != nil:
		return nil, err
	case x.den.isOne():
		return w.reduced(num, y.den)
	case y.den.isOne():
		return w.reduced(num, x.den)
	}
	den, err := x.den.mul(w, y.den.sum)
	if err != nil {
		return nil, err
	}
	return w.quotient(num, den)
}

// Quo returns x / y. It returns ErrZero if y is 0, and ErrSize if the computation would get too large.
func (w *Work) Quo(x, y *Number) (*Number, error) {
	if !y.den.isOne() && x.Alike(y) {
		return w.quotient(x.num, y.num)
	}
	inverse := y.inverse.Load()
	if inverse == nil {
		var err error
		if inverse, err = w.quotient(y.den.sum, y.num); err != nil {
			return nil, err
		}
		if !y.inverse.CompareAndSwap(nil, inverse) {
			inverse = y.inverse.Load()
		}
	}
	return w.Mul(x, inverse)
}

// Sign returns the sign of x as −1, 0 or 1, or ErrSize if the computation would get too large.
func (w *Work) Sign(x *Number) (int, error) { return x.num.sign(w) }

// Cmp compares two numbers and returns −1, 0 or 1, or ErrSize if the computation would get too large.
func (w *Work) Cmp(x, y *Number) (int, error) {
	if x.Alike(y) {
		if err := w.spend(x.num.eachCost() + y.num.eachCost()); err != nil {
			return 0, err
		}
		return x.num.plus(y.num.neg()).sign(w)
	}
	a, err := w.around(x, firstBits) // these intervals separate most unequal numbers
	if err != nil {
		return 0, err
	}
	b, err := w.around(y, firstBits)
	switch {
	case err != nil:
		return 0, err
	case a.Hi().Cmp(b.Lo()) < 0:
		return -1, nil
	case a.Lo().Cmp(b.Hi()) > 0:
		return 1, nil
	}
	left, err := x.num.mul(w, y.den.sum)
	if err != nil {
		return 0, err
	}
	right, err := y.num.mul(w, x.den.sum)
	if err != nil {
		return 0, err
	}
	if err := w.spend(left.eachCost() + right.eachCost()); err != nil {
		return 0, err
	}
	return left.plus(right.neg()).sign(w)
}

// Rat returns x as a rational. ok is false if x is not rational.
func (x *Number) Rat() (r *big.Rat, ok bool) {
	switch {
	case len(x.num) == 0:
		return new(big.Rat), true
	case len(x.num) == 1 && x.den.isOne() && x.num[0].exponent.Sign() == 0:
		return new(big.Rat).Set(x.num[0].coefficient), true
	}
	return nil, false
}

// IsZero reports whether x is 0.
func (x *Number) IsZero() bool { return len(x.num) == 0 }

// Terms returns the number of terms a·e^r in x's numerator and denominator.
func (x *Number) Terms() int { return len(x.num) + len(x.den.sum) }

// Words returns the number of machine words of the largest term in x.
func (x *Number) Words() int {
	num, _ := x.num.words()
	den, _ := x.den.words()
	return int(max(num, den))
}

// Alike reports whether x and y have the same denominator. Adding such numbers does not enlarge the denominator.
func (x *Number) Alike(y *Number) bool { return x.den == y.den || x.den.equal(y.den.sum) }
