package ours

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"

	"dither/audit"
	"dither/audit/channel"
	"dither/internal/exact"
	"dither/internal/expsum"
)

// Law is the law of a mechanism over a small domain, as the literature defines it, with all pairs of neighbours.
type Law struct {
	Matrix    *channel.Matrix
	Neighbors [][2]int // of rows

	// Limits are what outputs that are counted as "other" come to, the further out they are: of each limit, the probabilities under each
	// input over a factor that is common to all. The ratios of what is "other" are between those of outputs that are listed and
	// these, so that the smallest ε is that of the matrix and the limits together.
	Limits []Limit
	// Folded says that outputs with other ratios are counted together as "other", so that of the least δ the matrix gives a lower bound
	// alone.
	Folded bool
	// Rounded says that probabilities are no sums of exponentials, and rounded to roundedBits binary digits.
	Rounded bool
	// Ideal says that the law is of ideal arithmetic, and the mechanism within a public factor of it, for which it takes a smaller ε.
	Ideal bool

	smallest func() (channel.Loss, error) // loss, computed once
}

// Limit is of outputs that are ever further out.
type Limit struct {
	Output string
	At     []*expsum.Number // by input
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

// Exact is what a subject's law says of its claim.
type Exact struct {
	// Of a law, the smallest ε that it keeps over all its pairs of neighbours, at δ = 0; nil without a law.
	Loss *channel.Loss
	// The least δ that it keeps at the claim's ε is between these.
	DeltaLower, DeltaUpper float64
	// Holds says that the claim is kept, and Fails that it is not; where bounds are too wide to tell it is neither. Attained says that no smaller ε is (of a claim without δ), or no smaller δ (of one with
	// it), but for the last digit in which the claim is written.
	Holds, Fails, Attained bool
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

// drawsLaw is what draws follow: the law, or, where the claim is checked by certified sums, the probabilities that they are of.
func (s Subject) drawsLaw() (*Law, error) {
	if s.law != nil {
		return s.law()
	}
	return s.near()
}

// nearly is a share by which a claim may be above the least that could be said.
const nearly = 1e-12

// compared is a claim with δ against bounds of the least δ.
func compared(claim audit.Claim, lower, upper float64) *Exact {
	declared := claim.Delta.Rat()
	below := new(big.Rat).SetFloat64(lower)
	return &Exact{
		DeltaLower: lower, DeltaUpper: upper, Holds: atMost(upper, declared), Fails: !atMost(lower, declared),
		Attained: below.Cmp(new(big.Rat).Mul(declared, new(big.Rat).SetFloat64(1-nearly))) >= 0,
	}
}

// atMost compares a bound with a rational; the bound may be off by its own rounding.
func atMost(upper float64, declared *big.Rat) bool {
	return new(big.Rat).SetFloat64(upper).Cmp(new(big.Rat).Mul(declared, new(big.Rat).SetFloat64(1+nearly))) <= 0
}

func (l *Law) check(claim audit.Claim) (*Exact, error) {
	loss, err := l.smallest()
	if err != nil {
		return nil, err
	}
	if !claim.Delta.IsZero() {
		return l.withDelta(claim, loss)
	}
	x := &Exact{Loss: &loss, Fails: true}
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
	x.Holds, x.Fails = order <= 0, order > 0
	if l.Rounded { // by far less than nearly
		x.Holds = x.Holds && new(big.Rat).SetFloat64(loss.Upper).Cmp(new(big.Rat).Mul(claim.Epsilon.Rat(), new(big.Rat).SetFloat64(1-nearly))) < 0
		x.Fails = x.Fails && !atMost(loss.Lower, claim.Epsilon.Rat())
	}
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
	if l.Folded {
		rest, err := l.rest()
		if err != nil {
			return nil, err
		}
		if loss.Private() { // p − e^ε·q ≤ p·(1 − e^(ε − ε*)) where p ≤ e^ε*·q
			own, _ := claim.Epsilon.Rat().Float64()
			rest *= min(1, max(0, exact.SubUp(1, exact.ExpDown(exact.SubDown(own*(1-nearly), loss.Upper)))))
		}
		d.Upper += rest * (1 + nearly)
	}
	if l.Rounded {
		d.Lower, d.Upper = d.Lower*(1-nearly), d.Upper*(1+nearly)
	}
	x := compared(claim, d.Lower, d.Upper)
	x.Loss = &loss
	return x, nil
}

// loss is the smallest ε of the matrix and the limits together.
func (l *Law) loss() (channel.Loss, error) {
	loss, err := l.Matrix.Epsilon(channel.Pairs(l.Neighbors))
	if err != nil || !loss.Private() {
		return loss, err
	}
	if len(l.Limits) == 0 {
		return loss, nil
	}
	limits, err := limitsMatrix(l.Matrix.Inputs(), l.Limits)
	if err != nil {
		return loss, err
	}
	if at, err := limits.Epsilon(channel.Pairs(l.Neighbors)); err != nil || at.Lower > loss.Upper {
		return at, err
	}
	return loss, nil
}

// limitsMatrix are limits as a matrix, of which ratios are told: each over a number so large that what the rows lack of 1, which is other,
// is nearly the same in all.
func limitsMatrix(inputs []string, limits []Limit) (*channel.Matrix, error) {
	c := new(calc)
	large := c.rat(0, 1)
	var outputs []string
	for _, limit := range limits {
		outputs = append(outputs, limit.Output)
		large = c.add(large, c.add(limit.At...))
	}
	large = c.mul(large, c.rat(1000, 1))
	entries := make([][]string, len(inputs))
	for i := range inputs {
		left := large
		for _, limit := range limits {
			entries[i] = append(entries[i], c.quo(limit.At[i], large).String())
			left = c.sub(left, limit.At[i])
		}
		entries[i] = append(entries[i], c.quo(left, large).String())
	}
	if c.err != nil {
		return nil, c.err
	}
	return channel.New(inputs, append(outputs, other), entries)
}

// rest bounds the largest probability of what is other, of any input.
func (l *Law) rest() (most float64, err error) {
	j := slices.Index(l.Matrix.Outputs(), other)
	for i := range l.Matrix.Inputs() {
		if j < 0 {
			break
		}
		x, err := expsum.Parse(l.Matrix.At(i, j))
		if err != nil {
			return 0, err
		}
		_, upper := x.Floats()
		most = max(most, upper)
	}
	return most, nil
}

// roundedBits are those that probabilities are rounded to where they are no sums of exponentials: ratios of those above 2⁻⁴⁰ are then off
// by a share of 2⁻⁸⁰ at most, where nearly is 2⁻⁴⁰.
const roundedBits = 120

// roundedLaw is a law of rows of certified probabilities, in the order of outputs, but for the last of them, which has the rest.
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
