package privacy

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Loss is the promise of a mechanism, or a budget for it, under one of two accountants: a pure ε, or (ρ, δ) of
// δ-approximate zCDP. A pure loss combined with a zCDP loss counts as (ε²/2, 0) [Bun & Steinke 2016, Proposition
// 1.4]. A zCDP loss never counts as pure. The zero value is a pure loss of 0.
//
// A mechanism is δ-approximately ρ-zCDP if its distributions on neighbours are mixtures P = (1−δ)P′ + δP″ and
// Q = (1−δ)Q′ + δQ″ with D_α(P′‖Q′) ≤ αρ and D_α(Q′‖P′) ≤ αρ for all α > 1 [Bun &
// Steinke 2016, Definition 8.1, which conditions on events of probability at least 1−δ: a coin thins each to exactly
// that].
type Loss struct {
	zcdp    bool
	epsilon Epsilon // for a pure loss
	rho     Rho     // of a zCDP loss, as is delta
	delta   Delta
}

// ErrGroup reports a loss without group privacy here: zCDP with a δ above 0.
var ErrGroup = errors.New("no group privacy under approximate zCDP")

// PureLoss is the loss of an ε-differentially private mechanism.
func PureLoss(e Epsilon) Loss { return Loss{epsilon: e} }

// ZCDPLoss is the loss of a d-approximately r-zCDP mechanism.
func ZCDPLoss(r Rho, d Delta) Loss { return Loss{zcdp: true, rho: r, delta: d} }

// Accountant is Pure or ZCDP.
func (l Loss) Accountant() Accountant {
	if l.zcdp {
		return ZCDP
	}
	return Pure
}

// Pure is the ε of a pure loss. For a zCDP loss ok is false.
func (l Loss) Pure() (e Epsilon, ok bool) { return l.epsilon, !l.zcdp }

// ZCDP is the loss as zCDP, which a pure loss is too.
func (l Loss) ZCDP() (Rho, Delta) {
	if l.zcdp {
		return l.rho, l.delta
	}
	return l.epsilon.Rho(), Delta{}
}

// In is the loss under an accountant. A zCDP loss under Pure, and an unknown accountant, are ErrAccountant.
func (l Loss) In(a Accountant) (Loss, error) {
	switch {
	case a == l.Accountant():
		return l, nil
	case a == ZCDP:
		return ZCDPLoss(l.ZCDP()), nil
	}
	return Loss{}, fmt.Errorf("%w: %s has no loss under %s", ErrAccountant, l, a)
}

// Price is the largest ε for a question within l. For a pure l it is l's ε; under zCDP, where a price of ε costs
// ε²/2, it is that of l's ρ. It is rounded down to six digits, for typing.
func (l Loss) Price() Epsilon {
	e := l.epsilon
	if l.zcdp {
		e = l.rho.Pure()
	}
	if e.IsZero() {
		return e
	}
	return Epsilon{amount{exact.FloorDigits(e.rat(), 6)}}
}

// IsZero reports no loss at all.
func (l Loss) IsZero() bool { return l.epsilon.IsZero() && l.rho.IsZero() && l.delta.IsZero() }

// both applies one of three operations to each part of two losses: as pure if both are, otherwise as zCDP.
func both(l, m Loss, e func(a, b Epsilon) Epsilon, r func(a, b Rho) Rho, d func(a, b Delta) Delta) Loss {
	if !l.zcdp && !m.zcdp {
		return PureLoss(e(l.epsilon, m.epsilon))
	}
	lr, ld := l.ZCDP()
	mr, md := m.ZCDP()
	return ZCDPLoss(r(lr, mr), d(ld, md))
}

// Plus is composition. The sum of two pure losses is pure; with a zCDP loss, each counts as zCDP, and ρ and δ add up
// [Bun & Steinke 2016, Lemma 8.2; the proof at Filter]. To sum many losses as zCDP, begin with a zCDP loss, because
// ε₁²/2 + ε₂²/2 is less than (ε₁+ε₂)²/2.
func (l Loss) Plus(m Loss) Loss { return both(l, m, Epsilon.Plus, Rho.Plus, Delta.Plus) }

// Minus is the rest of l after m, each part at least 0. No pure loss covers a zCDP one, so then nothing is left.
func (l Loss) Minus(m Loss) Loss {
	if !l.zcdp && m.zcdp {
		return Loss{}
	}
	return both(l, m, Epsilon.Minus, Rho.Minus, Delta.Minus)
}

// Min is the lesser of each part: what is within both is within it.
func Min(l, m Loss) Loss {
	return both(l, m, lesser[Epsilon], lesser[Rho], lesser[Delta])
}

func lesser[T interface{ Cmp(T) int }](a, b T) T {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

// Within reports whether each part of l is at most budget's. A zCDP loss is within no pure budget. The order is
// partial: of two zCDP losses, neither need be within the other.
func (l Loss) Within(budget Loss) bool {
	if !budget.zcdp {
		return !l.zcdp && l.epsilon.Cmp(budget.epsilon) <= 0
	}
	r, d := l.ZCDP()
	return r.Cmp(budget.rho) <= 0 && d.Cmp(budget.delta) <= 0
}

// Group is the promise of a mechanism with loss l to k people together: kε, or k²ρ. Under zCDP with a δ above 0 the
// error is ErrGroup.
func (l Loss) Group(k int64) (Loss, error) {
	switch {
	case !l.zcdp:
		return PureLoss(l.epsilon.Group(k)), nil
	case !l.delta.IsZero():
		return Loss{}, fmt.Errorf("%w: %s", ErrGroup, l)
	}
	return ZCDPLoss(l.rho.Group(k), Delta{}), nil
}

// Share returns the part num/den of each part of l. It panics unless 0 ≤ num and 0 < den.
func (l Loss) Share(num, den int64) Loss {
	return Loss{l.zcdp, l.epsilon.Share(num, den), l.rho.Share(num, den), l.delta.Share(num, den)}
}

// EpsilonAt bounds the ε, rounded up, with which l is (ε, d)-differentially private: its own for a pure loss. A zCDP
// loss needs a d above its own δ, unless it is no loss; else it is ErrDelta.
//
// Proof for zCDP [Bun & Steinke 2016, Lemma 8.8]: with δ′ = (d−δ)/(1−δ), P′(S) ≤ e^ε·Q′(S) + δ′ at
// ε = ρ's ε at δ′, so P(S) ≤ (1−δ)(e^ε·Q′(S) + δ′) + δ ≤ e^ε·Q(S) + (1−δ)δ′ + δ, and the
// last two are d. ∎
func (l Loss) EpsilonAt(d Delta) (Epsilon, error) {
	switch {
	case !l.zcdp:
		return l.epsilon, nil
	case d.certain():
		return Epsilon{}, nil
	case d.Cmp(l.delta) < 0:
		return Epsilon{}, fmt.Errorf("%w: it is below the loss's own, %s", ErrDelta, l.delta)
	}
	rest := new(big.Rat).Sub(one, l.delta.rat())
	return l.rho.EpsilonAt(Delta{amount{rest.Quo(d.Minus(l.delta).rat(), rest)}})
}
