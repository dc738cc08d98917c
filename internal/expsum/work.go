package expsum

import (
	"fmt"
	"math/bits"
)

// Work does arithmetic with a limit on the total work, in units of about 100 ns. It is for numbers from untrusted
// sources, because a short text can describe a computation of hours. The work of each operation is bounded by the
// sizes of its operands before the operation begins. Once the limit is exceeded, every operation returns ErrSize. A
// Work must not be used concurrently.
type Work struct {
	left int64
	of   *Work // the Work that is charged too; nil if there is none
}

// NewWork returns a Work with a limit of the given number of units.
func NewWork(units int64) *Work { return &Work{left: units} }

// mostAtOnce is the limit for parsing one text, and for one operation without a Work: about a second at most.
const mostAtOnce = 1 << 22

// Part returns a Work for one of many tasks. Its limit is about a second. Its work is also charged to w, unless w
// is nil.
func (w *Work) Part() *Work { return &Work{mostAtOnce, w} }

func atOnce() *Work { return NewWork(mostAtOnce) }

// spend charges the given units. It returns ErrSize if the limit is exceeded.
func (w *Work) spend(units int64) error {
	if w.left -= units; w.left < 0 {
		w.left = -1
		return fmt.Errorf("%w: its arithmetic takes too long", ErrSize)
	}
	if w.of != nil {
		return w.of.spend(units)
	}
	return nil
}

// words returns the number of machine words of the largest term, and whether all coefficients are integers.
func (s sum) words() (n int64, integers bool) {
	integers = true
	for _, t := range s {
		size := t.coefficient.Num().BitLen() + t.coefficient.Denom().BitLen() +
			t.exponent.Num().BitLen() + t.exponent.Denom().BitLen()
		n = max(n, int64(size/bits.UintSize)+1)
		integers = integers && t.coefficient.IsInt()
	}
	return n, integers
}

// productCost returns a bound on the work of s·o: a multiplication and an addition for each pair of terms. If there
// are fractions, it includes reducing them by Euclid's algorithm.
func productCost(s, o sum) int64 {
	m, mIntegers := s.words()
	n, nIntegers := o.words()
	words, each := m+n, int64(30)
	if mIntegers && nIntegers {
		each += words + words*words/512
	} else {
		each += 2*words + words*words/32
	}
	return 1 + int64(len(s))*int64(len(o))*each
}

// eachCost returns a bound on the work of one pass over the terms.
func (s sum) eachCost() int64 { return productCost(s, one) }

// intervalCost returns a bound on the work of an interval: an exponential for each term. Its series gets longer,
// and its numbers too, with the number of binary digits.
func (s sum) intervalCost(digits uint) int64 {
	words, _ := s.words()
	return 1 + int64(len(s))*(powerCost(digits)+words)
}

// powerCost returns a bound on the work of an exponential or a logarithm.
func powerCost(digits uint) int64 {
	d := int64(digits)
	return 150 + d*d/512 + d*d/(1<<11)*d/(1<<11)
}
