package mean

import (
	"fmt"
	"math/bits"
)

// The packed form of a report has Bits bits, with the most significant bit first, and zeros up to whole bytes. A sign is
// one bit, 1 for +. A point of the window is the number of its place among the points, from 0. A report of hybrid
// begins with a bit that is 1 for the window, and a sign has the last bit of the field of the place.

// Pack returns the packed form of a report that the randomizer sends, or ErrReport.
func (r *Randomizer) Pack(report Report) ([]byte, error) {
	if _, err := r.Value(report); err != nil {
		return nil, err
	}
	field := uint64(0)
	switch {
	case report.Window:
		field = uint64(int64(report.Point) + r.window.l)
		if r.pick != nil {
			field |= 1 << (r.Bits() - 1)
		}
	case report.Point > 0:
		field = 1
	}
	out := make([]byte, (r.Bits()+7)/8)
	field <<= 8*len(out) - r.Bits()
	for i := len(out) - 1; i >= 0; i, field = i-1, field>>8 {
		out[i] = byte(field)
	}
	return out, nil
}

// Unpack returns the report of a packed form. Bytes that the randomizer never sends are ErrReport.
func (r *Randomizer) Unpack(packed []byte) (report Report, err error) {
	size := r.Bits()
	if len(packed) != (size+7)/8 {
		has := fmt.Sprintf("%d bits", size)
		if size == 1 {
			has = "1 bit"
		}
		return report, fmt.Errorf("%w: a report of %s has %s", ErrReport, r.params.Mechanism, has)
	}
	field := uint64(0)
	for _, b := range packed {
		field = field<<8 | uint64(b)
	}
	spare := 8*len(packed) - size
	if bits.TrailingZeros64(field) < spare && field != 0 {
		return report, fmt.Errorf("%w: the bits after the last one are not zeros", ErrReport)
	}
	field >>= spare
	report.Window = r.window != nil && r.pick == nil
	if r.pick != nil {
		report.Window = field>>(size-1) == 1
		field &= 1<<(size-1) - 1
	}
	switch {
	case report.Window:
		report.Point = int32(int64(field) - r.window.l)
	case field > 1:
		return report, fmt.Errorf("%w: a sign is one bit", ErrReport)
	default:
		report.Point = int32(2*field) - 1
	}
	_, err = r.Value(report)
	return report, err
}
