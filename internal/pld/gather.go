package pld

// gatherer composes parts one after another into a long spectrum. It first composes parts that are short compared with
// the window among themselves: directly while they are very short, and then by short transforms. So many different
// parts need few long transforms, and none is kept.
type gatherer struct {
	long     *spectrum
	scratch  []complex128
	short    *transform
	shorter  []complex128
	pool     *sequence // the sequence convolved directly
	batch    *spectrum // of short transforms
	used     int64     // the length of the batch
	room     int64
	separate bool // few parts: transform each separately
}

// pooled is the length up to which sequences are convolved directly.
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
		// All is positive, so a sum of n products is off by a share of at most (n + 1)u, by which above and below are
		// widened, and no error is left to account for.
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

// finish returns the spectrum of all that was added.
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
		switch { // allow for underflow
		case widen > 1:
			c[i] += 1e-300
		case widen < 1 && c[i] < 1e-300:
			c[i] = 0
		}
	}
	return c
}
