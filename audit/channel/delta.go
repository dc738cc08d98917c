package channel

import (
	"errors"
	"math"
	"math/big"

	"dither/internal/expsum"
)

// Excess is the δ of a mechanism at some ε: how much more probable an event can be under an input than e^ε times what it is under an adjacent one.
type Excess struct {
	Lower, Upper    float64 // δ is between them, ends included
	Exact           string  // δ, where it has a short text
	Input, Neighbor string  // where it is attained; "" where no two inputs are adjacent
	Row, Beside     int     // their places, from 0
	Outputs         []int   // the event, as places from 0: all outputs that are more than e^ε times as probable

	number *expsum.Number // δ; nil where bounds alone are known
	event  event
}

// Delta is the smallest δ for which m is (ε, δ)-differentially private under an adjacency: the largest, over ordered pairs of adjacent inputs, of
//
//	Σ_y max(0, P(y|x) − e^ε·P(y|x′)),
//
// since of all events the sum over the outputs where the summand is positive is the largest [Dwork & Roth 2014, Definition 2.4; the
// hockey-stick divergence]. At ε = 0 it is the total variation distance.
//
// It takes time in proportion to pairs × outputs: ErrWork beyond 2³² of them. All pairs are first looked at in floats, whose error is bounded; those
// that may be the largest by that bound are compared exactly. Only where they are very many the two bounds differ by that error, of some 10⁻¹³.
func (m *Matrix) Delta(a Adjacency, e Exponent) (Excess, error) {
	s := stick{m: m, c: e.power(), room: maxExact}
	s.lower, s.upper = s.c.Floats()
	return s.largest(a)
}

// Limit is the δ that is left however large ε is: the largest probability, over ordered pairs of adjacent inputs, of the outputs that are impossible under
// the other. It is 0 if and only if m is ε-differentially private for some ε. Otherwise as Delta.
func (m *Matrix) Limit(a Adjacency) (Excess, error) {
	s := stick{m: m, lower: math.Inf(1), upper: math.Inf(1), room: maxExact}
	return s.largest(a)
}

// largest is the largest sum, and where.
func (s *stick) largest(a Adjacency) (Excess, error) {
	if err := a.check(s.m); err != nil {
		return Excess{}, err
	}
	if pairs := a.count(s.m); pairs > maxWork/len(s.m.outputs) {
		return Excess{}, tooMuch(pairs, len(s.m.outputs))
	}
	floats := s.m.floats()
	row := func(i int) []float64 { return floats[i*len(s.m.outputs):][:len(s.m.outputs)] }
	roughly, top := make([]float64, 0, a.count(s.m)), 0.
	a.each(s.m, func(x, beside int) {
		r := s.rough(row(x), row(beside))
		roughly, top = append(roughly, r), max(top, r)
	})
	floor := top - 2*s.slack()
	if s.upper > mostFactor {
		floor = 0
	}
	s.known, s.sides = map[string]*reached{}, map[[2]int32]bool{}
	var failed error
	best, i := (*reached)(nil), -1
	a.each(s.m, func(x, beside int) {
		i++
		if failed != nil || roughly[i] < floor {
			return
		}
		r, err := s.reach(x, beside)
		if err == nil && s.over(r, best) {
			best = r
		}
		failed = err
	})
	switch {
	case errors.Is(failed, errMany):
		return s.bounded(top)
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
	number       *expsum.Number // nil where it is too large to compute with
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
		if order, err := r.number.Cmp(o.number); err == nil {
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
		if text := r.number.String(); len(text) <= shown {
			x.Exact = text
		}
	}
	return x
}

// bounded is the answer where too many sums may be the largest: one of them is a lower bound, and floats give the upper one.
func (s *stick) bounded(top float64) (Excess, error) {
	var best *reached
	for _, r := range s.known {
		if best == nil || r.lower > best.lower {
			best = r
		}
	}
	x := s.excess(best)
	x.number, x.Exact = nil, ""
	x.Upper = max(x.Upper, math.Nextafter(top+s.slack(), 2))
	return x, nil
}

// errMany reports that too many sums would be compared exactly.
var errMany = errors.New("too many candidates")
