package bounds

import "math"

// A tail estimates how many units have a value at or above x, from a histogram, also where these are fewer than its
// noise. Near the middle, the noisy counts are exact enough. Beyond, a curve that fits them continues the tail. Nothing
// here affects privacy: it is computed from released numbers.
type tail struct {
	edges  []float64
	above  []float64 // how many units are at or above each edge; it never rises
	beyond float64   // the integral of the tail from the last edge on
}

const (
	exactEnough = 1.0 / 8 // the largest relative deviation of a sum of counts that is exact enough
	outerPart   = 0.25    // a curve is fitted to this share of the units beyond the median
	permitted   = 3       // the number of deviations by which a tail may exceed the counts
	steepest    = 300     // the greatest exponent of a power by which a tail falls
)

// tailOf returns the upper tail of a histogram with the given median. The tail is a curve of the distance from origin.
func tailOf(h *histogram, median, origin float64) *tail {
	k := len(h.edges)
	t := &tail{edges: h.edges, above: h.sums()}
	end, first, start, last := h.lastSeen(), -1, -1, 0
	for j, e := range h.edges {
		if first < 0 && e > median && e > origin {
			first = j
		}
		if first >= 0 && start < 0 && t.above[j] <= outerPart*t.above[first] {
			start = j
		}
		if j < end && t.above[j]*exactEnough >= h.sigma*math.Sqrt(float64(end-j)) {
			last = j
		}
	}
	if first < 0 || t.above[first] <= 0 { // nobody is seen above the median
		for j := range t.above {
			if h.edges[j] > median {
				t.above[j] = 0
			}
		}
		return t
	}
	if start = max(min(start, last), first); start < 0 {
		start = first
	}
	last = max(last, first)
	c, exact := t.law(h, start, origin), h.edges[last]-origin
	rate := 0.0 // of the power that replaces the curve where it is too much
	for j := last + 1; j < k; j++ {
		d, from := h.edges[j]-origin, h.edges[j-1]-origin
		switch {
		case d <= 0:
			continue
		case h.edges[j] >= 0 && median <= 0 && end <= j, c.at(d, exact) == 0: // nobody is seen beyond 0, or beyond the end
			t.above[j] = 0
		case rate > 0:
			t.above[j] = t.above[j-1] * math.Pow(from/d, rate)
		default:
			t.above[j] = t.above[last] * c.at(d, exact)
		}
		left := func(i int) float64 {
			if away := h.edges[i] - origin; rate == 0 {
				return c.at(away, exact) / c.at(d, exact)
			} else {
				return math.Pow(d/away, rate)
			}
		}
		if t.above[j] == 0 {
			continue
		}
		if most := h.most(j, left); most < t.above[j] {
			t.above[j] = most
			if from > 0 {
				rate = math.Min(math.Max(rate, math.Log(t.above[j-1]/most)/math.Log(d/from)), steepest)
			}
		}
	}
	for j := k - 2; j >= 0; j-- { // noise aside, a tail falls
		t.above[j] = math.Max(t.above[j], t.above[j+1])
	}
	if d := h.edges[k-1] - origin; t.above[k-1] > 0 && d > 0 {
		t.beyond = t.above[k-1] * d / math.Max(c.rate(d)-1, 0.05)
	}
	return t
}

// law returns the law of the bins from the edge start on.
func (t *tail) law(h *histogram, start int, origin float64) law {
	var distances []float64
	for _, e := range t.edges[start:] {
		distances = append(distances, e-origin)
	}
	end := h.lastSeen() - start
	return fitted(distances, h.counts[start+1:], h.sigma, distances[max(end-2, 1):min(max(end+2, 1), len(distances))])
}

// most returns the most units above the edge j that the counts allow. left returns the share of them that is above
// another edge.
func (h *histogram) most(j int, left func(edge int) float64) float64 {
	most := math.Inf(1)
	for w := 1; j+w < len(h.edges); w *= 2 {
		sum := 0.0
		for _, c := range h.counts[j+1 : j+w+1] {
			sum += c
		}
		if part := 1 - left(j+w); part > 0 {
			most = math.Min(most, (math.Max(sum, 0)+permitted*h.sigma*math.Sqrt(float64(w)))/part)
		}
	}
	return most
}

// sums returns, for each edge, the sum of the noisy counts of the bins above it, up to the last one in which somebody
// is seen.
func (h *histogram) sums() []float64 {
	out := make([]float64, len(h.edges))
	for j := h.lastSeen() - 1; j >= 0; j-- {
		out[j] = h.counts[j+1]
		if j+1 < len(out) {
			out[j] += out[j+1]
		}
	}
	return out
}

// lost returns, for each edge, the sum over all units of the part of their value that is above the edge: the integral
// of the tail.
func (t *tail) lost() []float64 {
	out, sum := make([]float64, len(t.edges)), t.beyond
	for j := len(t.edges) - 1; j >= 0; j-- {
		if j+1 < len(t.edges) {
			sum += (t.edges[j+1] - t.edges[j]) * between(t.above[j], t.above[j+1])
		}
		out[j] = sum
	}
	return out
}

// between returns the mean of a falling curve between two of its values: of an exponential, unless one of them is 0.
func between(a, b float64) float64 {
	if b <= 0 || a <= b*1.001 {
		return (a + b) / 2
	}
	return (a - b) / math.Log(a/b)
}
