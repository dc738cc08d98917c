package bounds

import "math"

// histogram is a released histogram: between its edges, how many units have a value there, with noise. Bin i holds the
// values from edges[i-1] up to, but without, edges[i]. The first bin holds everything below edges[0], and the last one
// everything from the last edge on.
type histogram struct {
	edges  []float64
	counts []float64 // one more than edges
	sigma  float64   // the standard deviation of the noise of one count
}

// Multiples of the noise's standard deviation above which a sum of noisy counts shows that somebody is there. Of
// Laplace noise, one count exceeds the first with a probability of 6e-6, so one of 250 empty bins does so in about one
// histogram in six hundred. A sum of several counts has lighter tails.
const (
	oneVisible  = 8
	manyVisible = 5.5

	mostTogether = 16 // the most bins that are examined together
)

// nearlyAll is the share of the units that the visible bins of a clear histogram hold.
const nearlyAll = 0.9

// visible reports whether the count of a bin shows that somebody is in it.
func (h *histogram) visible(bin int) bool { return h.counts[bin] > oneVisible*h.sigma }

// total returns the number of units, as far as bins are visible.
func (h *histogram) total() (n float64) {
	for i, c := range h.counts {
		if h.visible(i) {
			n += c
		}
	}
	return n
}

// central returns the first and the last visible bin. It leaves out visible bins at the ends that hold at most the
// given share of the total together, at each end. ok is false if no bin is visible.
func (h *histogram) central(share float64) (first, last int, ok bool) {
	room := share * h.total()
	end := func(from, to, step int) int {
		out, left := -1, room
		for i := from; i != to; i += step {
			if !h.visible(i) {
				continue
			}
			if out = i; h.counts[i] > left {
				break
			}
			left -= h.counts[i]
		}
		return out
	}
	first, last = end(0, len(h.counts), 1), end(len(h.counts)-1, -1, -1)
	return first, last, first >= 0 && first <= last
}

// reach returns the ends of the range of [histogram.central].
func (h *histogram) reach(share float64) (low, high float64) {
	first, last, ok := h.central(share)
	if !ok {
		return h.edges[0], h.edges[len(h.edges)-1]
	}
	low, _ = h.span(first)
	_, high = h.span(last)
	return low, high
}

// binsIn returns the number of bins between two edges.
func (h *histogram) binsIn(low, high float64) (n int) {
	for _, e := range h.edges {
		if low <= e && e < high {
			n++
		}
	}
	return n
}

// median returns a value in the middle of the visible units.
func (h *histogram) median() float64 {
	left := h.total() / 2
	for i, c := range h.counts {
		if !h.visible(i) {
			continue
		}
		if c < left {
			left -= c
			continue
		}
		low, high := h.span(i)
		return low + (high-low)*left/c
	}
	return 0
}

// span returns the ends of a bin. An outer bin, which has no end on one side, is empty.
func (h *histogram) span(bin int) (low, high float64) {
	return h.edges[max(bin-1, 0)], h.edges[min(bin, len(h.edges)-1)]
}

// clear returns the histogram with wider bins, if that is needed to see nearly all of the given number of units.
func (h *histogram) clear(units float64) *histogram {
	for h.total() < nearlyAll*units && len(h.edges) >= 2*fewBins {
		h = h.coarser()
	}
	return h
}

// coarser returns the histogram without every second edge.
func (h *histogram) coarser() *histogram {
	out := &histogram{sigma: h.sigma * math.Sqrt2}
	for i := 0; i < len(h.edges); i += 2 {
		out.edges = append(out.edges, h.edges[i])
	}
	for i := 0; i < len(h.counts); i += 2 {
		sum := h.counts[i]
		if i > 0 {
			sum += h.counts[i-1]
		}
		out.counts = append(out.counts, sum)
	}
	if len(h.counts)%2 == 0 {
		out.counts = append(out.counts, h.counts[len(h.counts)-1])
	}
	return out
}

// mirrored returns the histogram of −x.
func (h *histogram) mirrored() *histogram {
	k := len(h.edges)
	out := &histogram{edges: make([]float64, k), counts: make([]float64, k+1), sigma: h.sigma}
	for i, e := range h.edges {
		out.edges[k-1-i] = -e
	}
	for i, c := range h.counts {
		out.counts[k-i] = c
	}
	return out
}

// lastSeen returns the outermost bin on the upper side that shows somebody, by itself or together with bins next to it
// that do not. It returns −1 if there is none.
func (h *histogram) lastSeen() int {
	for i := len(h.counts) - 1; i >= 0; i-- {
		if h.visible(i) {
			return i
		}
		for sum, w := 0.0, 1; w <= mostTogether && i-w+1 >= 0 && !h.visible(i-w+1); w++ {
			sum += h.counts[i-w+1]
			if w&(w-1) == 0 && w > 2 && h.counts[i] > h.sigma && sum > manyVisible*h.sigma*math.Sqrt(float64(w)) {
				return i
			}
		}
	}
	return -1
}
