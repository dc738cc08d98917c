package channel

import (
	"errors"
	"math"
	"math/big"

	"dither/internal/expsum"
)

// Excess is the δ of a mechanism at some ε: the largest amount by which the probability of an event under one input
// exceeds e^ε times its probability under an adjacent input.
type Excess struct {
	Lower, Upper    float64 // δ lies in [Lower, Upper]
	Exact           string  // δ as a text, or "" if the text would be long
	Input, Neighbor string  // inputs that attain δ; "" if no two inputs are adjacent
	Row, Beside     int     // rows of Input and Neighbor, from 0
	// the event, as columns from 0: all outputs more than e^ε times as probable under Input as under Neighbor
	Outputs []int

	number *expsum.Number // δ; nil if only its bounds are known
	event  event
}

// Delta returns the smallest δ for which m is (ε, δ)-differentially private under an adjacency. It is the largest
// value, over ordered pairs x, x′ of adjacent inputs, of
//
//	Σ_y max(0, P(y|x) − e^ε·P(y|x′)).
//
// The reason is that P(S|x) − e^ε·P(S|x′) is largest for the event S of all outputs with a positive summand [Dwork
// & Roth 2014, Definition 2.4]. The sum is the hockey-stick divergence. At ε = 0 it is the total variation
// distance.
//
// The time is proportional to pairs × outputs. Delta returns [ErrWork] if this product exceeds 2³⁰, or if there are
// more than 2²⁵ ordered pairs. It first computes the sum of every pair in floats, with a proved error bound. Then
// it computes exactly the sums that may be the largest within that error. If there are too many of these, the
// result is not exact: its two bounds differ by the error of the floats, about 10⁻¹³.
func (m *Matrix) Delta(a Adjacency, e Exponent) (Excess, error) {
	return m.delta(question(), a, e)
}

func (m *Matrix) delta(work *expsum.Work, a Adjacency, e Exponent) (x Excess, err error) {
	s := stick{m: m, work: work, c: e.power(), room: maxExact, looks: maxLooks}
	if s.lower, s.upper, err = work.Floats(s.c); err != nil {
		return x, err
	}
	return s.largest(a)
}

// Limit returns the δ that remains however large ε is: the largest probability, over ordered pairs of adjacent
// inputs, of the outputs that are possible under the first and impossible under the second. It is 0 if and only if
// m is ε-differentially private for some ε. Limits and errors are those of [Matrix.Delta].
func (m *Matrix) Limit(a Adjacency) (Excess, error) {
	s := stick{m: m, work: question(), lower: math.Inf(1), upper: math.Inf(1), room: maxExact, looks: maxLooks}
	return s.largest(a)
}

// largest returns the largest sum of [stick] over all ordered pairs of adjacent rows, and the event that attains
// it.
func (s *stick) largest(a Adjacency) (Excess, error) {
	if err := a.check(s.m); err != nil {
		return Excess{}, err
	}
	if pairs := a.count(s.m); pairs > min(maxWork/len(s.m.outputs), maxPairs) {
		return Excess{}, tooMuch(pairs, len(s.m.outputs), maxWork)
	}
	floats := s.m.floats()
	row := func(i int) []float64 { return floats[i*len(s.m.outputs):][:len(s.m.outputs)] }
	top := 0.
	a.each(s.m, func(x, beside int) { top = max(top, s.rough(row(x), row(beside))) })
	floor := top - 2*s.slack()
	if s.upper > mostFactor {
		floor = 0
	}
	s.known, s.sides = map[string]*reached{}, map[[2]int32]bool{}
	var failed error
	var best *reached
	a.each(s.m, func(x, beside int) { // computed again instead of stored, because there may be millions of sums
		if failed != nil || s.rough(row(x), row(beside)) < floor {
			return
		}
		r, err := s.reach(x, beside)
		if err == nil && s.over(r, best) {
			best, floor = r, max(floor, r.lower-s.slack())
		}
		failed = err
	})
	switch {
	case errors.Is(failed, errMany):
		return s.bounded(best, top)
	case failed != nil:
		return Excess{}, failed
	case best == nil: // no two inputs are adjacent
		return Excess{Exact: "0", number: expsum.Rat(new(big.Rat))}, nil
	}
	found := s.excess(best)
	if found.number == nil || s.undecided {
		found.number, found.Exact = nil, ""
		for _, r := range s.known {
			found.Upper = max(found.Upper, r.upper)
		}
	}
	return found, nil
}

// reached is an event S with its value P(S|x) − c·P(S|x′), for rows x and x′ and the factor c of [stick].
type reached struct {
	event
	number       *expsum.Number // nil if it is too large to compute with
	lower, upper float64
}

// over reports whether the value of r is larger than that of o. If exact comparison is too expensive, it sets
// s.undecided and compares lower bounds.
func (s *stick) over(r, o *reached) bool {
	switch {
	case o == nil || r.lower > o.upper:
		return true
	case r.upper < o.lower || r == o:
		return false
	case r.number != nil && o.number != nil:
		if order, err := s.work.Cmp(r.number, o.number); err == nil {
			return order > 0
		}
	}
	s.undecided = true
	return r.lower > o.lower
}

// excess returns the public form of the largest sum.
func (s *stick) excess(r *reached) Excess {
	x := Excess{
		Lower: r.lower, Upper: r.upper, number: r.number, event: r.event,
		Input: s.m.inputs[r.row], Neighbor: s.m.inputs[r.beside], Row: r.row, Beside: r.beside, Outputs: r.outputs,
	}
	if r.number != nil {
		x.Exact = short(r.number)
	}
	return x
}

// bounded returns the result if too many sums may be the largest. The lower bound is one of these sums, and the
// upper bound comes from floats.
func (s *stick) bounded(best *reached, top float64) (Excess, error) {
	x := s.excess(best)
	x.number, x.Exact = nil, ""
	x.Upper = max(x.Upper, math.Nextafter(top+s.slack(), 2))
	return x, nil
}

// errMany reports that there are too many sums to compare exactly.
var errMany = errors.New("too many candidates")
