package channel

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/expsum"
)

// Leakage is what one output tells somebody who knows how inputs are distributed, goes by Bayes' rule, and then guesses the input once [Smith 2009; Braun,
// Chatzikokolakis & Palamidessi 2009]: Bayes vulnerability, before and after.
type Leakage struct {
	Before Bounds // the probability of guessing right without an output: max_x π(x)
	After  Bounds // with one: Σ_y max_x π(x)·P(y|x)

	Multiplicative Bounds // After/Before; its binary logarithm is min-entropy leakage, in bits
	Additive       Bounds // After − Before
	Capacity       Bounds // the largest After/Before of any prior: Σ_y max_x P(y|x), that of the uniform one

	Surest Guess
}

// Bounds are what is known of a number: it lies between them, ends included.
type Bounds struct {
	Lower, Upper float64
	Exact        string // the number, where it has a short text
}

// Guess is the guess that one can be the surest of: of all outputs the one, and of all inputs the one, with the largest
// probability of the input given the output.
type Guess struct {
	Input, Output string
	Row, Column   int    // their places, from 0
	Before, After Bounds // its probability: π(x), and π(x)·P(y|x)/P(y)
}

// Leakage tells it for a prior distribution of the inputs: a text for each, as the entries of New, that sum to 1 exactly; nil is the uniform one. Another
// prior is ErrMatrix. Errors are expsum's, too, where entries cannot be compared exactly.
//
// Where m keeps ε over all pairs, Capacity is at most e^ε, since max_x P(y|x) ≤ e^ε·min_x P(y|x), and the sum over y of the
// least entries is at most 1.
func (m *Matrix) Leakage(prior []string) (Leakage, error) {
	pi, err := m.prior(prior)
	if err != nil {
		return Leakage{}, err
	}
	uniform, err := m.prior(nil)
	if err != nil {
		return Leakage{}, err
	}
	first, err := pi.likeliest()
	if err != nil {
		return Leakage{}, err
	}
	l := Leakage{Before: amountOf(first).bounds()}
	after, err := m.guessed(pi)
	if err != nil {
		return Leakage{}, err
	}
	l.After = after.bounds()
	l.Multiplicative = after.over(amountOf(first)).bounds()
	l.Additive = after.less(amountOf(first)).bounds()
	if after, err = m.guessed(uniform); err != nil {
		return Leakage{}, err
	}
	l.Capacity = after.over(amountOf(uniform.values[0].number)).bounds()
	l.Surest = m.surest(pi)
	return l, nil
}

// prior is a matrix of one row.
func (m *Matrix) prior(texts []string) (*Matrix, error) {
	if texts == nil {
		texts = make([]string, len(m.inputs))
		for i := range texts {
			texts[i] = fmt.Sprintf("1/%d", len(texts))
		}
	}
	if len(texts) != len(m.inputs) {
		return nil, wrong("a prior of %d probabilities for %d inputs", len(texts), len(m.inputs))
	}
	b, err := newBuilder([]string{"of the prior"}, m.inputs, 1, len(texts))
	if err != nil {
		return nil, err
	}
	if err := b.row(texts, 0); err != nil {
		return nil, err
	}
	return b.matrix(false)
}

// likeliest is the largest entry of a prior.
func (m *Matrix) likeliest() (*expsum.Number, error) {
	best := m.cells[0]
	for _, id := range m.cells {
		order, err := m.compare(id, best)
		if err != nil {
			return nil, err
		}
		if order > 0 {
			best = id
		}
	}
	return m.values[best].number, nil
}

// guessed is Σ_y max_x π(x)·P(y|x).
func (m *Matrix) guessed(pi *Matrix) (amount, error) {
	total := amountOf(expsum.Rat(new(big.Rat)))
	products := map[[2]int32]*expsum.Number{}
	for y := range m.outputs {
		floor := 0.
		for x := range m.inputs {
			floor = max(floor, exact.MulDown(pi.value(0, x).lower, m.value(x, y).lower))
		}
		var best *expsum.Number
		tried := map[[2]int32]bool{}
		for x := range m.inputs {
			ids := [2]int32{pi.id(0, x), m.id(x, y)}
			if tried[ids] || exact.MulUp(pi.value(0, x).upper, m.value(x, y).upper) < floor {
				continue
			}
			tried[ids] = true
			product, ok := products[ids]
			if !ok {
				var err error
				if product, err = pi.values[ids[0]].number.Mul(m.values[ids[1]].number); err != nil {
					return amount{}, err
				}
				products[ids] = product
			}
			if best == nil {
				best = product
				continue
			}
			order, err := product.Cmp(best)
			if err != nil {
				return amount{}, err
			}
			if order > 0 {
				best = product
			}
		}
		total = total.plus(amountOf(best))
	}
	return total, nil
}

// surest is the surest guess; its After holds the largest of all posterior probabilities.
func (m *Matrix) surest(pi *Matrix) Guess {
	var g Guess
	g.After.Lower = -1
	for y := range m.outputs {
		lower, upper := 0., 0. // around P(y)
		for x := range m.inputs {
			p, q := pi.value(0, x), m.value(x, y)
			lower = exact.AddDown(lower, exact.MulDown(p.lower, q.lower))
			upper = exact.AddUp(upper, exact.MulUp(p.upper, q.upper))
		}
		if lower == 0 { // impossible, or so rare that floats do not tell: nothing is claimed of it
			if upper > 0 {
				g.After.Upper = 1
			}
			continue
		}
		for x := range m.inputs {
			p, q := pi.value(0, x), m.value(x, y)
			g.After.Upper = max(g.After.Upper, min(exact.DivUp(exact.MulUp(p.upper, q.upper), lower), 1))
			if least := min(exact.DivDown(exact.MulDown(p.lower, q.lower), upper), 1); least > g.After.Lower {
				g.After.Lower = least
				g.Input, g.Output, g.Row, g.Column = m.inputs[x], m.outputs[y], x, y
				g.Before = amountOf(p.number).bounds()
			}
		}
	}
	g.After.Lower = max(g.After.Lower, 0)
	return g
}
