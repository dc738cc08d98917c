package ours

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"dither/audit"
	"dither/audit/channel"
	"dither/internal/expsum"
)

// Law is the law of a mechanism over a small domain, as the literature defines it, with all pairs of neighbours.
type Law struct {
	Matrix    *channel.Matrix
	Neighbors [][2]int // of rows
	// Ideal says that the law is of ideal arithmetic, and the mechanism within a public factor of it, for which it takes a smaller ε.
	Ideal bool
}

// other is the column of all outputs that a law does not tell apart.
const other = "other"

// weights are one row of a law: of each output its probability times total.
type weights struct {
	of    map[string]*expsum.Number
	total *expsum.Number
}

// add puts more weight on an output.
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
	return &Law{Matrix: m, Neighbors: pairs}, nil
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

// Exact is what a subject's law says of its claim.
type Exact struct {
	// Of a law, the smallest ε that it keeps over all its pairs of neighbours, at δ = 0; nil without a law.
	Loss *channel.Loss
	// The least δ that it keeps at the claim's ε is between these.
	DeltaLower, DeltaUpper float64
	// Holds says that the claim is kept. Attained says that no smaller ε is (of a claim without δ), or no smaller δ (of one with
	// it), but for the last digit in which the claim is written.
	Holds, Attained bool
}

// Exact checks the claim against the law, or against certified bounds. ok is false where there is neither.
func (s Subject) Exact() (x *Exact, ok bool, err error) {
	switch {
	case s.law != nil:
		l, err := s.law()
		if err != nil {
			return nil, true, err
		}
		x, err = l.check(s.Claim)
		return x, true, err
	case s.certify != nil:
		lower, upper, err := s.certify(s.Claim.Epsilon)
		return compared(s.Claim, lower, upper), true, err
	}
	return nil, false, nil
}

// Law is the subject's law; ok is false where it is not written down.
func (s Subject) Law() (l *Law, ok bool, err error) {
	if s.law == nil {
		return nil, false, nil
	}
	l, err = s.law()
	return l, true, err
}

// nearly is a share by which a claim may be above the least that could be said.
const nearly = 1e-12

// compared is a claim with δ against bounds of the least δ.
func compared(claim audit.Claim, lower, upper float64) *Exact {
	declared := claim.Delta.Rat()
	below := new(big.Rat).SetFloat64(lower)
	return &Exact{
		DeltaLower: lower, DeltaUpper: upper, Holds: atMost(upper, declared),
		Attained: below.Cmp(new(big.Rat).Mul(declared, new(big.Rat).SetFloat64(1-nearly))) >= 0,
	}
}

// atMost compares a bound with a rational; the bound may be off by its own rounding.
func atMost(upper float64, declared *big.Rat) bool {
	return new(big.Rat).SetFloat64(upper).Cmp(new(big.Rat).Mul(declared, new(big.Rat).SetFloat64(1+nearly))) <= 0
}

func (l *Law) check(claim audit.Claim) (*Exact, error) {
	loss, err := l.Matrix.Epsilon(channel.Pairs(l.Neighbors))
	if err != nil {
		return nil, err
	}
	if !claim.Delta.IsZero() {
		return l.withDelta(claim, loss)
	}
	x := &Exact{Loss: &loss}
	if !loss.Private() {
		return x, nil
	}
	c := new(calc)
	p, q := c.parse(loss.Witness.P), c.parse(loss.Witness.Q)
	allowed := c.mul(q, c.exp(claim.Epsilon.Rat()))
	if c.err != nil {
		return nil, c.err
	}
	order, err := p.Cmp(allowed)
	if err != nil {
		return nil, err
	}
	x.Holds = order <= 0
	x.Attained = x.Holds && new(big.Rat).SetFloat64(loss.Upper).Cmp(new(big.Rat).Mul(claim.Epsilon.Rat(), new(big.Rat).SetFloat64(1-nearly))) >= 0
	return x, nil
}

// withDelta is check for a claim with δ.
func (l *Law) withDelta(claim audit.Claim, loss channel.Loss) (*Exact, error) {
	e, err := channel.ExponentOf(claim.Epsilon.Rat())
	if err != nil {
		return nil, err
	}
	d, err := l.Matrix.Delta(channel.Pairs(l.Neighbors), e)
	if err != nil {
		return nil, err
	}
	x := compared(claim, d.Lower, d.Upper)
	x.Loss = &loss
	return x, nil
}
