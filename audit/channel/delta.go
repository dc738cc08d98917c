package channel

import (
	"errors"
	"math"
	"math/big"

	"dither/internal/expsum"
)

// Excess is the δ of a mechanism at some ε: the most by which the probability of an event under an input can exceed
// e^ε times its probability under an adjacent one.
type Excess struct {
	Lower, Upper    float64 // δ is between them, ends included
	Exact           string  // δ, where it has a short text
	Input, Neighbor string  // where it is attained; "" if no two inputs are adjacent
	Row, Beside     int     // their places, from 0
	Outputs         []int   // the event, as places from 0: all outputs that are more than e^ε times as probable

	number *expsum.Number // δ; nil if bounds alone are known
	event  event
}

// Delta is the smallest δ for which m is (ε, δ)-differentially private under an adjacency: the largest, over ordered
// pairs of adjacent inputs, of
//
//	Σ_y max(0, P(y|x) − e^ε·P(y|x′)),
//
// since of all events the sum over the outputs where the summand is positive is the largest [Dwork & Roth 2014,
// Definition 2.4; the hockey-stick divergence]. At ε = 0 it is the total variation distance.
//
// It takes time in proportion to pairs × outputs: ErrWork beyond 2³⁰ of them, or 2²⁵ ordered pairs. All pairs
// are first looked at in floats, whose error is bounded; those that may be the largest by that bound are compared
// exactly. Only where they are very many the two bounds differ by that error, of some 10⁻¹³.
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

// Limit is the δ that remains however large ε is: the largest probability, over ordered pairs of adjacent inputs, of
// the outputs that are impossible under the other. It is 0 if and only if m is ε-differentially private for some ε.
// The rest is as in Delta.
func (m *Matrix) Limit(a Adjacency) (Excess, error) {
	s := stick{m: m, work: question(), lower: math.Inf(1), upper: math.Inf(1), room: maxExact, looks: maxLooks}
	return s.largest(a)
}

// largest is the largest sum, and where.
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
	a.each(s.m, func(x, beside int) { // computed a second time rather than kept: there may be millions
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

// reached is the sum of one event.
type reached struct {
	event
	number       *expsum.Number // nil if it is too large to compute with
	lower, upper float64
}

// over reports that r is larger than o.
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

// excess is what is told of the largest sum.
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

// bounded is the answer where too many sums may be the largest: one of them is a lower bound, and floats give the upper
// one.
func (s *stick) bounded(best *reached, top float64) (Excess, error) {
	x := s.excess(best)
	x.number, x.Exact = nil, ""
	x.Upper = max(x.Upper, math.Nextafter(top+s.slack(), 2))
	return x, nil
}

// errMany reports that too many sums would be compared exactly.
var errMany = errors.New("too many candidates")
