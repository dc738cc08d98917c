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

// Law is the law of a mechanism over a small domain, as the literature defines it, with all pairs of neighbours.
type Law struct {
	Matrix    *channel.Matrix
	Neighbors [][2]int // of rows

	// Limits are what outputs that are counted as "other" come to, the further out they are: of each limit, the
	// probabilities under each input over a factor that is common to all. The ratios of what is "other" are between
	// those of outputs that are listed and these, so that the smallest ε is that of the matrix and the limits together.
	Limits []Limit
	// Folded says that outputs with other ratios are counted together as "other", so that of the least δ the matrix
	// gives a lower bound alone.
	Folded bool
	// Rounded says that probabilities are no sums of exponentials, and rounded to roundedBits binary digits.
	Rounded bool
	// Ideal says that the law is of ideal arithmetic, and the mechanism within a public factor of it, for which it
	// takes a smaller ε.
	Ideal bool

	smallest func() (channel.Loss, error) // loss, computed once
}

// Limit is the limit of outputs that lie ever further out.
type Limit struct {
	Output string
	At     []*expsum.Number // by input
}

// other is the column of all outputs that a law does not distinguish.
const other = "other"

// weights are one row of a law: of each output its probability times total.
type weights struct {
	of    map[string]*expsum.Number
	total *expsum.Number
}

// add adds weight to an output.
func (w *weights) add(c *calc, output string, x *expsum.Number) {
	if w.of == nil {
		w.of = map[string]*expsum.Number{}
	}
	if before, ok := w.of[output]; ok {
		x = c.add(before, x)
	}
	w.of[output] = x
}

// lawOf is a law of rows of weights. What the outputs of a row lack of its total is that of other.
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

// Probabilities are the row of an input, as floats near the exact ones.
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

// Column is the place of an output.
func (l *Law) Column(output string) (int, error) {
	outputs := l.Matrix.Outputs()
	for _, name := range []string{output, other} {
		if j := slices.Index(outputs, name); j >= 0 {
			return j, nil
		}
	}
	return 0, fmt.Errorf("the law has no output %q", output)
}

// roundedBits are those that probabilities are rounded to where they are no sums of exponentials: ratios of those above
// 2⁻⁴⁰ are then off by a share of 2⁻⁸⁰ at most, where nearly is 2⁻⁴⁰.
const roundedBits = 120

// roundedLaw is a law of rows of certified probabilities, in the order of outputs, but for the last of them, which has
// the rest.
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
