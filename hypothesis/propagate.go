package hypothesis

import (
	"math"
	"sort"
)

// propagated are the errors of a number that is computed from noisy counts.
type propagated struct {
	sd    float64 // of the error
	reach float64 // with the given confidence, the size of the error is at most this
}

// propagate returns the errors of f(x), where x are noisy counts, to first order. If g are the derivatives of f, the
// error is the sum of g times the noise of the counts, and of a normal sampling error. The counts are a sample of people:
// that error has the variance Σx·g² − (Σx·g)²/Σx. few is added to each count in this variance, and only there, because
// counts of rare events are small by chance. The quantile is simulated.
func (h How) propagate(x []float64, few []float64, law *law, confidence float64, f func([]float64) float64) propagated {
	n := 0.0
	for _, v := range x {
		n += max(0, v)
	}
	step := max(0.5, 1e-4*n)
	g, mean, sampling := make([]float64, len(x)), 0.0, 0.0
	for i, v := range x {
		x[i] = v + step
		up := f(x)
		x[i] = v - step
		down := f(x)
		x[i] = v
		g[i] = (up - down) / (2 * step)
		mean += max(0, v) * g[i] / n
		c := max(0, v)
		if few != nil {
			c += few[i]
		}
		sampling += c * g[i] * g[i]
	}
	spread := math.Sqrt(max(0, sampling-n*mean*mean))
	times := max(999, min(h.Simulations, int(4e7/float64(len(x)))))
	s, all, squares := newStream(h.Seed), make([]float64, times), 0.0
	for b := range all {
		e := spread * s.normal()
		if law != nil {
			for _, slope := range g {
				e += slope * law.draw(s)
			}
		}
		all[b] = math.Abs(e)
		squares += e * e
	}
	sort.Float64s(all)
	out := propagated{math.Sqrt(squares / float64(times)), quantileOf(all, confidence)}
	if math.IsNaN(out.sd) {
		return propagated{math.Inf(1), math.Inf(1)}
	}
	return out
}
