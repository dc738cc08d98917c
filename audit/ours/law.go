package ours

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"

	"dither/audit/channel"
	"dither/internal/exact"
	"dither/internal/expsum"
)

// Law is the law of a mechanism: its exact output distribution for each input of a small domain, as the literature
// defines it, with all pairs of neighbouring inputs.
type Law struct {
	Matrix    *channel.Matrix
	Neighbors [][2]int // pairs of rows, from 0

	// Limits describe the outputs that the matrix counts together as "other". They are sequences of outputs that
	// move further and further out. The ratio of two inputs' probabilities of such an output lies between the
	// ratios of listed outputs and the ratios of the limits. So the smallest ε is that of the matrix and the limits
	// together.
	Limits []Limit
	// Folded says that outputs with different ratios are counted together as "other". The smallest δ of the matrix
	// is then only a lower bound.
	Folded bool
	// Rounded says that the probabilities are not sums of exponentials. They are rounded to roundedBits binary
	// digits.
	Rounded bool
	// Ideal says that the law assumes ideal arithmetic. The mechanism's probabilities are within a public factor of
	// the law's, and it uses a smaller ε to pay for this factor.
	Ideal bool

	smallest func() (channel.Loss, error) // the result of the method loss, computed once
}

// Limit is the limit of the probabilities of a sequence of outputs that move further and further out. Each
// probability is divided by a factor that is common to all inputs.
type Limit struct {
	Output string
	At     []*expsum.Number // one number for each input
}

// other is the column for all outputs that a law does not list.
const other = "other"

// weights is one row of a law. of[y] is the probability of the output y, multiplied by total.
type weights struct {
	of    map[string]*expsum.Number
	total *expsum.Number
}

func (w *weights) add(c *calc, output string, x *expsum.Number) {
	if w.of == nil {
		w.of = map[string]*expsum.Number{}
	}
	if before, ok := w.of[output]; ok {
		x = c.add(before, x)
	}
	w.of[output] = x
}

// lawOf returns the law with the given rows of weights. If the weights of a row sum to less than its total, the
// rest is the weight of the output other.
func lawOf(inputs []string, pairs [][2]int, row func(c *calc, input int) weights) (*Law, error) {
	c, columns := new(calc), map[string]bool{}
	rows := make([]weights, len(inputs))
	for i := range inputs {
		w := row(c, i)
		rest := w.total
		for output, x := range w.of {
			columns[output], rest = true, c.sub(rest, x)
		}
		if c.err == nil && rest.Sign() != 0 {
			w.add(c, other, rest)
			columns[other] = true
		}
		rows[i] = w
	}
	if c.err != nil {
		return nil, c.err
	}
	outputs := slices.Sorted(maps.Keys(columns))
	entries := make([][]string, len(inputs))
	for i, w := range rows {
		for _, output := range outputs {
			p := c.rat(0, 1)
			if x, ok := w.of[output]; ok {
				p = c.quo(x, w.total)
			}
			if c.err != nil {
				return nil, c.err
			}
			entries[i] = append(entries[i], p.String())
		}
	}
	m, err := channel.New(inputs, outputs, entries)
	if err != nil {
		return nil, err
	}
	return newLaw(m, pairs), nil
}

func newLaw(m *channel.Matrix, pairs [][2]int) *Law {
	l := &Law{Matrix: m, Neighbors: pairs}
	l.smallest = sync.OnceValues(l.loss)
	return l
}

// Probabilities returns the output distribution of an input, as floats close to the exact values.
func (l *Law) Probabilities(input int) ([]float64, error) {
	out := make([]float64, len(l.Matrix.Outputs()))
	for j := range out {
		x, err := expsum.Parse(l.Matrix.At(input, j))
		if err != nil {
			return nil, err
		}
		out[j], _ = x.Floats()
	}
	return out, nil
}

// Column returns the index of an output. If the output is not listed, it returns the index of "other".
func (l *Law) Column(output string) (int, error) {
	outputs := l.Matrix.Outputs()
	for _, name := range []string{output, other} {
		if j := slices.Index(outputs, name); j >= 0 {
			return j, nil
		}
	}
	return 0, fmt.Errorf("the law has no output %q", output)
}

// roundedBits is the number of binary digits of probabilities that are not sums of exponentials. Ratios of
// probabilities above 2⁻⁴⁰ then have a relative error of at most 2⁻⁸⁰, while the tolerance nearly is about 2⁻⁴⁰.
const roundedBits = 120

// roundedLaw returns a law with rows of certified probabilities, in the order of outputs. row returns all but the
// last of them. The last output gets the rest of the probability.
func roundedLaw(inputs []string, pairs [][2]int, outputs []string, row func(input int) []exact.Interval) (*Law, error) {
	entries := make([][]*big.Rat, len(inputs))
	unit := new(big.Int).Lsh(big.NewInt(1), roundedBits)
	for i := range inputs {
		rest := big.NewRat(1, 1)
		for _, p := range row(i) {
			middle, _ := p.Middle().Rat(nil)
			middle.Mul(middle, new(big.Rat).SetInt(unit))
			x := new(big.Rat).SetFrac(new(big.Int).Quo(middle.Num(), middle.Denom()), unit)
			entries[i] = append(entries[i], x)
			rest.Sub(rest, x)
		}
		entries[i] = append(entries[i], rest)
	}
	m, err := channel.Of(inputs, outputs, entries)
	if err != nil {
		return nil, err
	}
	l := newLaw(m, pairs)
	l.Rounded = true
	return l, nil
}
