package pld

import (
	"math"
	"slices"
)

// sketch approximates a family's loss distribution by some points. It is used to choose windows and exponents. A
// bad choice makes the bounds loose, but never wrong.
type sketch struct {
	ends   []float64
	loss   []float64
	weight []float64 // logarithms of the weights
}

func newSketch(f family, n int) *sketch {
	s := &sketch{ends: f.edges(n)}
	f.describe(s)
	s.thin(4 * n)
	return s
}

// thin reduces the points to at most one for each of n equal ranges. The new point has the sum of the weights and
// the mean of the losses.
func (s *sketch) thin(n int) {
	if len(s.loss) <= n {
		return
	}
	low, high := slices.Min(s.loss), slices.Max(s.loss)
	loss, weight := make([]float64, n), make([]float64, n)
	for i, l := range s.loss {
		j := min(n-1, max(0, int((l-low)/(high-low)*float64(n))))
		w := math.Exp(s.weight[i])
		weight[j] += w
		loss[j] += w * (l - low)
	}
	s.loss, s.weight = nil, nil
	for j, w := range weight {
		if w > 0 {
			s.loss = append(s.loss, low+loss[j]/w)
			s.weight = append(s.weight, math.Log(w))
		}
	}
}

func (s *sketch) cells() int { return max(0, len(s.ends)-1) }

func (s *sketch) edge(j int) bound { return point(s.ends[j]) }

func (s *sketch) cell(j int, m mass) { s.put(s.ends[j]+(s.ends[j+1]-s.ends[j])/2, m.p) }

func (s *sketch) atom(loss, p, _ bound) {
	if l := loss.mid(); finite(l) {
		s.put(l, p)
	}
}

func (s *sketch) outside(_, _ mass) {}

func (s *sketch) put(loss float64, p bound) {
	if m := p.lo; m > 0 { // a lower bound of 0 means that p is small and hardly known, so it is left out
		s.loss = append(s.loss, loss)
		s.weight = append(s.weight, math.Log(m))
	}
}

// moments returns ln Σ p·e^(λl) over the points, where p is the weight of a point and l its loss. It also returns
// the mean and the variance of l under the weights p·e^(λl).
func (s *sketch) moments(lambda float64) (cumulant, mean, variance float64) {
	top, peak := math.Inf(-1), 0.0
	for i, l := range s.loss {
		if y := s.weight[i] + lambda*l; y > top {
			top, peak = y, l
		}
	}
	if math.IsInf(top, 0) {
		return 0, 0, 0
	}
	var sum, first, second float64
	for i, l := range s.loss {
		y := s.weight[i] + lambda*l - top
		if y < -60 {
			continue
		}
		w := math.Exp(y)
		sum += w
		first += w * (l - peak)
		second += w * (l - peak) * (l - peak)
	}
	mean = first / sum
	return top + math.Log(sum), peak + mean, max(0, second/sum-mean*mean)
}

// cut returns the range of losses that a lattice must cover. Let p be the weight of a point and l its loss. About
// the share `tilted` of the weights p·e^(λl) is to the left of low. About the share `plain` of the weights p is to
// the right of high. The part to the right is moved to +∞, which adds about as much to δ.
func (s *sketch) cut(lambda, tilted, plain float64) (low, high float64) {
	cumulant, _, _ := s.moments(lambda)
	low, high = math.Inf(1), math.Inf(-1)
	logTilted, logPlain := math.Log(tilted), math.Log(plain)
	for i, l := range s.loss {
		if s.weight[i]+lambda*l-cumulant > logTilted {
			low = min(low, l)
		}
		if s.weight[i] > logPlain {
			high = max(high, l)
		}
	}
	low = min(low, high)
	// Each point stands for a whole cell, so the range is extended by cells.
	for j := range s.cells() {
		if s.ends[j] <= low && low <= s.ends[j+1] {
			low = s.ends[max(0, j-1)]
			break
		}
	}
	for j := s.cells() - 1; j >= 0; j-- {
		if s.ends[j] <= high && high <= s.ends[j+1] {
			high = s.ends[min(s.cells(), j+2)]
			break
		}
	}
	return low, high
}
