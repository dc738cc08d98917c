package ours

import (
	"math/big"
	"slices"

	"dither/audit"
	"dither/audit/channel"
	"dither/internal/exact"
	"dither/internal/expsum"
)

// Exact is the result of checking a subject's claim against its law.
type Exact struct {
	// For a law: the smallest ε that it keeps over all its pairs of neighbours, at δ = 0; nil without a law.
	Loss *channel.Loss
	// The least δ that it keeps at the claim's ε is between these.
	DeltaLower, DeltaUpper float64
	// Holds reports that the claim is kept, and Fails that it is not; if bounds are too wide to decide, neither is set.
	// Attained reports that no smaller ε is kept (for a claim without δ), or no smaller δ (for one with it), up to the
	// last digit of the claim.
	Holds, Fails, Attained bool
}

// Exact checks the claim against the law, or against certified bounds. ok is false if there is neither.
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

// Law is the subject's law; ok is false if it is not written down.
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

// limitsMatrix are limits as a matrix, of which ratios are told: each over a number so large that what the rows lack of
// 1, which is other, is nearly the same in all.
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
