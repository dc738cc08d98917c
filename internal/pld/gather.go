package pld

// gatherer composes parts into one long spectrum. Parts that are much shorter than the window are first composed
// with each other: very short ones by direct convolution, and others by short transforms. So many different parts
// need only few long transforms, and none of them is kept.
type gatherer struct {
	long     *spectrum
	scratch  []complex128
	short    *transform
	shorter  []complex128
	pool     *sequence // the direct convolution of very short sequences so far
	batch    *spectrum // the product of short transforms so far
	used     int64     // the length that batch has used
	room     int64
	separate bool // transform each part by itself, because there are few
}

// pooled is the largest length of a direct convolution.
const pooled = 512

func newGatherer(size, parts int) *gatherer {
	g := &gatherer{long: newSpectrum(newTransform(size)), scratch: make([]complex128, size), separate: parts <= 8}
	g.room = int64(min(2048, size/4))
	if !g.separate {
		g.short, g.shorter = newTransform(int(g.room)), make([]complex128, g.room)
	}
	return g
}

func (g *gatherer) add(q sequence) {
	switch length := int64(len(q.above)); {
	case g.separate || q.count > 64 || q.count*length > g.room/4:
		g.long.multiply(q, g.scratch)
	case q.count > 1 || length > pooled/2:
		g.addShort(q)
	case g.pool == nil:
		g.pool = &q
	case len(g.pool.above)+len(q.above) > pooled:
		g.addShort(*g.pool)
		g.pool = &q
	default:
		// All terms are positive, so a sum of n products has a relative error of at most (n + 1)u, where u is the
		// unit roundoff. The measures above and below are widened by that, so no further error needs to be counted.
		share := 4 * unit * float64(length+2)
		g.pool.above = convolve(g.pool.above, q.above, 1+share)
		g.pool.below = convolve(g.pool.below, q.below, 1-share)
	}
}

func (g *gatherer) addShort(q sequence) {
	length := q.count * int64(len(q.above)-1)
	if g.batch != nil && g.used+length >= g.room {
		g.flush()
	}
	if g.batch == nil {
		g.batch, g.used = newSpectrum(g.short), 0
	}
	g.batch.multiply(q, g.shorter)
	g.used += length
}

func (g *gatherer) flush() {
	above, below, errAbove, errBelow := g.batch.invert(g.shorter)
	g.long.multiply(sequence{above: above, below: below, errAbove: errAbove, errBelow: errBelow, count: 1}, g.scratch)
	g.batch = nil
}

// finish returns the spectrum of all parts that were added.
func (g *gatherer) finish() *spectrum {
	if g.pool != nil {
		g.addShort(*g.pool)
	}
	if g.batch != nil {
		g.flush()
	}
	return g.long
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
		switch { // cover underflow
		case widen > 1:
			c[i] += 1e-300
		case widen < 1 && c[i] < 1e-300:
			c[i] = 0
		}
	}
	return c
}
