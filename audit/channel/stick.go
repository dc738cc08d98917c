package channel

import (
	"math"
	"slices"

	"dither/internal/exact"
	"dither/internal/expsum"
)

// stick computes Σ_y max(0, p − c·q) of pairs of rows.
type stick struct {
	m            *Matrix
	work         *expsum.Work
	c            *expsum.Number      // e^ε; nil is larger than any
	lower, upper float64             // around it
	sides        map[[2]int32]bool   // whether p > c·q, of values that floats cannot tell
	known        map[string]*reached // by the values of the event
	room         int                 // for summands that are added exactly
	looks        int                 // at entries of pairs, to tell whether their sum is known
	undecided    bool                // two sums could not be compared exactly
}

// event is the pair of rows and its outputs y with p > c·q.
type event struct {
	row, beside int
	outputs     []int
}

// mostFactor bounds the floats that take the place of c: times the least positive float it stays far below the error
// that is allowed for.
const mostFactor = 0x1p1000

// rough is Σ_y max(0, p − c·q) in floats. Its error is at most slack.
func (s *stick) rough(p, q []float64) float64 {
	c := min(s.lower, mostFactor)
	sum := 0.
	for i, x := range p {
		t := x - c*q[i]
		sum += t + math.Abs(t) // 2t or 0, exactly, and without a branch
	}
	return sum / 2
}

// slack bounds the error of rough, where c ≤ mostFactor. Let u = 2⁻⁵³. The floats of p, q and c are those next
// below them, and so within 4u of them, relatively: no value is kept, and no c taken, of which that is not certain. If
// c·q < 2p, the float of a summand is off by at most 20u·p for c·q, 4u·p for p and 2u·p for the subtraction; if
// c·q ≥ 2p, both summands are 0. As Σp = 1 that is 26u in all; adding n numbers whose sum is at most 1 + 26u costs
// n·u(1 + 26u) more; and what underflows, n·2⁻⁷³. The bound has twice the room. ∎
//
// Where c is larger than mostFactor, rough is of a smaller c: it is too large, if anything.
func (s *stick) slack() float64 { return float64(len(s.m.outputs)+32) * 0x1p-52 }

// How many summands are added up exactly, and at how many entries is looked to tell which.
const (
	maxExact = 1 << 22
	maxLooks = 1 << 26
)

// reach is the exact sum of a pair of rows.
func (s *stick) reach(row, beside int) (*reached, error) {
	e := event{row: row, beside: beside}
	var key []int64
	columns := len(s.m.outputs)
	if s.looks -= columns; s.looks < 0 && len(s.known) > 0 {
		return nil, errMany
	}
	ps, qs := s.m.cells[row*columns:][:columns], s.m.cells[beside*columns:][:columns]
	for y, p := range ps {
		q := qs[y]
		if p == q { // c ≥ 1
			continue
		}
		positive, err := s.positive(p, q)
		if err != nil {
			return nil, err
		}
		if positive {
			e.outputs = append(e.outputs, y)
			key = append(key, int64(p)<<32|int64(q))
		}
	}
	form := s.form(key)
	if r, ok := s.known[form]; ok {
		return r, nil
	}
	if s.room -= len(e.outputs) + 1; s.room < 0 && len(s.known) > 0 {
		return nil, errMany
	}
	w, err := s.m.weigh(s.work, e)
	if err != nil {
		return nil, err
	}
	r := &reached{event: e}
	if r.number, err = w.over(s.work, s.c); err == nil {
		r.lower, r.upper, err = s.work.Floats(r.number)
	} else {
		r.lower, r.upper, err = w.bounds(s.work, s.c)
	}
	if err != nil {
		return nil, err
	}
	s.known[form] = r
	return r, nil
}

// form is the same for two lists of summands if and only if one is a permutation of the other.
func (s *stick) form(summands []int64) string {
	if n := int64(len(s.m.values)); n <= fewValues {
		counts := make([]int64, n*n)
		for _, k := range summands {
			counts[k>>32*n+k&math.MaxUint32]++
		}
		return packed(counts)
	}
	slices.Sort(summands)
	return packed(summands)
}

// fewValues is up to how many values the summands are counted rather than sorted.
const fewValues = 16

// positive reports p > c·q.
func (s *stick) positive(p, q int32) (bool, error) {
	x, y := &s.m.values[p], &s.m.values[q]
	switch {
	case x.upper < y.lower: // as most are: c ≥ 1
		return false, nil
	case y.upper == 0:
		return x.upper > 0, nil
	case x.lower > exact.MulUp(s.upper, y.upper):
		return true, nil
	case x.upper < exact.MulDown(s.lower, y.lower), s.c == nil:
		return false, nil
	}
	if known, ok := s.sides[[2]int32{p, q}]; ok {
		return known, nil
	}
	product, err := s.work.Mul(s.c, y.number)
	if err != nil {
		return false, err
	}
	order, err := s.work.Cmp(x.number, product)
	s.sides[[2]int32{p, q}] = order > 0
	return order > 0, err
}
