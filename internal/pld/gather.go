package pld

// gather composes parts that are short beside the window among themselves, by transforms that are short too, so that many
// different parts need few long transforms.
func gather(all []tilted, size int) []sequence {
	var long []sequence
	var short []tilted
	room := min(2048, size/4)
	for _, t := range all {
		if len(all) > 8 && t.count <= 64 && t.count*int64(len(t.above)) <= int64(room/4) {
			short = append(short, t)
		} else {
			long = append(long, t.sequence)
		}
	}
	if len(short) == 0 {
		return long
	}
	transforms := newTransform(room)
	scratch := make([]complex128, room)
	var s *spectrum
	used := int64(0)
	flush := func() {
		if s != nil {
			above, below, errAbove, errBelow := s.invert(scratch)
			long = append(long, sequence{above: above, below: below, errAbove: errAbove, errBelow: errBelow, count: 1})
		}
	}
	for _, t := range short {
		length := t.count * int64(len(t.above)-1)
		if s == nil || used+length >= int64(room) {
			flush()
			s, used = newSpectrum(transforms), 0
		}
		s.multiply(t.sequence, scratch)
		used += length
	}
	flush()
	return long
}
