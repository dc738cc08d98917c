package channel

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/expsum"
)

// Leakage states how much one output helps to guess the input. The guesser knows the distribution of the inputs,
// applies Bayes' rule, and guesses once [Smith 2009; Braun, Chatzikokolakis & Palamidessi 2009]. The literature
// calls Before and After the prior and the posterior Bayes vulnerability. In the fields, π(x) is the probability of the
// input x, and P(y|x) that of the output y for x.
type Leakage struct {
	Before Bounds // probability of a right guess without the output: max_x π(x)
	After  Bounds // probability of a right guess with the output: Σ_y max_x π(x)·P(y|x)

	Multiplicative Bounds // After/Before; its binary logarithm is the min-entropy leakage, in bits
	Additive       Bounds // After − Before
	Capacity       Bounds // largest After/Before over all priors: Σ_y max_x P(y|x), attained by the uniform prior

	Surest Guess
}

// Bounds is an interval that contains a number: [Lower, Upper].
type Bounds struct {
	Lower, Upper float64
	Exact        string // the number as a text, or "" if the text would be long
}

// Leakage computes the leakage for a prior distribution of the inputs. The prior has one text for each input, as in
// [New], and must sum to exactly 1. A nil prior is the uniform distribution. An invalid prior is ErrMatrix. Leakage
// returns an error of package expsum if entries cannot be compared exactly.
//
// Claim: if m is ε-differentially private over all pairs, Capacity is at most e^ε. Proof: max_x P(y|x) ≤ e^ε·min_x
// P(y|x) for every output y, and the sum of min_x P(y|x) over y is at most 1. ∎
func (m *Matrix) Leakage(prior []string) (l Leakage, err error) {
	w := question()
	pi, err := m.prior(w, prior)
	if err != nil {
		return l, err
	}
	uniform, err := m.prior(w, nil)
	if err != nil {
		return l, err
	}
	before, err := pi.likeliest(w)
	if err != nil {
		return l, err
	}
	after, err := m.guessed(w, pi)
	if err != nil {
		return l, err
	}
	most, err := m.guessed(w, uniform)
	if err != nil {
		return l, err
	}
	first, err := amountOf(w, uniform.values[0].number)
	if err != nil {
		return l, err
	}
	for _, part := range []struct {
		to *Bounds
		x  amount
	}{
		{&l.Before, before},
		{&l.After, after},
		{&l.Multiplicative, after.over(w, before)},
		{&l.Additive, after.less(w, before)},
		{&l.Capacity, most.over(w, first)},
	} {
		if *part.to, err = part.x.bounds(w); err != nil {
			return l, err
		}
	}
	l.Additive.Lower = max(l.Additive.Lower, 0) // a guesser may ignore the output
	l.Surest, err = m.surest(w, pi)
	return l, err
}

// prior returns the prior distribution as a matrix of one row.
func (m *Matrix) prior(w *expsum.Work, texts []string) (*Matrix, error) {
	if texts == nil {
		texts = make([]string, len(m.inputs))
		for i := range texts {
			texts[i] = fmt.Sprintf("1/%d", len(texts))
		}
	}
	if len(texts) != len(m.inputs) {
		return nil, wrong("the prior has %d probabilities, but there are %d inputs", len(texts), len(m.inputs))
	}
	b, err := newBuilder(w, []string{"of the prior"}, m.inputs, 1, len(texts))
	if err != nil {
		return nil, err
	}
	if err := b.row(texts, 0); err != nil {
		return nil, err
	}
	return b.matrix(false)
}

// likeliest returns the largest entry of a prior. It is above 0, because the entries sum to 1.
func (m *Matrix) likeliest(w *expsum.Work) (amount, error) {
	best := m.cells[0]
	for _, id := range m.cells {
		order, err := m.compare(w, id, best)
		if err != nil {
			return amount{}, err
		}
		if order > 0 {
			best = id
		}
	}
	return amountOf(w, m.values[best].number)
}

// guessed returns Σ_y max_x π(x)·P(y|x) for the prior π: the probability of a right guess with the output.
func (m *Matrix) guessed(w *expsum.Work, pi *Matrix) (amount, error) {
	total, err := amountOf(w, expsum.Rat(new(big.Rat)))
	if err != nil {
		return total, err
	}
	products, amounts := map[[2]int32]*expsum.Number{}, map[*expsum.Number]amount{}
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
				if product, err = w.Mul(pi.values[ids[0]].number, m.values[ids[1]].number); err != nil {
					return amount{}, err
				}
				products[ids] = product
			}
			if best == nil {
				best = product
				continue
			}
			order, err := w.Cmp(product, best)
			if err != nil {
				return amount{}, err
			}
			if order > 0 {
				best = product
			}
		}
		most, ok := amounts[best]
		if !ok {
			if most, err = amountOf(w, best); err != nil {
				return amount{}, err
			}
			amounts[best] = most
		}
		total = total.plus(w, most)
	}
	return total, nil
}
