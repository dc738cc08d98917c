package expsum

import (
	"fmt"
	"math/bits"
)

// Work does arithmetic with a limit on the total work, in units of about 100 ns. It is for numbers that others write,
// because a short text can stand for one that takes hours. Each operation's work is bounded from the sizes of its
// operands before it is done. Beyond the limit, this and every later operation returns ErrSize. Only one goroutine may
// use it at a time.
type Work struct {
	left int64
	of   *Work // from which this one takes, too; nil: from none
}

// NewWork is a limit of so many units.
func NewWork(units int64) *Work { return &Work{left: units} }

// mostAtOnce is what reading one text may take, and one operation without a Work: about a second at the very most.
const mostAtOnce = 1 << 22

// Part is the share of w that one of many things may use: about a second. A nil w has no total limit.
func (w *Work) Part() *Work { return &Work{mostAtOnce, w} }

func atOnce() *Work { return NewWork(mostAtOnce) }

// spend takes units off.
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

// words are the machine words of the largest term, and whether all coefficients are integers.
func (s sum) words() (n int64, integers bool) {
	integers = true
	for _, t := range s {
		size := t.coefficient.Num().BitLen() + t.coefficient.Denom().BitLen() + t.exponent.Num().BitLen() + t.exponent.Denom().BitLen()
		n = max(n, int64(size/bits.UintSize)+1)
		integers = integers && t.coefficient.IsInt()
	}
	return n, integers
}

// productCost is what s·o takes: a multiplication and an addition for each pair of terms. Fractions are reduced, by Euclid's algorithm.
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

// eachCost is what it takes to go through the terms of a sum once.
func (s sum) eachCost() int64 { return productCost(s, one) }

// intervalCost is what an interval takes: an exponential for each term, whose series has more terms, of more digits, the more binary digits it has.
func (s sum) intervalCost(digits uint) int64 {
	words, _ := s.words()
	return 1 + int64(len(s))*(powerCost(digits)+words)
}

// powerCost is what an exponential takes, or a logarithm.
func powerCost(digits uint) int64 {
	d := int64(digits)
	return 150 + d*d/512 + d*d/(1<<11)*d/(1<<11)
}
