package channel

import (
	"math"

	"dither/internal/exact"
	"dither/internal/expsum"
)

// Loss is the smallest ε that a mechanism keeps, or the fact that it keeps none.
type Loss struct {
	Lower, Upper float64 // ε lies in [Lower, Upper]; both are +Inf if there is no ε
	// Exact is ε as a formula: "1", "ln 3", "1/2 + ln 3". It is "" if the formula would be long, or if no ε exists.
	Exact   string
	Ratio   Bounds  // e^ε
	Witness Witness // where ε is attained: P(Output | Input) = e^ε·P(Output | Neighbor)

	ratio *expsum.Number // e^ε; nil if there is no ε
}

// Private reports whether the mechanism keeps any ε.
func (l Loss) Private() bool { return l.ratio != nil }

// Exponent returns the exact ε, as an argument of [Matrix.Delta]. ok is false if there is no ε.
func (l Loss) Exponent() (e Exponent, ok bool) { return Exponent{l.ratio}, l.ratio != nil }

// Witness is an output and two adjacent inputs with the largest ratio of the output's probabilities.
type Witness struct {
	Input, Neighbor, Output string  // their names
	Row, Beside, Column     int     // rows of Input and Neighbor, and column of Output, from 0
	P, Q                    string  // P(Output | Input) and P(Output | Neighbor), exactly
	PValue, QValue          float64 // the floats just above P and Q
}

// Epsilon returns the smallest ε for which m is ε-differentially private under an adjacency, exactly. If an output
// is possible under one input and impossible under an adjacent one, there is no such ε. The witness is then the
// most probable such output. ε is 0 if all adjacent rows are equal, and if no rows are adjacent.
//
// For all pairs, Epsilon compares the largest and the smallest entry of every column. For listed pairs, it compares
// every pair in every column. It returns ErrMatrix if the adjacency contains a row that does not exist, ErrWork if
// there are too many pairs, and an error of package expsum if entries cannot be compared exactly.
func (m *Matrix) Epsilon(a Adjacency) (Loss, error) {
	if err := a.check(m); err != nil {
		return Loss{}, err
	}
	s := search{m: m, work: question(), ratio: one(), lower: 1, upper: 1, seen: map[[2]int32]bool{}}
	if !a.listed {
		for column := range m.outputs {
			most, least, err := m.extremes(s.work, column)
			if err != nil {
				return Loss{}, err
			}
			if err := s.try(most, least, column); err != nil {
				return Loss{}, err
			}
		}
		return s.loss()
	}
	if len(a.pairs) > maxListed/len(m.outputs) {
		return Loss{}, tooMuch(len(a.pairs), len(m.outputs), maxListed)
	}
	for _, p := range a.pairs {
		for column := range m.outputs {
			if err := s.try(p[0], p[1], column); err != nil {
				return Loss{}, err
			}
			if err := s.try(p[1], p[0], column); err != nil {
				return Loss{}, err
			}
		}
	}
	return s.loss()
}

// extremes returns the rows of the largest and of the smallest entry of a column.
func (m *Matrix) extremes(w *expsum.Work, column int) (most, least int, err error) {
	for row := range m.inputs {
		more, err := m.compare(w, m.id(row, column), m.id(most, column))
		if err != nil {
			return 0, 0, err
		}
		less, err := m.compare(w, m.id(row, column), m.id(least, column))
		if err != nil {
			return 0, 0, err
		}
		if more > 0 {
			most = row
		}
		if less < 0 {
			least = row
		}
	}
	if most == least && len(m.inputs) > 1 { // all entries are equal: any two rows serve
		least = (most + 1) % len(m.inputs)
	}
	return most, least, nil
}

// compare returns the order of two values: −1, 0 or 1.
func (m *Matrix) compare(w *expsum.Work, a, b int32) (int, error) {
	x, y := m.values[a], m.values[b]
	switch {
	case a == b:
		return 0, nil
	case x.upper < y.lower:
		return -1, nil
	case x.lower > y.upper:
		return 1, nil
	}
	return w.Cmp(x.number, y.number)
}

// search holds the largest ratio of two entries found so far, with floats around it. A nil ratio is infinite.
type search struct {
	m            *Matrix
	work         *expsum.Work
	ratio        *expsum.Number
	lower, upper float64
	seen         map[[2]int32]bool // pairs of values that were compared
	found        bool
	at           [3]int // row, adjacent row and column of the largest ratio
}

// try compares P(column | row)/P(column | beside) with the largest ratio so far, and keeps the larger one.
func (s *search) try(row, beside, column int) error {
	ids := [2]int32{s.m.id(row, column), s.m.id(beside, column)}
	p, q := s.m.values[ids[0]], s.m.values[ids[1]]
	switch {
	case ids[0] == ids[1] && s.found, s.ratio != nil && s.found && q.lower > 0 &&
		exact.DivUp(p.upper, q.lower) < s.lower, s.seen[ids]:
		return nil
	}
	at := [3]int{row, beside, column}
	if q.upper == 0 { // q is 0, because a positive number has a positive upper bound
		if p.upper == 0 {
			return nil
		}
		likelier := s.ratio != nil
		if !likelier {
			order, err := s.m.compare(s.work, ids[0], s.m.id(s.at[0], s.at[2]))
			if err != nil {
				return err
			}
			likelier = order > 0
		}
		s.seen[ids] = true
		if likelier {
			s.ratio, s.lower, s.upper, s.found, s.at = nil, math.Inf(1), math.Inf(1), true, at
		}
		return nil
	}
	if s.ratio == nil {
		return nil
	}
	s.seen[ids] = true
	ratio, err := s.work.Quo(p.number, q.number)
	if err != nil {
		return err
	}
	order, err := s.work.Cmp(ratio, s.ratio)
	if err != nil {
		return err
	}
	if order > 0 || order == 0 && !s.found {
		if s.lower, s.upper, err = s.work.Floats(ratio); err != nil {
			return err
		}
		s.ratio, s.found, s.at = ratio, true, at
	}
	return nil
}

func (s *search) loss() (Loss, error) {
	l := Loss{
		Lower: math.Inf(1), Upper: math.Inf(1), Ratio: Bounds{Lower: math.Inf(1), Upper: math.Inf(1)},
		ratio: s.ratio,
	}
	if s.found {
		p, q := s.m.value(s.at[0], s.at[2]), s.m.value(s.at[1], s.at[2])
		l.Witness = Witness{
			Input: s.m.inputs[s.at[0]], Neighbor: s.m.inputs[s.at[1]], Output: s.m.outputs[s.at[2]],
			Row: s.at[0], Beside: s.at[1], Column: s.at[2],
			P: p.number.String(), Q: q.number.String(), PValue: p.upper, QValue: q.upper,
		}
	}
	if s.ratio == nil {
		return l, nil
	}
	var err error
	if l.Lower, l.Upper, err = s.work.Log(s.ratio); err != nil {
		return Loss{}, err
	}
	l.Exact, l.Ratio = logText(s.ratio), Bounds{s.lower, s.upper, short(s.ratio)}
	return l, nil
}

// logText returns ln x as a formula, or "" if the formula would be long.
func logText(x *expsum.Number) string {
	if x.Terms() > shown || x.Words() > shown {
		return ""
	}
	text, ok := x.LogText()
	if !ok {
		text = "ln(" + x.String() + ")"
	}
	if len(text) > shown {
		return ""
	}
	return text
}
