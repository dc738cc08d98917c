package privacy

import (
	"errors"
	"math/big"
)

// Epsilon is a pure privacy loss ε, or a sum of such: an exact, non-negative rational. The zero value is no loss.
type Epsilon struct{ amount }

// MaxEpsilon bounds what ParseEpsilon accepts. A larger loss protects nobody, and is probably a mistake.
const MaxEpsilon = 1000

// ErrEpsilon reports a text that is not a valid ε: not a decimal number, not above zero, or above MaxEpsilon.
var ErrEpsilon = errors.New("invalid epsilon")

// ParseEpsilon reads a positive decimal of at most MaxEpsilon ("0.1", "1e-3"), exactly. Zero, negative numbers, NaN,
// infinities, more than 64 characters and exponents beyond ±64 are ErrEpsilon.
func ParseEpsilon(text string) (Epsilon, error) {
	a, err := parseAmount(text, MaxEpsilon, ErrEpsilon)
	return Epsilon{a}, err
}

// EpsilonOf takes an exact non-negative rational as a loss. A negative or nil one is ErrEpsilon.
func EpsilonOf(r *big.Rat) (Epsilon, error) {
	a, err := amountOf(r, ErrEpsilon)
	return Epsilon{a}, err
}

// UnmarshalText reads what MarshalText wrote. Unlike ParseEpsilon it takes zero, fractions and any size.
func (e *Epsilon) UnmarshalText(text []byte) error {
	a, err := readAmount(text, ErrEpsilon)
	if err == nil {
		e.amount = a
	}
	return err
}

// Cmp compares two losses: -1, 0 or +1.
func (e Epsilon) Cmp(f Epsilon) int { return e.cmp(f.amount) }

// Plus is basic composition: the loss of two mechanisms on the same data [Dwork et al. 2006].
func (e Epsilon) Plus(f Epsilon) Epsilon { return Epsilon{e.plus(f.amount)} }

// Minus returns e − f, or no loss if f is larger.
func (e Epsilon) Minus(f Epsilon) Epsilon { return Epsilon{e.minus(f.amount)} }

// Times is k·e: the loss of k mechanisms of loss e each, and by Group that of one for k people. A negative k counts as
// 0.
func (e Epsilon) Times(k int64) Epsilon { return Epsilon{e.times(k)} }

// Group is group privacy: what a mechanism of loss e promises k people together, kε [Dwork & Roth 2014, Theorem 2.2].
// Between datasets that k steps of the neighbouring relation join, k ratios of at most e^ε multiply. A negative k
// counts as 0.
func (e Epsilon) Group(k int64) Epsilon { return e.Times(k) }

// Share returns the part num/den of e. It panics unless 0 ≤ num and 0 < den, because callers compute these numbers
// and do not read them.
func (e Epsilon) Share(num, den int64) Epsilon { return Epsilon{e.share(num, den)} }

// Rho is the zCDP loss of a mechanism whose pure loss is e: ε²/2, exactly [Bun & Steinke 2016, Proposition 1.4].
// There is no way back: no ρ above 0 bounds a pure loss.
func (e Epsilon) Rho() Rho { return Rho{e.mul(e.amount).share(1, 2)} }

// BoundedRange is the zCDP loss of an e-bounded-range mechanism: ε²/8, exactly [Cesar & Rogers 2021]. A mechanism is
// ε-bounded-range if, for all neighbours, ln(P(o)/Q(o)) lies for all outputs o in one interval of length ε [Durfee &
// Rogers 2019]; the exponential mechanism is.
//
// Proof: let ψ(λ) = ln E_Q exp(λ·ln(P/Q)), so that ψ(0) = ψ(1) = 0 and D_α(P‖Q) = ψ(α)/(α − 1). ψ″(λ)
// is the variance of ln(P/Q) under a tilted Q, hence at most ε²/4, that of a fair coin at the interval's ends. So
// ψ(λ) − λ(λ − 1)·ε²/8 is concave and 0 at 0 and 1: beyond 1 it is at most 0, and D_α ≤ α·ε²/8. ∎
func (e Epsilon) BoundedRange() Rho { return Rho{e.mul(e.amount).share(1, 8)} }
