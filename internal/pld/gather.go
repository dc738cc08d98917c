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
	short = pool(short)
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

// pool convolves very short parts directly: all is positive, so a sum of n products is off by a share of at most (n + 1)u, by
// which above and below are widened, and no error is left to account for.
func pool(short []tilted) []tilted {
	const enough = 512
	var pooled []tilted
	for _, t := range short {
		last := len(pooled) - 1
		if t.count > 1 || last < 0 || pooled[last].count > 1 || len(pooled[last].above)+len(t.above) > enough {
			pooled = append(pooled, t)
			continue
		}
		share := 4 * unit * float64(len(t.above)+2)
		pooled[last].above = convolve(pooled[last].above, t.above, 1+share)
		pooled[last].below = convolve(pooled[last].below, t.below, 1-share)
	}
	return pooled
}

func convolve(a, b []float64, widen float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for i, y := range b {
		if y == 0 {
			continue
		}
		part := c[i : i+len(a)]
		for j, x := range a {
			part[j] += x * y
		}
	}
	for i := range c {
		c[i] *= widen
		switch { // what may have underflowed
		case widen > 1:
			c[i] += 1e-300
		case c[i] < 1e-300:
			c[i] = 0
		}
	}
	return c
}
