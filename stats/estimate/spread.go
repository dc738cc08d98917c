package estimate

import (
	"math"
	"slices"
)

// spread is where drawsFor draws lie: their deviation, and the interval that leaves alpha of them out, half at each
// end. Of the draws it keeps those about its ends alone, since a matrix has thousands of entries with as many draws
// each. A draw that is no number counts at both ends.
type spread struct {
	beyond        int  // so many are left out at each end, if all are numbers
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

// interval is the draws' deviation, and their interval: open where too many are no numbers, or alpha is such that too
// few draws tell it.
func (s *spread) interval() (deviation, low, high float64) {
	out := s.beyond - s.none
	if out < 10 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	return math.Sqrt(s.squares / float64(s.n)), s.low.at(out), -s.high.at(out)
}

// tail keeps the least of many numbers.
type tail struct {
	keep   int
	values []float64
	most   float64 // of those that are kept, once there are enough
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

// at is the n-th least, from 1.
func (t *tail) at(n int) float64 {
	slices.Sort(t.values)
	return t.values[n-1]
}
