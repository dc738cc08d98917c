package channel

import (
	"math"
	"slices"

	"dither/internal/exact"
	"dither/internal/expsum"
)

// stick computes the sums Σ_y max(0, p − c·q) for pairs of rows, where p and q are the rows' entries in column y
// and c is e^ε.
type stick struct {
	m            *Matrix
	work         *expsum.Work
	c            *expsum.Number      // e^ε; nil stands for infinity
	lower, upper float64             // floats below and above c
	sides        map[[2]int32]bool   // whether p > c·q, for pairs of values that floats could not decide
	known        map[string]*reached // known sums, by a key of their summands (the method form)
	room         int                 // how many summands may still be added exactly
	looks        int                 // how many entries of pairs may still be read
	undecided    bool                // whether two sums could not be compared exactly
}

// event is a pair of rows with the set of outputs y for which p > c·q, where p and q are the rows' entries in
// column y.
type event struct {
	row, beside int
	outputs     []int
}

// mostFactor is the largest float that [stick.rough] uses for the factor c = e^ε. Times the smallest positive
// float, it is still far below the error that [stick.slack] allows.
const mostFactor = 0x1p1000

// rough returns Σ_y max(0, p − c·q), computed in floats, where p and q are the entries of two rows in column y. Its
// error is at most s.slack().
func (s *stick) rough(p, q []float64) float64 {
	c := min(s.lower, mostFactor)
	sum := 0.
	for i, x := range p {
		t := x - c*q[i]
		sum += t + math.Abs(t) // this adds exactly 2t or 0, without a branch
	}
	return sum / 2
}

// slack returns a bound on the error of [stick.rough], for c ≤ mostFactor.
//
// Proof. Let u = 2⁻⁵³. The floats of p, q and c are the floats just below them, so their relative error is at most
// 4u: a number for which this is uncertain is refused earlier. If c·q ≥ 2p, both the exact and the computed summand
// vanish. If c·q < 2p, a summand's error is at most 20u·p from c·q, 4u·p from p, and 2u·p from the subtraction. The
// p sum to 1, so all summands together are off by at most 26u. Adding n numbers whose sum is at most 1 + 26u costs
// at most n·u(1 + 26u) more. Underflow costs at most n·2⁻⁷³. The returned bound is twice as large as needed. ∎
//
// If c is larger than mostFactor, rough uses mostFactor in its place. Its result is then an upper bound on the sum,
// up to the same error.
func (s *stick) slack() float64 { return float64(len(s.m.outputs)+32) * 0x1p-52 }

// Limits of exact comparison: the summands that are added exactly, and the entries that are read to find them.
const (
	maxExact = 1 << 22
	maxLooks = 1 << 26
)

// reach returns the exact sum of [stick] for a pair of rows, with the event that attains it. It returns errMany if
// a limit is exceeded.
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
		if p == q { // the summand is not positive, because c ≥ 1
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

// form returns a map key. Two lists of summands have the same key if and only if one is a permutation of the other.
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

// fewValues is the largest number of values for which [stick.form] counts the summands instead of sorting them.
const fewValues = 16

// positive reports whether p > c·q for two values of entries, given by their indices.
func (s *stick) positive(p, q int32) (bool, error) {
	x, y := &s.m.values[p], &s.m.values[q]
	switch {
	case x.upper < y.lower: // the most frequent case; it suffices because c ≥ 1
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
