package linear

import (
	"math/big"
	"math/bits"
)

// twoWords is an integer modulo 2¹²⁸.
type twoWords struct{ hi, lo uint64 }

func (a twoWords) plus(b twoWords) twoWords {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return twoWords{a.hi + b.hi + carry, lo}
}

func (a twoWords) minus(b twoWords) twoWords {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return twoWords{a.hi - b.hi - borrow, lo}
}

func (a twoWords) times(b twoWords) twoWords {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return twoWords{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

// less reports whether a < b, for the representatives from 0 to 2¹²⁸ − 1.
func (a twoWords) less(b twoWords) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// integer returns the representative from 0 to 2¹²⁸ − 1.
func (a twoWords) integer() *big.Int {
	out := new(big.Int).SetUint64(a.hi)
	return out.Or(out.Lsh(out, 64), new(big.Int).SetUint64(a.lo))
}
