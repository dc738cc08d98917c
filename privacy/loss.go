package privacy

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Loss is the promise of a mechanism, or a budget, in the terms of one of two accountants: a pure ε, or (ρ, δ) of
// δ-approximate zCDP. A pure loss that is combined with a zCDP loss counts as (ε²/2, 0) [Bun & Steinke 2016,
// Proposition 1.4]. A zCDP loss never counts as pure. The zero value is a pure loss of 0.
//
// A mechanism is δ-approximately ρ-zCDP if its distributions on neighbours are mixtures P = (1−δ)P′ + δP″ and Q =
// (1−δ)Q′ + δQ″ with D_α(P′‖Q′) ≤ αρ and D_α(Q′‖P′) ≤ αρ for all α > 1. (Definition 8.1 of Bun & Steinke 2016
// conditions on events of probability at least 1−δ. A biased coin reduces each event to probability exactly 1−δ.)
type Loss struct {
	zcdp    bool
	epsilon Epsilon // set for a pure loss
	rho     Rho     // set for a zCDP loss, like delta
	delta   Delta
}

// ErrGroup reports a loss for which this package has no group privacy: zCDP with a δ above 0.
var ErrGroup = errors.New("zCDP with a delta above 0 has no group privacy")

// PureLoss returns the loss of an ε-differentially private mechanism.
func PureLoss(e Epsilon) Loss { return Loss{epsilon: e} }

// ZCDPLoss returns the loss of a d-approximately r-zCDP mechanism.
func ZCDPLoss(r Rho, d Delta) Loss { return Loss{zcdp: true, rho: r, delta: d} }

// Accountant returns ZCDP for a zCDP loss, and otherwise Pure.
func (l Loss) Accountant() Accountant {
	if l.zcdp {
		return ZCDP
	}
	return Pure
}

// Pure returns the ε of a pure loss. For a zCDP loss ok is false.
func (l Loss) Pure() (e Epsilon, ok bool) { return l.epsilon, !l.zcdp }

// ZCDP returns the loss in terms of zCDP. A pure loss of ε becomes ρ = ε²/2.
func (l Loss) ZCDP() (Rho, Delta) {
	if l.zcdp {
		return l.rho, l.delta
	}
	return l.epsilon.Rho(), Delta{}
}

// In returns the loss in the terms of an accountant. For a zCDP loss under Pure, or an unknown accountant, the
// error is ErrAccountant.
func (l Loss) In(a Accountant) (Loss, error) {
	switch {
	case a == l.Accountant():
		return l, nil
	case a == ZCDP:
		return ZCDPLoss(l.ZCDP()), nil
	}
	return Loss{}, fmt.Errorf("%w: %s is not a loss under %s", ErrAccountant, l, a)
}

// Price returns the largest ε for a question within l, rounded down to six digits for typing. For a pure l it is
// l's ε. For a zCDP loss it is the ε that costs l's ρ, since a price of ε costs ε²/2 there.
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

// IsZero reports whether every part of the loss is 0.
func (l Loss) IsZero() bool { return l.epsilon.IsZero() && l.rho.IsZero() && l.delta.IsZero() }

// both applies an operation to each part of two losses: to their ε if both are pure, and otherwise to their ρ and
// δ.
func both(l, m Loss, e func(a, b Epsilon) Epsilon, r func(a, b Rho) Rho, d func(a, b Delta) Delta) Loss {
	if !l.zcdp && !m.zcdp {
		return PureLoss(e(l.epsilon, m.epsilon))
	}
	lr, ld := l.ZCDP()
	mr, md := m.ZCDP()
	return ZCDPLoss(r(lr, mr), d(ld, md))
}

// Plus returns the loss of two mechanisms together, by composition. The sum of two pure losses is pure. With a zCDP
// loss, each loss counts as zCDP, and ρ and δ add up (Bun & Steinke 2016, Lemma 8.2; [Filter] has the proof). To
// sum many losses as zCDP, begin with a zCDP loss, because ε₁²/2 + ε₂²/2 is less than (ε₁+ε₂)²/2.
func (l Loss) Plus(m Loss) Loss { return both(l, m, Epsilon.Plus, Rho.Plus, Delta.Plus) }

// Minus returns what is left of l after m, each part at least 0. If l is pure and m is not, nothing is left,
// because no pure loss covers a zCDP loss.
func (l Loss) Minus(m Loss) Loss {
	if !l.zcdp && m.zcdp {
		return Loss{}
	}
	return both(l, m, Epsilon.Minus, Rho.Minus, Delta.Minus)
}

// Min returns the lesser of each part of two losses. A loss is within Min(l, m) exactly if it is within both.
func Min(l, m Loss) Loss {
	return both(l, m, lesser[Epsilon], lesser[Rho], lesser[Delta])
}

func lesser[T interface{ Cmp(T) int }](a, b T) T {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

// Within reports whether each part of l is at most that of budget. A zCDP loss is within no pure budget. The order
// is partial: of two zCDP losses, neither need be within the other.
func (l Loss) Within(budget Loss) bool {
	if !budget.zcdp {
		return !l.zcdp && l.epsilon.Cmp(budget.epsilon) <= 0
	}
	r, d := l.ZCDP()
	return r.Cmp(budget.rho) <= 0 && d.Cmp(budget.delta) <= 0
}

// Group returns the promise of a mechanism with loss l to k people together: kε, or k²ρ. For zCDP with a δ above 0
// the error is ErrGroup.
func (l Loss) Group(k int64) (Loss, error) {
	switch {
	case !l.zcdp:
		return PureLoss(l.epsilon.Group(k)), nil
	case !l.delta.IsZero():
		return Loss{}, fmt.Errorf("%w: %s", ErrGroup, l)
	}
	return ZCDPLoss(l.rho.Group(k), Delta{}), nil
}

// Share returns num/den of each part of l. It panics unless 0 ≤ num and 0 < den.
func (l Loss) Share(num, den int64) Loss {
	return Loss{l.zcdp, l.epsilon.Share(num, den), l.rho.Share(num, den), l.delta.Share(num, den)}
}

// EpsilonAt returns an ε, rounded up, such that a mechanism of loss l is (ε, d)-differentially private. For a pure
// loss it is the loss's own ε. For a zCDP loss it is 0 if d is 1. Any other d must be at least the loss's own δ,
// and above it if ρ is above 0; otherwise the error is ErrDelta.
//
// Proof for zCDP [Bun & Steinke 2016, Lemma 8.8]. Let δ′ = (d−δ)/(1−δ), and let ε be the value to which ρ converts
// at δ′. Then, with P′ and Q′ of [Loss], P′(S) ≤ e^ε·Q′(S) + δ′ for every event S. So P(S) ≤ (1−δ)(e^ε·Q′(S) + δ′)
// + δ ≤ e^ε·Q(S) + (1−δ)δ′ + δ, and the last two terms add up to d. ∎
func (l Loss) EpsilonAt(d Delta) (Epsilon, error) {
	switch {
	case !l.zcdp:
		return l.epsilon, nil
	case d.certain():
		return Epsilon{}, nil
	case d.Cmp(l.delta) < 0:
		return Epsilon{}, fmt.Errorf("%w: it is below the loss's own delta, %s", ErrDelta, l.delta)
	}
	rest := new(big.Rat).Sub(one, l.delta.rat())
	return l.rho.EpsilonAt(Delta{amount{rest.Quo(d.Minus(l.delta).rat(), rest)}})
}
