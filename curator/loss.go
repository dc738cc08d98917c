package curator

import (
	"math/big"
	"sync"

	"dither/internal/exact"
	"dither/privacy"
)

// Loss is a privacy loss, or a budget, as the accountant that rules the budget counts it: a pure ε, or ρ of zCDP, told as an
// ε at a δ beside it.
type Loss struct {
	Epsilon string // exact where pure; under zCDP a bound, rounded up, "" where none is told
	Delta   string // at which Epsilon holds; "0" where pure
	Rho     string // exact; "" where pure
	// IfFixed marks an Epsilon that would hold had the losses behind it been fixed in advance. Where they were chosen one after
	// the other, what is proved of all answers together is the budget, in Rho; the ε of a part is as if it had been fixed.
	IfFixed bool
	left    bool // what remains: rounded down where it is shortened
}

// String writes "ε = 0.1", or "ρ = 0.005 (ε = 0.49 at δ = 1e-6)", shortened to a few digits: what remains rounded down, all
// else up.
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
			text += ", δ = " + shorten(l.Delta) + " for unknown groups"
		}
		return text
	}
	text += " (ε = " + shorten(l.Epsilon) + " at δ = " + shorten(l.Delta)
	if l.IfFixed {
		text += ", as if fixed in advance"
	}
	return text + ")"
}

// loss tells what one mechanism, or several fixed in advance, lose: under zCDP with the ε that holds at the policy's δ.
func (c *Session) loss(l privacy.Loss) Loss {
	return c.losses.of(l, func() Loss {
		if e, pure := l.Pure(); pure {
			return Loss{Epsilon: e.String(), Delta: "0"}
		}
		rho, own := l.ZCDP()
		d := c.policy.Budget.Conversion.Plus(own)
		out := Loss{Delta: d.String(), Rho: rho.String()}
		if e, err := l.EpsilonAt(d); err == nil {
			out.Epsilon = e.String()
		}
		return out
	})
}

// losses caches the latest conversions of ρ to ε. A conversion takes part of a millisecond, and most parts of an answer have the same ρ.
type losses struct {
	mu   sync.Mutex
	told map[string]Loss
	same map[privacy.Loss]Loss // by the very same numbers, which are not written out to be found
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

// account tells a sum of losses that were chosen one after the other.
func (c *Session) account(l privacy.Loss) Loss {
	out := c.loss(l)
	return *marked(&out)
}

// marked marks the ε of a sum of losses that were chosen one after the other.
func marked(l *Loss) *Loss {
	if l != nil {
		l.IfFixed = l.Rho != ""
	}
	return l
}

// left tells what remains of a budget. Under zCDP no ε is told: two losses' ε do not add up to that of both.
func left(l privacy.Loss) Loss {
	if e, pure := l.Pure(); pure {
		return Loss{Epsilon: e.String(), Delta: "0", left: true}
	}
	rho, own := l.ZCDP()
	return Loss{Delta: own.String(), Rho: rho.String(), left: true}
}

// declared is the budget as the policy declares it.
func (c *Session) declared() Loss {
	b := c.policy.Budget
	if _, pure := b.Loss.Pure(); pure || b.Epsilon.IsZero() {
		return c.loss(b.Loss)
	}
	rho, _ := b.Loss.ZCDP()
	return Loss{Epsilon: b.Epsilon.String(), Delta: b.Delta.String(), Rho: rho.String()}
}

// largest is the largest --epsilon that a new question can have, as a decimal: of what remains, and of the policy's maximum; "0"
// where that is below the policy's minimum.
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

// group is what a loss means for k units together, or nil where there is no such bound.
func (c *Session) group(l privacy.Loss, k int64) *Loss {
	g, err := l.Group(k)
	if err != nil {
		return nil
	}
	out := c.loss(g)
	return &out
}
