package sample

import (
	"math/big"
	"math/bits"
)

// pair is the integer hi·2⁶⁴ + lo.
type pair struct{ hi, lo uint64 }

func (a pair) less(b pair) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// minusOne returns a − 1, for a > 0.
func (a pair) minusOne() pair {
	lo, borrow := bits.Sub64(a.lo, 1, 0)
	return pair{a.hi - borrow, lo}
}

// len returns the number of bits of a.
func (a pair) len() int {
	if a.hi != 0 {
		return 64 + bits.Len64(a.hi)
	}
	return bits.Len64(a.lo)
}

// distance returns |a − b|.
func (a pair) distance(b pair) pair {
	if a.less(b) {
		a, b = b, a
	}
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return pair{hi, lo}
}

// wide is the integer w₀ + w₁·2⁶⁴ + w₂·2¹²⁸ + w₃·2¹⁹².
type wide [4]uint64

// times returns a·b + c.
func (a pair) times(b uint64, c pair) wide {
	h0, l0 := bits.Mul64(a.lo, b)
	h1, l1 := bits.Mul64(a.hi, b)
	var w wide
	var carry uint64
	w[0], carry = bits.Add64(l0, c.lo, 0)
	w[1], carry = bits.Add64(h0, c.hi, carry)
	w[2] = h1 + carry // a·b + c < 2¹⁹², so there is no carry out
	w[1], carry = bits.Add64(w[1], l1, 0)
	w[2] += carry
	return w
}

// square returns a².
func (a pair) square() wide {
	h0, l0 := bits.Mul64(a.lo, a.lo)
	h1, l1 := bits.Mul64(a.lo, a.hi)
	h2, l2 := bits.Mul64(a.hi, a.hi)
	h1, l1, top := h1<<1|l1>>63, l1<<1, h1>>63 // 2·lo·hi
	var carry uint64
	w := wide{0: l0}
	w[1], carry = bits.Add64(h0, l1, 0)
	w[2], carry = bits.Add64(l2, h1, carry)
	w[3] = h2 + top + carry
	return w
}

// timesSixteen returns 16w, for w < 2²⁵².
func (w wide) timesSixteen() wide {
	return wide{w[0] << 4, w[1]<<4 | w[0]>>60, w[2]<<4 | w[1]>>60, w[3]<<4 | w[2]>>60}
}

// divide returns ⌊w/d⌋ and the remainder, for d > 0.
//
// It is schoolbook division [Knuth, TAOCP 2, 4.3.1, Algorithm D] by a divisor of two digits in base 2⁶⁴, shifted so
// that its first bit is set. A digit of the quotient is estimated from the divisor's first digit. The estimate is
// decreased while its product with both digits exceeds the dividend: at most twice, by Knuth's Theorem B. The
// divisor has no further digits, so the estimate is then exact, and no step adds back.
func (w wide) divide(d pair) (q wide, r pair) {
	if d.hi == 0 {
		rest := uint64(0)
		for i := 3; i >= 0; i-- {
			q[i], rest = bits.Div64(rest, w[i], d.lo)
		}
		return q, pair{0, rest}
	}
	shift := bits.LeadingZeros64(d.hi)
	d = pair{d.hi<<shift | d.lo>>1>>(63-shift), d.lo << shift}
	var n [5]uint64
	for i, x := range w {
		n[i] |= x << shift
		n[i+1] = x >> 1 >> (63 - shift)
	}
	r = pair{n[4], n[3]} // below d, because n[4] < 2^shift ≤ 2⁶³ ≤ d.hi
	for i := 2; i >= 0; i-- {
		q[i], r = digit(r, n[i], d)
	}
	return q, pair{r.hi >> shift, r.lo>>shift | r.hi<<1<<(63-shift)}
}

// digit returns ⌊(r·2⁶⁴ + next)/d⌋ and the remainder, for r < d and d ≥ 2¹²⁷.
func digit(r pair, next uint64, d pair) (q uint64, rest pair) {
	left, over := r.lo+d.hi, r.lo+d.hi < d.hi // the remainder of the first digits, for the largest q
	q = 1<<64 - 1
	if r.hi < d.hi {
		q, left = bits.Div64(r.hi, r.lo, d.hi)
		over = false
	}
	hi, lo := bits.Mul64(q, d.lo)
	for !over && (pair{left, next}).less(pair{hi, lo}) {
		q--
		var borrow, carry uint64
		lo, borrow = bits.Sub64(lo, d.lo, 0)
		hi -= borrow
		left, carry = bits.Add64(left, d.hi, 0)
		over = carry != 0
	}
	lo, borrow := bits.Sub64(next, lo, 0)
	return q, pair{left - hi - borrow, lo} // below d < 2¹²⁸, so wrapping around at 2¹²⁸ is harmless
}

// set sets z to the integer with magnitude w and the given sign, and returns z. It reuses z's storage if that
// suffices.
func set(z *big.Int, w wide, negative bool) *big.Int {
	n := 4
	for n > 0 && w[n-1] == 0 {
		n--
	}
	digits := z.Bits()[:0]
	for _, x := range w[:n] {
		digits = append(digits, big.Word(x))
		if bits.UintSize == 32 {
			digits = append(digits, big.Word(x>>32))
		}
	}
	z.SetBits(digits)
	if negative {
		z.Neg(z)
	}
	return z
}

// toPair returns x as a pair, for 0 ≤ x < 2¹²⁸.
func toPair(x *big.Int) pair {
	return pair{new(big.Int).Rsh(x, 64).Uint64(), new(big.Int).And(x, maxWord).Uint64()}
}
