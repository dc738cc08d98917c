package expsum

import (
	"sync/atomic"

	"dither/internal/exact"
)

// denominator is a sum above 0, in the form that Number describes. Many numbers may share one, so it caches two
// intervals: the one at firstBits, and the last one at a higher precision.
type denominator struct {
	sum
	first, last atomic.Pointer[kept]
}

// kept is an interval that was computed with the given number of binary digits.
type kept struct {
	bits uint
	x    exact.Interval
}

// unit is the denominator 1, which all numbers without a fraction share.
var unit = &denominator{sum: one}

func (d *denominator) isOne() bool { return d == unit }

// interval returns an interval that contains d, computed with at least the given number of binary digits.
func (d *denominator) interval(w *Work, bits uint) (exact.Interval, error) {
	place := &d.last
	if bits <= firstBits {
		place = &d.first
	}
	if k := place.Load(); k != nil && k.bits == bits {
		return k.x, nil
	}
	x, err := d.above(w, bits)
	if err == nil {
		place.Store(&kept{bits, x})
	}
	return x, err
}

// above returns an interval that contains d and lies above 0. The search ends because d > 0.
func (d *denominator) above(w *Work, bits uint) (exact.Interval, error) {
	for ; ; bits *= 2 {
		if x, err := d.sum.interval(w, bits); err != nil || x.Lo().Sign() > 0 {
			return x, err
		}
	}
}
