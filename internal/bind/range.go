package bind

import (
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/value"
)

// RangeFloats returns the ends of a number's range, rounded outward.
func RangeFloats(r bounded.Range, t value.Type) (lo, hi float64) {
	if t == value.Integer {
		return exact.FloatDown(new(big.Rat).SetInt64(r.IntLo)), exact.FloatUp(new(big.Rat).SetInt64(r.IntHi))
	}
	return r.Lo, r.Hi
}

// Limits on the results of arithmetic: the largest magnitude of an integer, and the largest and the smallest binary
// exponent of a real number. They leave room for later arithmetic on these results in 64-bit integers and floats.
const (
	maxInteger  = 1 << 62
	maxExponent = 900
	minExponent = -900
)

func rangeOf(v value.Value) bounded.Range {
	switch {
	case v.Null:
		return bounded.Range{}
	case v.Type.Whole():
		return bounded.Range{IntLo: v.Int, IntHi: v.Int}
	case v.Type == value.Real:
		return bounded.Range{Lo: v.Real, Hi: v.Real, Tiny: ExponentBelow(v.Real)}
	}
	return bounded.Range{}
}

// ExponentBelow returns the largest k with 2^k ≤ |x|, or 0 if x is 0.
func ExponentBelow(x float64) int {
	if x == 0 {
		return 0
	}
	_, e := math.Frexp(x)
	return e - 1
}

// ExponentAbove returns a k with |x| ≤ 2^k that it computes from the exponent of x alone, or 0 if x is 0.
func ExponentAbove(x float64) int {
	if x == 0 {
		return 0
	}
	m, e := math.Frexp(math.Abs(x))
	if m == 0.5 {
		return e - 1
	}
	return e
}

// MaxAbs returns the largest magnitude in a range of reals.
func MaxAbs(r bounded.Range) float64 { return math.Max(math.Abs(r.Lo), math.Abs(r.Hi)) }

// soundRange reports whether no value in a range of reals can overflow or underflow.
func soundRange(r bounded.Range) bool {
	return MaxAbs(r) <= math.Ldexp(1, maxExponent) && r.Tiny >= minExponent
}

// unionRange returns the smallest range that contains both ranges.
func unionRange(r bounded.Range, s bounded.Range) bounded.Range {
	return bounded.Range{
		IntLo: min(r.IntLo, s.IntLo), IntHi: max(r.IntHi, s.IntHi),
		Lo: math.Min(r.Lo, s.Lo), Hi: math.Max(r.Hi, s.Hi), Tiny: min(r.Tiny, s.Tiny),
	}
}

// outward widens the bounds of a library function's result by four units in the last place, because engines may
// differ there.
func outward(lo, hi float64) (float64, float64) {
	for range 4 {
		lo, hi = math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))
	}
	return lo, hi
}

// realRange returns the Real range of an operation, given its values at the ends of its arguments' ranges.
//
// Claim: the range needs no widening. Proof: + − × ÷ and the square root are correctly rounded in IEEE 754, in
// every engine and here, and rounding is monotone. So the rounded result for any arguments lies between the rounded
// results at the ends. ∎
func realRange(tiny int, candidates ...float64) bounded.Range {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range candidates {
		lo, hi = math.Min(lo, c), math.Max(hi, c)
	}
	return settledRange(bounded.Range{Lo: lo, Hi: hi, Tiny: tiny})
}

// settledRange widens a range whose end is not 0 but smaller than 2^Tiny in magnitude. No value is that small. It
// moves such an end outward, to 0 or to ±2^Tiny. So a grid that is chosen from the ends is no finer than the
// values.
func settledRange(r bounded.Range) bounded.Range {
	least := math.Ldexp(1, r.Tiny)
	if r.Lo != 0 && math.Abs(r.Lo) < least {
		r.Lo = math.Min(math.Copysign(least, r.Lo), 0)
	}
	if r.Hi != 0 && math.Abs(r.Hi) < least {
		r.Hi = math.Max(math.Copysign(least, r.Hi), 0)
	}
	return r
}

// integerRange returns the smallest Integer range that contains all candidates. The boolean is false if a candidate
// is beyond ±2^62.
func integerRange(candidates ...*big.Int) (bounded.Range, bool) {
	limit := big.NewInt(maxInteger)
	lo, hi := candidates[0], candidates[0]
	for _, c := range candidates {
		if c.CmpAbs(limit) > 0 {
			return bounded.Range{}, false
		}
		if c.Cmp(lo) < 0 {
			lo = c
		}
		if c.Cmp(hi) > 0 {
			hi = c
		}
	}
	return bounded.Range{IntLo: lo.Int64(), IntHi: hi.Int64()}, true
}

func bigEnds(r bounded.Range) (lo, hi *big.Int) { return big.NewInt(r.IntLo), big.NewInt(r.IntHi) }

// addRange returns the range of l + r, or of l − r if minus is set. The boolean is false if the result could
// overflow or underflow.
//
// A double of magnitude at least 2^t is a multiple of 2^(t−52). So a sum of two doubles is 0 or at least 2^(m−52),
// where m is the smaller of their values of t.
func addRange(t value.Type, l, r bounded.Range, minus bool) (bounded.Range, bool) {
	if t == value.Integer {
		llo, lhi := bigEnds(l)
		rlo, rhi := bigEnds(r)
		if minus {
			rlo, rhi = new(big.Int).Neg(rhi), new(big.Int).Neg(rlo)
		}
		return integerRange(new(big.Int).Add(llo, rlo), new(big.Int).Add(lhi, rhi))
	}
	if minus {
		r.Lo, r.Hi = -r.Hi, -r.Lo
	}
	s := realRange(min(l.Tiny, r.Tiny)-52, l.Lo+r.Lo, l.Hi+r.Hi)
	return s, soundRange(s)
}

func mulRange(t value.Type, l, r bounded.Range) (bounded.Range, bool) {
	if t == value.Integer {
		var c []*big.Int
		llo, lhi := bigEnds(l)
		rlo, rhi := bigEnds(r)
		for _, x := range []*big.Int{llo, lhi} {
			for _, y := range []*big.Int{rlo, rhi} {
				c = append(c, new(big.Int).Mul(x, y))
			}
		}
		return integerRange(c...)
	}
	s := realRange(l.Tiny+r.Tiny, l.Lo*r.Lo, l.Lo*r.Hi, l.Hi*r.Lo, l.Hi*r.Hi)
	return s, soundRange(s)
}

// divRange returns the range of l / r for divisors other than 0, which are at least 2^r.Tiny in magnitude.
func divRange(l, r bounded.Range) (bounded.Range, bool) {
	bound := MaxAbs(l) / math.Ldexp(1, r.Tiny)
	lo, hi := -bound, bound
	if l.Lo >= 0 && r.Lo >= 0 || l.Hi <= 0 && r.Hi <= 0 {
		lo = 0
	} else if l.Lo >= 0 && r.Hi <= 0 || l.Hi <= 0 && r.Lo >= 0 {
		hi = 0
	}
	if r.Lo > 0 || r.Hi < 0 { // the divisor is never near 0
		c := []float64{l.Lo / r.Lo, l.Lo / r.Hi, l.Hi / r.Lo, l.Hi / r.Hi}
		lo, hi = math.Max(lo, min4(c)), math.Min(hi, max4(c))
	}
	s := realRange(l.Tiny-ExponentAbove(MaxAbs(r))-1, lo, hi)
	return s, soundRange(s)
}

func min4(c []float64) float64 { return math.Min(math.Min(c[0], c[1]), math.Min(c[2], c[3])) }

func max4(c []float64) float64 { return math.Max(math.Max(c[0], c[1]), math.Max(c[2], c[3])) }

// quoRange returns the range of the integer quotient l / r, without its fraction, for divisors other than 0.
//
// Proof. For a fixed l, the exact quotient l / r is monotone in r on each side of 0, and for a fixed r in l. Dropping
// the fraction is monotone. So each side of 0 has its least and greatest quotients at the ends of l and of r, where the
// end of r nearest to 0 is ±1 if r contains 0. ∎
func quoRange(l, r bounded.Range) bounded.Range {
	var out bounded.Range
	first := true
	side := func(lo, hi int64) {
		if lo > hi {
			return
		}
		for _, x := range []int64{l.IntLo, l.IntHi} {
			for _, y := range []int64{lo, hi} {
				q := x / y
				if first {
					out, first = bounded.Range{IntLo: q, IntHi: q}, false
				}
				out.IntLo, out.IntHi = min(out.IntLo, q), max(out.IntHi, q)
			}
		}
	}
	side(r.IntLo, min(r.IntHi, -1))
	side(max(r.IntLo, 1), r.IntHi)
	return out
}

// modRange returns the range of l % r for divisors other than 0. The result has the sign of l. It is smaller than r
// in magnitude, and no larger than l.
func modRange(l, r bounded.Range) bounded.Range {
	m := max(AbsInt(r.IntLo), AbsInt(r.IntHi)) - 1
	m = max(m, 0)
	return bounded.Range{IntLo: max(min(l.IntLo, 0), -m), IntHi: min(max(l.IntHi, 0), m)}
}

// AbsInt returns |n|, or the largest integer if |n| has no int64.
func AbsInt(n int64) int64 {
	switch {
	case n == math.MinInt64:
		return math.MaxInt64
	case n < 0:
		return -n
	}
	return n
}
