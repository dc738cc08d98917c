package privacy

import (
	"errors"
	"math/big"

	"dither/internal/exact"
)

// Rho is a loss ρ of zero-concentrated differential privacy (zCDP), or a sum of such losses: an exact, non-negative
// rational. A mechanism M is ρ-zCDP if D_α(M(D)‖M(D′)) ≤ αρ for all neighbours D, D′ and all α > 1, where D_α is
// the Rényi divergence [Bun & Steinke 2016, Definition 1.1]. The zero value is no loss.
type Rho struct{ amount }

// MaxRho is the largest ρ that ParseRho accepts. MaxEpsilon already costs ε²/2 = 500,000, which protects nobody.
const MaxRho = 1_000_000

// ErrRho reports a text that is not a valid ρ: not a decimal number, not above zero, or above MaxRho.
var ErrRho = errors.New("invalid rho")

// ParseRho reads a positive decimal of at most MaxRho, such as "0.02" or "1e-3", exactly. For zero, negative
// numbers, NaN, infinities, more than 64 characters and exponents beyond ±64 the error is ErrRho.
func ParseRho(text string) (Rho, error) {
	a, err := parseAmount(text, MaxRho, ErrRho)
	return Rho{a}, err
}

// RhoOf returns a non-negative rational as a loss. For a negative or nil one the error is ErrRho.
func RhoOf(r *big.Rat) (Rho, error) {
	a, err := amountOf(r, ErrRho)
	return Rho{a}, err
}

// UnmarshalText reads the output of MarshalText. Unlike ParseRho it accepts zero, fractions and any size.
func (r *Rho) UnmarshalText(text []byte) error {
	a, err := readAmount(text, ErrRho)
	if err == nil {
		r.amount = a
	}
	return err
}

// Cmp compares two losses, and returns -1, 0 or +1.
func (r Rho) Cmp(s Rho) int { return r.cmp(s.amount) }

// Plus returns r + s, the loss of two mechanisms on the same data by composition [Bun & Steinke 2016, Lemma 1.7].
func (r Rho) Plus(s Rho) Rho { return Rho{r.plus(s.amount)} }

// Minus returns r − s, or no loss if s is larger.
func (r Rho) Minus(s Rho) Rho { return Rho{r.minus(s.amount)} }

// Times returns k·r, the loss of k mechanisms of loss r each. It is not group privacy, for which see [Rho.Group]. A
// negative k counts as 0.
func (r Rho) Times(k int64) Rho { return Rho{r.times(k)} }

// Group returns k²ρ, the loss of a mechanism of loss r for a group of k people [Bun & Steinke 2016, Proposition
// 1.9]. A negative k counts as 0.
func (r Rho) Group(k int64) Rho { return Rho{r.times(k).times(k)} }

// Share returns r·num/den. It panics unless 0 ≤ num and 0 < den: callers compute these numbers, so another value is
// a programming error.
func (r Rho) Share(num, den int64) Rho { return Rho{r.share(num, den)} }

// Pure returns the largest pure loss whose zCDP cost, ε²/2, is at most r. It is √(2ρ), rounded down by a relative
// 10⁻¹⁵ at most.
func (r Rho) Pure() Epsilon {
	if r.IsZero() {
		return Epsilon{}
	}
	// Let x = √(2ρ)·10ᵖ. Then ⌊x⌋ is the integer square root of ⌊x²⌋. The logarithm of a root is half of the
	// logarithm, so p follows from half the size of ρ.
	places := digits - size(r.rat())/2
	step := exact.DecimalStep(places)
	scaled := new(big.Rat).Quo(r.Times(2).rat(), new(big.Rat).Mul(step, step))
	root := new(big.Int).Sqrt(exact.FloorRat(scaled))
	return Epsilon{amount{step.Mul(step, new(big.Rat).SetInt(root))}}
}
