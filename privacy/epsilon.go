package privacy

import (
	"errors"
	"math/big"
)

// Epsilon is a pure privacy loss ε, or a sum of pure losses: an exact, non-negative rational. The zero value is no
// loss.
type Epsilon struct{ amount }

// MaxEpsilon is the largest ε that ParseEpsilon accepts. A larger loss protects nobody, and is probably a mistake.
const MaxEpsilon = 1000

// ErrEpsilon reports a text that is not a valid ε: not a decimal number, not above zero, or above MaxEpsilon.
var ErrEpsilon = errors.New("invalid epsilon")

// ParseEpsilon reads a positive decimal of at most MaxEpsilon, such as "0.1" or "1e-3", exactly. For zero, negative
// numbers, NaN, infinities, more than 64 characters and exponents beyond ±64 the error is ErrEpsilon.
func ParseEpsilon(text string) (Epsilon, error) {
	a, err := parseAmount(text, MaxEpsilon, ErrEpsilon)
	return Epsilon{a}, err
}

// EpsilonOf returns a non-negative rational as a loss. For a negative or nil one the error is ErrEpsilon.
func EpsilonOf(r *big.Rat) (Epsilon, error) {
	a, err := amountOf(r, ErrEpsilon)
	return Epsilon{a}, err
}

// UnmarshalText reads the output of MarshalText. Unlike ParseEpsilon it accepts zero, fractions and any size.
func (e *Epsilon) UnmarshalText(text []byte) error {
	a, err := readAmount(text, ErrEpsilon)
	if err == nil {
		e.amount = a
	}
	return err
}

// Cmp compares two losses, and returns -1, 0 or +1.
func (e Epsilon) Cmp(f Epsilon) int { return e.cmp(f.amount) }

// Plus returns e + f, the loss of two mechanisms on the same data by basic composition [Dwork et al. 2006].
func (e Epsilon) Plus(f Epsilon) Epsilon { return Epsilon{e.plus(f.amount)} }

// Minus returns e − f, or no loss if f is larger.
func (e Epsilon) Minus(f Epsilon) Epsilon { return Epsilon{e.minus(f.amount)} }

// Times returns k·e, the loss of k mechanisms of loss e each. A negative k counts as 0.
func (e Epsilon) Times(k int64) Epsilon { return Epsilon{e.times(k)} }

// Group returns kε, the loss of a mechanism of loss e for a group of k people [Dwork & Roth 2014, Theorem 2.2].
// Proof: k steps of the neighbouring relation lead from one dataset to the other, and k ratios of at most e^ε
// multiply. A negative k counts as 0.
func (e Epsilon) Group(k int64) Epsilon { return e.Times(k) }

// Share returns e·num/den. It panics unless 0 ≤ num and 0 < den: callers compute these numbers, so another value is
// a programming error.
func (e Epsilon) Share(num, den int64) Epsilon { return Epsilon{e.share(num, den)} }

// Rho returns ε²/2, the zCDP loss of a mechanism whose pure loss is e, exactly [Bun & Steinke 2016, Proposition
// 1.4]. There is no converse: no zCDP loss above 0 implies a bound on the pure loss.
func (e Epsilon) Rho() Rho { return Rho{e.mul(e.amount).share(1, 2)} }

// BoundedRange returns ε²/8, the zCDP loss of an e-bounded-range mechanism, exactly [Cesar & Rogers 2021]. A
// mechanism is ε-bounded-range if, for all neighbours, ln(P(o)/Q(o)) lies for all outputs o in one interval of
// length ε [Durfee & Rogers 2019]. The exponential mechanism is one.
//
// Proof. Let ψ(λ) = ln E_Q exp(λ·ln(P/Q)). Then ψ(0) = ψ(1) = 0, and D_α(P‖Q) = ψ(α)/(α − 1). The second derivative
// ψ″(λ) is the variance of ln(P/Q) under a tilted Q. It is at most ε²/4, the variance of a fair coin at the ends of
// the interval. So ψ(λ) − λ(λ − 1)·ε²/8 is concave, and it is 0 at λ = 0 and λ = 1. Hence it is at most 0 for λ >
// 1, which gives D_α ≤ α·ε²/8. ∎
func (e Epsilon) BoundedRange() Rho { return Rho{e.mul(e.amount).share(1, 8)} }
