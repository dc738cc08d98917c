package estimate

import (
	"math"
	"slices"
)

// spread collects [drawsFor] draws and computes their standard deviation and the interval that excludes a fraction
// alpha of them, half at each end. It stores only the draws near the ends, because a matrix has thousands of
// entries with as many draws each. A draw that is NaN or infinite counts as excluded at both ends.
type spread struct {
	beyond        int  // number of draws to exclude at each end if all are finite
	low, high     tail // of the draws, and of their negatives
	none, n       int
	mean, squares float64
}

func newSpread(alpha float64) *spread {
	beyond := int(math.Floor(alpha / 2 * float64(drawsFor(alpha)+1)))
	return &spread{beyond: beyond, low: newTail(beyond), high: newTail(beyond)}
}

func newSpreads(n int, alpha float64) []*spread {
	out := make([]*spread, n)
	for i := range out {
		out[i] = newSpread(alpha)
	}
	return out
}

func (s *spread) add(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s.none++
		return
	}
	s.n++
	d := x - s.mean
	s.mean += d / float64(s.n)
	s.squares += d * (x - s.mean)
	s.low.add(x)
	s.high.add(-x)
}

// interval returns the draws' standard deviation and their interval. The interval is unbounded if fewer than 10
// finite draws lie beyond an end.
func (s *spread) interval() (deviation, low, high float64) {
	out := s.beyond - s.none
	if out < 10 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	return math.Sqrt(s.squares / float64(s.n)), s.low.at(out), -s.high.at(out)
}

// tail stores the smallest of the numbers that are added to it, at most `keep` of them.
type tail struct {
	keep   int
	values []float64
	most   float64 // largest number kept, or +∞ until enough numbers have been added
}

func newTail(keep int) tail { return tail{keep: keep, most: math.Inf(1)} }

func (t *tail) add(x float64) {
	if x >= t.most || t.keep < 1 {
		return
	}
	if t.values = append(t.values, x); len(t.values) == 2*t.keep {
		slices.Sort(t.values)
		t.values = t.values[:t.keep]
		t.most = t.values[t.keep-1]
	}
}

// at returns the n-th smallest number, counting from 1.
func (t *tail) at(n int) float64 {
	slices.Sort(t.values)
	return t.values[n-1]
}
