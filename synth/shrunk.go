package synth

import "math"

// shrunk smooths noisy counts. It takes the differences of the means of the two halves of the counts, of the halves of
// each half, and so on, each in units of the noise. In each of these levels, it multiplies the differences by 1 − aσ²/Σd²,
// or by 0 if that is negative. This is the estimator of James and Stein, with a = k − 2 for k > 2 differences. So a level
// that the noise explains disappears, and one that is far above the noise stays. If the order of the counts means nothing,
// the levels of three or more differences are still estimated at least as well as by their noisy differences.
//
// Source: James and Stein, "Estimation with quadratic loss", 1961, by levels as in Efromovich, "Nonparametric curve
// estimation", 1999.
func shrunk(counts []float64, variance float64) []float64 {
	type half struct {
		from, middle, to int
		difference       float64 // of the means, whose variance is 1/left + 1/right of that of a count
	}
	sums := make([]float64, len(counts)+1)
	for i, v := range counts {
		sums[i+1] = sums[i] + v
	}
	mean := func(from, to int) float64 { return (sums[to] - sums[from]) / float64(to-from) }
	var levels [][]half
	var split func(from, to, level int)
	split = func(from, to, level int) {
		if to-from < 2 {
			return
		}
		if level == len(levels) {
			levels = append(levels, nil)
		}
		middle := (from + to + 1) / 2
		levels[level] = append(levels[level], half{from, middle, to, mean(middle, to) - mean(from, middle)})
		split(from, middle, level+1)
		split(middle, to, level+1)
	}
	split(0, len(counts), 0)
	out := make([]float64, len(counts))
	for i := range out {
		out[i] = mean(0, len(counts))
	}
	for _, of := range levels {
		squares, k := 0.0, float64(len(of))
		for _, h := range of {
			squares += h.difference * h.difference / (1/float64(h.middle-h.from) + 1/float64(h.to-h.middle))
		}
		if k > 2 {
			k -= 2
		}
		keep := 1 - k*variance/squares
		if !(keep > 0) || math.IsInf(keep, 0) {
			continue
		}
		for _, h := range of {
			left, right := float64(h.middle-h.from), float64(h.to-h.middle)
			for i := h.from; i < h.to; i++ {
				if i < h.middle {
					out[i] -= keep * h.difference * right / (left + right)
				} else {
					out[i] += keep * h.difference * left / (left + right)
				}
			}
		}
	}
	return out
}
