package bounds

import (
	"math"
	"slices"
)

// The typical questions by whose mean error bounds are judged: the sum and the average of a column, and the count of
// rows, each over everybody and over a tenth of the rows, at the policy's default price. The error of a sum is in
// relation to the sum of all magnitudes, that of an average to the mean distance from the median, and that of a count
// to the count. An error is the root of the sum of two squares: what the bounds cut, and the standard deviation of the
// noise. What they cut at both ends adds up, because one end makes up for the other only by luck.
var shares = []float64{1, 0.1}

// noise is the noise of a question at the policy's default price.
type noise struct {
	// the standard deviation of a count to which each unit adds at most 1
	count float64
	// the factor by which noise grows if a price is divided between the sum and the count of an average
	halved float64
}

// side is one end of a column's values: for each edge, from the middle outwards, the bound that it stands for, and what
// that bound cuts.
type side struct {
	bounds []float64
	lost   []float64 // the sum over all units of the part of their value beyond the bound
	beyond []float64 // the units with a value beyond the bound
}

// at returns what the bound x cuts, between the bounds that the histogram has.
func (s side) at(x float64) (lost, beyond float64) {
	for i := 1; i < len(s.bounds); i++ {
		a, b := s.bounds[i-1], s.bounds[i]
		if (a-x)*(b-x) > 0 {
			continue
		}
		part := (x - a) / (b - a)
		return mixed(s.lost[i-1], s.lost[i], part), mixed(s.beyond[i-1], s.beyond[i], part)
	}
	i := s.index(x)
	return s.lost[i], s.beyond[i]
}

// mixed returns a number between two positive ones, so far from the first one as part says, or between any others.
func mixed(a, b, part float64) float64 {
	if a > 0 && b > 0 {
		return a * math.Pow(b/a, part)
	}
	return a + (b-a)*part
}

// index returns the index of the bound that is nearest to x.
func (s side) index(x float64) (at int) {
	for i, b := range s.bounds {
		if math.Abs(b-x) < math.Abs(s.bounds[at]-x) {
			at = i
		}
	}
	return at
}

// column is what is known of a column from its histogram. All numbers are of units, each with one row.
type column struct {
	kind      kind
	units     float64
	upper     side
	lower     side
	mean      float64 // of the values within the range that the histogram shows
	magnitude float64 // the mean of |x|
	deviation float64 // the mean distance from the median
}

// columnOf returns what a histogram says of a column.
func (k kind) columnOf(h *histogram, units float64) *column {
	c := &column{kind: k, units: units}
	clear := h.clear(units)
	middle, n := clear.median(), 0.0
	up, down := tailOf(h, middle, originOf(h, middle)), tailOf(h.mirrored(), -middle, originOf(h.mirrored(), -middle))
	c.upper, c.lower = k.sideOf(up, 1), k.sideOf(down, -1)
	for i, count := range clear.counts {
		if !clear.visible(i) {
			continue
		}
		low, high := clear.span(i)
		if k.whole() && high > low {
			high--
		}
		x := (low + high) / 2
		n += count
		c.mean += count * x
		c.magnitude += count * math.Abs(x)
		c.deviation += count * math.Abs(x-middle)
	}
	n = math.Max(n, 1)
	c.mean, c.magnitude, c.deviation = c.mean/n, c.magnitude/n, c.deviation/n
	c.scaled()
	return c
}

// scaled replaces the scales of errors that are 0, as of a column of zeros, by others.
func (c *column) scaled() {
	if c.magnitude == 0 {
		c.magnitude = 1
	}
	if c.deviation == 0 {
		c.deviation = c.magnitude
	}
}

// originOf returns the origin of the distances of an upper tail: 0 for values that are seen from there, as amounts are,
// and the median for others.
func originOf(h *histogram, median float64) float64 {
	if end := h.lastSeen(); end <= 0 || h.edges[end-1] < 0 || !slices.Contains(h.edges, 0) {
		return median
	}
	return math.Min(0, median)
}

// sideOf returns the bounds of one end: the upper one if sign is 1, and the lower one if it is -1 and the tail is that
// of −x.
//
// A bin ends before its upper edge. So if values are integers, the upper bound that an edge stands for is one less, and
// the tail has a step there, of which the integral has only a half.
func (k kind) sideOf(t *tail, sign float64) (s side) {
	lost := t.lost()
	for j, e := range t.edges {
		b, l := sign*e, lost[j]
		if k.whole() {
			l += t.above[j] / 2
			if sign > 0 {
				b--
			}
		}
		if !k.possible(b) {
			continue
		}
		s.bounds, s.lost, s.beyond = append(s.bounds, b), append(s.lost, l), append(s.beyond, t.above[j])
	}
	return s
}

// errorOf returns the mean error of the typical questions about a column, for one pair of bounds. Each of its units has
// up to rows rows that count, and each of all rows has the values of the column's units.
func (c *column) errorOf(low, high, lost float64, rows rowsOf, n noise) (sum float64) {
	reach, width := math.Max(math.Abs(low), math.Abs(high)), high-low
	mean := math.Min(math.Max(c.mean, low), high)
	cut := lost / c.units // of one row
	for _, share := range shares {
		counted, noise := share*rows.counted, n.count*rows.most
		if !c.kind.calendar() {
			clipped := share*rows.lost*math.Abs(mean) + counted*cut
			sum += math.Hypot(clipped, noise*reach) / (share * rows.all() * c.magnitude)
		}
		ratio := math.Hypot(noise*n.halved*width/2, noise*n.halved*(mean-(low+high)/2)) / counted
		sum += math.Hypot(cut, ratio) / c.deviation
	}
	if c.kind.calendar() {
		sum *= 2
	}
	return sum
}

// rowsOf says how many rows count if at most so many rows of each unit do, and how many do not.
type rowsOf struct{ most, counted, lost float64 }

func (r rowsOf) all() float64 { return r.counted + r.lost }

// errorOfCounts returns the mean error of the typical counts.
func (r rowsOf) errorOfCounts(n noise) (sum float64) {
	for _, share := range shares {
		sum += math.Hypot(share*r.lost, n.count*r.most) / (share * r.all())
	}
	return sum
}

// choice is a pair of bounds, with its mean error.
type choice struct {
	low, high           float64
	below, above, error float64
}

// best returns the bounds with the least error.
func (c *column) best(rows rowsOf, n noise) (out choice) {
	out.error = math.Inf(1)
	for i, low := range c.lower.bounds {
		for j, high := range c.upper.bounds {
			if low > high {
				continue
			}
			if e := c.errorOf(low, high, c.lower.lost[i]+c.upper.lost[j], rows, n); e < out.error {
				out = choice{low, high, c.lower.beyond[i], c.upper.beyond[j], e}
			}
		}
	}
	return out
}
