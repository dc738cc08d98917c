package expsum

import (
	"sync/atomic"

	"dither/internal/exact"
)

// denominator is a sum above 0 in the form that Number describes. Many numbers share one, so it remembers the interval that all of them need.
type denominator struct {
	sum
	first atomic.Pointer[exact.Interval] // at firstBits
}

// unit is the denominator of sums.
var unit = &denominator{sum: one}

func (d *denominator) isOne() bool { return d == unit }

// interval holds d, computed with so many binary digits or more.
func (d *denominator) interval(w *Work, bits uint) (exact.Interval, error) {
	if bits > firstBits {
		return d.above(w, bits)
	}
	if x := d.first.Load(); x != nil {
		return *x, nil
	}
	x, err := d.above(w, firstBits)
	if err == nil {
		d.first.Store(&x)
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
