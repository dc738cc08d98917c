package expsum

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/exact"
)

// term is coefficient·e^exponent.
type term struct{ coefficient, exponent *big.Rat }

// sum is a sum of terms in ascending order of their exponents, which are distinct. No coefficient is 0. A sum and
// the numbers in it are never changed.
type sum []term

// Limits on a sum's memory. Work limits the time of operations.
const (
	maxTerms     = 2048
	maxProducts  = 1 << 18
	maxBits      = 1 << 16 // binary digits of a coefficient's numerator and denominator
	maxExponent  = 1 << 18 // the largest exponent; Exp of exact.Interval accepts arguments of up to 2²⁰
	maxExpDenoms = 1 << 12 // binary digits of an exponent's denominator
)

// one is the sum 1. It must not be changed.
var one = sum{{big.NewRat(1, 1), new(big.Rat)}}

func monomial(coefficient, exponent *big.Rat) sum {
	if coefficient.Sign() == 0 {
		return nil
	}
	return sum{{coefficient, exponent}}
}

// check returns ErrSize if the sum exceeds the limits.
func (s sum) check() error {
	if len(s) > maxTerms {
		return fmt.Errorf("%w: more than %d powers of e", ErrSize, maxTerms)
	}
	for _, t := range s {
		if t.coefficient.Num().BitLen() > maxBits || t.coefficient.Denom().BitLen() > maxBits {
			return fmt.Errorf("%w: a fraction of more than %d binary digits", ErrSize, maxBits)
		}
		if t.exponent.Denom().BitLen() > maxExpDenoms ||
			new(big.Rat).Abs(t.exponent).Cmp(big.NewRat(maxExponent, 1)) > 0 {
			return fmt.Errorf("%w: a power of e of more than %d, or too long a fraction", ErrSize, maxExponent)
		}
	}
	return nil
}

func (s sum) equal(o sum) bool {
	return slices.EqualFunc(s, o, func(a, b term) bool {
		return same(a.exponent, b.exponent) && same(a.coefficient, b.coefficient)
	})
}

// same reports whether a and b are equal. Both are reduced, so comparing the parts suffices.
func same(a, b *big.Rat) bool { return a.Num().Cmp(b.Num()) == 0 && a.Denom().Cmp(b.Denom()) == 0 }

// plus returns s + o. It merges the ordered terms.
func (s sum) plus(o sum) sum {
	out := make(sum, 0, len(s)+len(o))
	for len(s) > 0 && len(o) > 0 {
		switch s[0].exponent.Cmp(o[0].exponent) {
		case -1:
			out, s = append(out, s[0]), s[1:]
		case 1:
			out, o = append(out, o[0]), o[1:]
		default:
			if c := new(big.Rat).Add(s[0].coefficient, o[0].coefficient); c.Sign() != 0 {
				out = append(out, term{c, s[0].exponent})
			}
			s, o = s[1:], o[1:]
		}
	}
	return append(append(out, s...), o...)
}

func (s sum) neg() sum {
	out := make(sum, len(s))
	for i, t := range s {
		out[i] = term{new(big.Rat).Neg(t.coefficient), t.exponent}
	}
	return out
}

// times returns s·t, which has the order of s.
func (s sum) times(t term) sum {
	out := make(sum, len(s))
	for i, u := range s {
		out[i] = term{new(big.Rat).Mul(u.coefficient, t.coefficient), new(big.Rat).Add(u.exponent, t.exponent)}
	}
	return out
}

// mul returns s·o, or ErrSize.
func (s sum) mul(w *Work, o sum) (sum, error) {
	if err := w.spend(productCost(s, o)); err != nil {
		return nil, err
	}
	switch {
	case len(s) == 0 || len(o) == 0:
		return nil, nil
	case len(s) == 1:
		return o.times(s[0]), nil
	case len(o) == 1:
		return s.times(o[0]), nil
	case len(s)*len(o) > maxProducts:
		return nil, fmt.Errorf("%w: a product of sums with %d and %d powers of e", ErrSize, len(s), len(o))
	}
	var products sum
	for _, t := range s {
		products = append(products, o.times(t)...)
	}
	slices.SortFunc(products, func(a, b term) int { return a.exponent.Cmp(b.exponent) })
	out := products[:0]
	for _, t := range products {
		switch n := len(out); {
		case n > 0 && out[n-1].exponent.Cmp(t.exponent) == 0:
			out[n-1].coefficient = new(big.Rat).Add(out[n-1].coefficient, t.coefficient)
		default:
			out = append(out, t)
		}
	}
	out = slices.DeleteFunc(out, func(t term) bool { return t.coefficient.Sign() == 0 })
	return out, out.check()
}

func (t term) inverse() term {
	return term{new(big.Rat).Inv(t.coefficient), new(big.Rat).Neg(t.exponent)}
}

// over returns the term t with s = t·o. ok is false if there is none. Sums have no zero divisors, so s/o is a
// single term only in this case.
func (s sum) over(o sum) (t term, ok bool) {
	if len(s) == 0 || len(s) != len(o) {
		return t, false
	}
	t = term{new(big.Rat).Quo(s[0].coefficient, o[0].coefficient), new(big.Rat).Sub(s[0].exponent, o[0].exponent)}
	return t, s.equal(o.times(t))
}

// content returns the term t for which s/t has integer coefficients without a common divisor and 0 as its least
// exponent, or ErrSize.
func (s sum) content(w *Work) (term, error) {
	divisor, multiple := new(big.Int), big.NewInt(1)
	for _, t := range s {
		d := t.coefficient.Denom()
		words := int64(multiple.BitLen()+divisor.BitLen()+d.BitLen()+t.coefficient.Num().BitLen())/64 + 1
		if err := w.spend(5 + words + words*int64(d.BitLen()+t.coefficient.Num().BitLen()+64)/(64*32)); err != nil {
			return term{}, err
		}
		divisor.GCD(nil, nil, divisor, new(big.Int).Abs(t.coefficient.Num()))
		multiple.Mul(multiple, new(big.Int).Quo(d, new(big.Int).GCD(nil, nil, multiple, d)))
		// the integer in the place of this coefficient is at least multiple/d, so it is too long as well
		if multiple.BitLen() > 2*maxBits {
			return term{}, fmt.Errorf("%w: a fraction of more than %d binary digits", ErrSize, maxBits)
		}
	}
	return term{new(big.Rat).SetFrac(divisor, multiple), s[0].exponent}, nil
}

// sign returns the sign of s as −1, 0 or 1, or ErrSize. A sum with terms is not 0, so a narrow enough interval
// around it excludes 0.
func (s sum) sign(w *Work) (int, error) {
	if len(s) == 0 {
		return 0, nil
	}
	first := s[0].coefficient.Sign()
	if !slices.ContainsFunc(s, func(t term) bool { return t.coefficient.Sign() != first }) {
		return first, nil
	}
	for bits := uint(64); ; bits *= 2 {
		x, err := s.interval(w, bits)
		switch {
		case err != nil:
			return 0, err
		case x.Lo().Sign() > 0:
			return 1, nil
		case x.Hi().Sign() < 0:
			return -1, nil
		}
	}
}

// interval returns an interval that contains the sum, computed with the given number of binary digits, or ErrSize.
func (s sum) interval(w *Work, bits uint) (exact.Interval, error) {
	if err := w.spend(s.intervalCost(bits)); err != nil {
		return exact.Interval{}, err
	}
	total := exact.IntervalOf(new(big.Rat), bits)
	for _, t := range s {
		x := exact.IntervalOf(t.coefficient, bits)
		if t.exponent.Sign() != 0 {
			x = x.Mul(exact.IntervalOf(t.exponent, bits).Exp())
		}
		total = total.Add(x)
	}
	return total, nil
}
