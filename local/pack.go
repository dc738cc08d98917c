package local

import "math/bits"

// A report is a sequence of fields of fixed widths, packed into bytes with the most significant bit first.

// put writes the field v of the given width at a bit offset. The bits there are 0.
func put(report []byte, at, width int, v uint64) {
	for i := range width {
		if v>>(width-1-i)&1 == 1 {
			report[(at+i)/8] |= 0x80 >> ((at + i) % 8)
		}
	}
}

// get reads the field of the given width at a bit offset.
func get(report []byte, at, width int) (v uint64) {
	for width > 0 {
		free := 8 - at%8
		take := min(free, width)
		part := uint64(report[at/8]) >> (free - take) & (1<<take - 1)
		v = v<<take | part
		at, width = at+take, width-take
	}
	return v
}

// padded reports whether a report has the right size, and zeros after its last bit.
func padded(report []byte, size int) bool {
	if len(report) != (size+7)/8 {
		return false
	}
	return size%8 == 0 || report[len(report)-1]<<(size%8) == 0
}

// width returns the number of bits of a field with the values 0 … n − 1, for n ≥ 1.
func width(n uint64) int { return bits.Len64(n - 1) }

// eachBit calls f for each bit of a report that is 1, by its offset, and returns false if f does.
func eachBit(report []byte, f func(at int)) {
	for i, b := range report {
		for b != 0 {
			lead := bits.LeadingZeros8(b)
			f(8*i + lead)
			b &^= 0x80 >> lead
		}
	}
}
