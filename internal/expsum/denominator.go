package expsum

import (
	"sync"

	"dither/internal/exact"
)

// denominator is a sum above 0 in the form that Number describes. Many numbers share one, so it remembers the interval that all of them need.
type denominator struct {
	sum
	once  sync.Once
	first exact.Interval // at firstBits
}

// unit is the denominator of sums.
var unit = &denominator{sum: one}

func (d *denominator) isOne() bool { return d == unit }

// interval holds d, computed with so many binary digits or more.
func (d *denominator) interval(bits uint) exact.Interval {
	if bits > firstBits {
		return d.above(bits)
	}
	d.once.Do(func() { d.first = d.above(firstBits) })
	return d.first
}

// above is an interval above 0, as there is one in the end: d > 0.
func (d *denominator) above(bits uint) exact.Interval {
	for ; ; bits *= 2 {
		if x := d.sum.interval(bits); x.Lo().Sign() > 0 {
			return x
		}
	}
}
