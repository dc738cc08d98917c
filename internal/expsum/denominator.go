package expsum

import (
	"sync/atomic"

	"dither/internal/exact"
)

// denominator is a sum above 0 in the form that Number describes. Many numbers share one, so it remembers the intervals that all of them need: the one at
// firstBits, and the last of the others.
type denominator struct {
	sum
	first, last atomic.Pointer[kept]
}

// kept is an interval that was computed with so many binary digits.
type kept struct {
	bits uint
	x    exact.Interval
}

// unit is the denominator of sums.
var unit = &denominator{sum: one}

func (d *denominator) isOne() bool { return d == unit }

// interval holds d, computed with so many binary digits or more.
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

// above is an interval above 0, as there is one in the end: d > 0.
func (d *denominator) above(w *Work, bits uint) (exact.Interval, error) {
	for ; ; bits *= 2 {
		if x, err := d.sum.interval(w, bits); err != nil || x.Lo().Sign() > 0 {
			return x, err
		}
	}
}
