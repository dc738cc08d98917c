package curator

import (
	"math/big"
	"sync"

	"dither/internal/exact"
	"dither/privacy"
)

// Loss is a privacy loss or a budget, in the terms of the budget's accountant: a pure ε, or a ρ of zCDP with the ε
// and δ that it implies.
type Loss struct {
	Epsilon string // exact if pure. Under zCDP an upper bound, or "" if none is stated
	Delta   string // the δ at which Epsilon holds; "0" if pure
	Rho     string // exact; "" if pure
	// IfFixed means that Epsilon would hold if all parameters of the losses had been fixed in advance. Questions
	// that are chosen after seeing earlier answers only have the budget's guarantee, in Rho.
	IfFixed   bool
	left      bool // the loss is a remaining budget: shortening rounds it down
	inEpsilon bool // the policy declares the budget in ε and δ, so texts state these first
}

// String returns the loss with a few digits, in the unit of the budget: "ε = 0.1" under a pure budget,
// "ε = 0.49 at δ = 1e-6 (ρ = 0.005)" under a budget in ε and δ, and "ρ = 0.005 (ε = 0.49 at δ = 1e-6)" under one in ρ.
// A sum of losses that were chosen adaptively begins with its ρ, which alone is proved then. String rounds a remaining
// budget down and every other loss up.
func (l Loss) String() string {
	round := exact.CeilDigits
	if l.left {
		round = exact.FloorDigits
	}
	shorten := func(text string) string { return exact.Shortened(text, round) }
	if l.Rho == "" {
		return "ε = " + shorten(l.Epsilon)
	}
	text := "ρ = " + shorten(l.Rho)
	if l.Epsilon == "" {
		if l.left && l.Delta != "" && l.Delta != "0" {
			text += ", δ = " + shorten(l.Delta) + " for unknown keys"
		}
		return text
	}
	stated := "ε = " + shorten(l.Epsilon) + " at δ = " + shorten(l.Delta)
	if l.inEpsilon && !l.IfFixed {
		return stated + " (" + text + ")"
	}
	text += " (" + stated
	if l.IfFixed {
		text += ", if the questions were fixed in advance"
	}
	return text + ")"
}

// Amount returns the part of String that adds up over answers and over the shares of one: the ε of a pure loss, and the
// ρ of others.
func (l Loss) Amount() string {
	if l.Rho == "" {
		return l.String()
	}
	return Loss{Rho: l.Rho, left: l.left}.String()
}

// loss returns the public form of a loss. Under zCDP it states the ε at the policy's δ. That ε holds for one
// mechanism, or for several that were fixed in advance.
func (c *Session) loss(l privacy.Loss) Loss {
	return c.losses.of(l, func() Loss {
		if e, pure := l.Pure(); pure {
			return Loss{Epsilon: e.String(), Delta: "0"}
		}
		rho, own := l.ZCDP()
		d := c.policy.Budget.Conversion.Plus(own)
		out := Loss{Delta: d.String(), Rho: rho.String(), inEpsilon: !c.policy.Budget.Epsilon.IsZero()}
		if e, err := l.EpsilonAt(d); err == nil {
			out.Epsilon = e.String()
		}
		return out
	})
}

// losses caches the latest conversions of ρ to ε. A conversion takes part of a millisecond, and most parts of an
// answer have the same ρ.
type losses struct {
	mu   sync.Mutex
	told map[string]Loss
	same map[privacy.Loss]Loss // keyed by the identical loss value, which avoids formatting it
}

const maxLosses = 1000

func (s *losses) of(l privacy.Loss, tell func() Loss) Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out, ok := s.same[l]; ok {
		return out
	}
	key := l.String()
	out, ok := s.told[key]
	if !ok {
		if len(s.told) >= maxLosses || s.told == nil {
			s.told = map[string]Loss{}
		}
		out = tell()
		s.told[key] = out
	}
	if len(s.same) >= maxLosses/10 || s.same == nil {
		s.same = map[privacy.Loss]Loss{}
	}
	s.same[l] = out
	return out
}

// account returns the public form of a sum of losses whose questions were chosen adaptively.
func (c *Session) account(l privacy.Loss) Loss {
	out := c.loss(l)
	return *marked(&out)
}

// marked sets IfFixed if the loss has a ρ. It is for sums of losses whose questions were chosen adaptively.
func marked(l *Loss) *Loss {
	if l != nil {
		l.IfFixed = l.Rho != ""
	}
	return l
}

// left returns the public form of a remaining budget. Under zCDP it states no ε, because the ε of two losses do not
// add up to the ε of their sum.
func left(l privacy.Loss) Loss {
	if e, pure := l.Pure(); pure {
		return Loss{Epsilon: e.String(), Delta: "0", left: true}
	}
	rho, own := l.ZCDP()
	return Loss{Delta: own.String(), Rho: rho.String(), left: true}
}

// declared returns the budget as the policy declares it.
func (c *Session) declared() Loss {
	b := c.policy.Budget
	if _, pure := b.Loss.Pure(); pure || b.Epsilon.IsZero() {
		return c.loss(b.Loss)
	}
	rho, _ := b.Loss.ZCDP()
	return Loss{Epsilon: b.Epsilon.String(), Delta: b.Delta.String(), Rho: rho.String(), inEpsilon: true}
}

// largest returns the largest ε that a new question can have, as a decimal. It is within what remains and within
// the policy's maximum price. It returns "0" if that is below the policy's minimum price.
func (c *Session) largest(remaining privacy.Loss) string {
	price := c.policy.Price
	e := privacy.Min(remaining, price.Maximum).Price()
	if most, err := privacy.EpsilonOf(big.NewRat(privacy.MaxEpsilon, 1)); err == nil && e.Cmp(most) > 0 {
		e = most
	}
	if !price.Minimum.Within(c.policy.Budget.Price(e)) {
		return "0"
	}
	return e.String()
}

// group returns the loss of k units together, or nil if there is no such bound.
func (c *Session) group(l privacy.Loss, k int64) *Loss {
	g, err := l.Group(k)
	if err != nil {
		return nil
	}
	out := c.loss(g)
	return &out
}
