package channel

import (
	"math/big"

	"dither/internal/exact"
	"dither/internal/expsum"
)

// Guess is the most certain guess: the output and the input with the largest posterior probability of the input
// given the output. If several are equally probable, or equal in the first 50 digits, it is the first of them.
type Guess struct {
	Input, Output string
	Row, Column   int    // row of Input and column of Output, from 0
	Before, After Bounds // the probability of Input: π(x) without the output, and π(x)·P(y|x)/P(y) with it
}

// surest returns the most certain guess. Its After contains the largest of all posterior probabilities.
func (m *Matrix) surest(w *expsum.Work, pi *Matrix) (g Guess, err error) {
	// largest holds, for each output, an upper bound on its largest posterior probability. floor is a lower bound
	// on the largest posterior probability over all outputs.
	largest, floor := make([]float64, len(m.outputs)), 0.
	for y := range m.outputs {
		least, most := m.roughly(pi, y)
		largest[y], floor = most, max(floor, least)
	}
	joint := joints{}
	var best, upper exact.Interval
	found := false
	for y := range m.outputs {
		if largest[y] < floor {
			continue
		}
		row, p, err := m.posterior(w, joint, pi, y)
		switch {
		case err != nil:
			return g, err
		case row < 0: // the output is impossible
			continue
		case !found || p.Lo().Cmp(best.Hi()) > 0:
			best, g.Row, g.Column = p, row, y
		}
		if !found || p.Hi().Cmp(upper.Hi()) > 0 {
			upper = p
		}
		found = true
	}
	g.Input, g.Output = m.inputs[g.Row], m.outputs[g.Column]
	g.After.Lower, _ = best.Floats()
	_, g.After.Upper = upper.Floats()
	g.After.Lower, g.After.Upper = max(g.After.Lower, 0), min(g.After.Upper, 1)
	before, err := amountOf(w, pi.value(0, g.Row).number)
	if err == nil {
		g.Before, err = before.bounds(w)
	}
	return g, err
}

// roughly returns bounds on the largest posterior probability for an output, in floats.
func (m *Matrix) roughly(pi *Matrix, y int) (least, most float64) {
	lower, upper, low, high := 0., 0., 0., 0. // floats around P(y), and around the largest π(x)·P(y|x)
	for x := range m.inputs {
		p, q := pi.value(0, x), m.value(x, y)
		l, h := exact.MulDown(p.lower, q.lower), exact.MulUp(p.upper, q.upper)
		lower, upper = exact.AddDown(lower, l), exact.AddUp(upper, h)
		low, high = max(low, l), max(high, h)
	}
	switch {
	case upper == 0: // the output is impossible
		return 0, 0
	case lower == 0: // P(y) is too small for floats
		return 0, 1
	}
	return min(exact.DivDown(low, upper), 1), min(exact.DivUp(high, lower), 1)
}

// joints caches the products π(x)·P(y|x), by the indices of their factors.
type joints map[[2]int32]exact.Interval

func (j joints) of(w *expsum.Work, pi, m *Matrix, ids [2]int32) (exact.Interval, error) {
	if x, ok := j[ids]; ok {
		return x, nil
	}
	product, err := w.Mul(pi.values[ids[0]].number, m.values[ids[1]].number)
	if err != nil {
		return exact.Interval{}, err
	}
	x, err := w.Interval(product, amountDigits)
	if err == nil {
		j[ids] = x
	}
	return x, err
}

// posterior returns the input with the largest posterior probability given an output, and this probability. row is
// −1 if the output is impossible.
func (m *Matrix) posterior(w *expsum.Work, joint joints, pi *Matrix, y int) (row int, p exact.Interval, err error) {
	// how often each product occurs, and one row for each different product
	counts, order := map[[2]int32]int64{}, []int{}
	possible := 0
	for x := range m.inputs {
		prior, q := pi.value(0, x), m.value(x, y)
		if prior.number.IsZero() || q.number.IsZero() {
			continue
		}
		possible++
		ids := [2]int32{pi.id(0, x), m.id(x, y)}
		if counts[ids]++; counts[ids] == 1 {
			order = append(order, x)
		}
	}
	total, row := exact.IntervalOf(new(big.Rat), amountDigits), -1
	var most exact.Interval
	for _, x := range order {
		ids := [2]int32{pi.id(0, x), m.id(x, y)}
		summand, err := joint.of(w, pi, m, ids)
		if err != nil {
			return -1, p, err
		}
		if row < 0 || summand.Lo().Cmp(most.Hi()) > 0 {
			row, most = x, summand
		}
		if n := counts[ids]; n > 1 {
			summand = summand.Mul(exact.IntervalOf(big.NewRat(n, 1), amountDigits))
		}
		total = total.Add(summand)
	}
	switch possible {
	case 0:
		return -1, p, nil
	case 1:
		return row, exact.IntervalOf(big.NewRat(1, 1), amountDigits), nil
	}
	return row, most.Quo(total), nil
}
