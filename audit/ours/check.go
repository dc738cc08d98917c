package ours

import (
	"math/big"
	"slices"

	"dither/audit"
	"dither/audit/channel"
	"dither/internal/exact"
	"dither/internal/expsum"
)

// Exact is the result of checking a subject's claim against its law, or against certified bounds.
type Exact struct {
	// Loss is the smallest ε that the law keeps over all its pairs of neighbours, at δ = 0. It is nil if there is
	// no law.
	Loss *channel.Loss
	// DeltaLower and DeltaUpper are bounds on the smallest δ that is kept at the claim's ε.
	DeltaLower, DeltaUpper float64
	// Holds reports that the claim is kept, and Fails that it is not. If the bounds are too wide to decide, both
	// are false. Attained reports that the claim is tight, up to rounding: no smaller ε is kept, or, for a claim
	// with δ, no smaller δ.
	Holds, Fails, Attained bool
}

// Exact checks the claim against the law, or against certified bounds. ok is false if the subject has neither.
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

// Law returns the subject's law. ok is false if the subject has none.
func (s Subject) Law() (l *Law, ok bool, err error) {
	if s.law == nil {
		return nil, false, nil
	}
	l, err = s.law()
	return l, true, err
}

// nearly is the relative tolerance for rounding errors, when a claim is compared with computed bounds.
const nearly = 1e-12

// compared compares a claim with bounds on the smallest δ.
func compared(claim audit.Claim, lower, upper float64) *Exact {
	declared := claim.Delta.Rat()
	below := new(big.Rat).SetFloat64(lower)
	return &Exact{
		DeltaLower: lower, DeltaUpper: upper, Holds: atMost(upper, declared), Fails: !atMost(lower, declared),
		Attained: below.Cmp(new(big.Rat).Mul(declared, new(big.Rat).SetFloat64(1-nearly))) >= 0,
	}
}

// atMost reports whether upper is at most declared, up to the tolerance nearly.
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
	if l.Rounded { // the rounding of probabilities is far below the tolerance nearly
		x.Holds = x.Holds &&
			new(big.Rat).SetFloat64(loss.Upper).Cmp(new(big.Rat).Mul(claim.Epsilon.Rat(),
				new(big.Rat).SetFloat64(1-nearly))) < 0
		x.Fails = x.Fails && !atMost(loss.Lower, claim.Epsilon.Rat())
	}
	x.Attained = x.Holds &&
		new(big.Rat).SetFloat64(loss.Upper).Cmp(new(big.Rat).Mul(claim.Epsilon.Rat(),
			new(big.Rat).SetFloat64(1-nearly))) >= 0
	return x, nil
}

// withDelta checks a claim with a positive δ. loss is the smallest ε at δ = 0.
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
		if loss.Private() { // with ε* the law's smallest ε, p ≤ e^ε*·q implies p − e^ε·q ≤ p·(1 − e^(ε − ε*))
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

// loss returns the smallest ε that the law keeps, from its matrix and its limits together.
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

// limitsMatrix returns the limits as a matrix of probabilities, in which only the ratios within a column matter. It
// divides the limits by a large number. The remaining probability of each row is in the column other, and is nearly
// equal in all rows.
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

// rest returns an upper bound on the probability of the output other, over all inputs.
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
