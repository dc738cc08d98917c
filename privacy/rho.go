package privacy

import (
	"errors"
	"math/big"

	"dither/internal/exact"
)

// Rho is a loss ρ of zero-concentrated differential privacy (zCDP), or a sum of such: an exact, non-negative rational.
// A mechanism M is ρ-zCDP if D_α(M(D)‖M(D′)) ≤ αρ for all neighbours D, D′ and all α > 1, where D_α is
// Rényi's divergence [Bun & Steinke 2016, Definition 1.1]. The zero value is no loss.
type Rho struct{ amount }

// MaxRho bounds what ParseRho accepts: beyond the cost of MaxEpsilon, ε²/2 = 500,000, nobody is protected.
const MaxRho = 1_000_000

// ErrRho reports a text that is not a valid ρ: not a decimal number, not above zero, or above MaxRho.
var ErrRho = errors.New("invalid rho")

// ParseRho reads a positive decimal of at most MaxRho ("0.02", "1e-3"), exactly. Zero, negative numbers, NaN,
// infinities, more than 64 characters and exponents beyond ±64 are ErrRho.
func ParseRho(text string) (Rho, error) {
	a, err := parseAmount(text, MaxRho, ErrRho)
	return Rho{a}, err
}

// RhoOf takes an exact non-negative rational as a loss. A negative or nil one is ErrRho.
func RhoOf(r *big.Rat) (Rho, error) {
	a, err := amountOf(r, ErrRho)
	return Rho{a}, err
}

// UnmarshalText reads what MarshalText wrote. Unlike ParseRho it takes zero, fractions and any size.
func (r *Rho) UnmarshalText(text []byte) error {
	a, err := readAmount(text, ErrRho)
	if err == nil {
		r.amount = a
	}
	return err
}

// Cmp compares two losses: -1, 0 or +1.
func (r Rho) Cmp(s Rho) int { return r.cmp(s.amount) }

// Plus is composition: the loss of two mechanisms on the same data [Bun & Steinke 2016, Lemma 1.7].
func (r Rho) Plus(s Rho) Rho { return Rho{r.plus(s.amount)} }

// Minus returns r − s, or no loss if s is larger.
func (r Rho) Minus(s Rho) Rho { return Rho{r.minus(s.amount)} }

// Times is k·r, the loss of k mechanisms of loss r each. It is not group privacy, which is Group. A negative k counts
// as 0.
func (r Rho) Times(k int64) Rho { return Rho{r.times(k)} }

// Group is group privacy: what a mechanism of loss r promises k people together, k²ρ [Bun & Steinke 2016, Proposition
// 1.9]. A negative k counts as 0.
func (r Rho) Group(k int64) Rho { return Rho{r.times(k).times(k)} }

// Share returns the part num/den of r. It panics unless 0 ≤ num and 0 < den: shares are counted, not read.
func (r Rho) Share(num, den int64) Rho { return Rho{r.share(num, den)} }

// Pure is the largest pure loss whose zCDP cost, ε²/2, is at most r: √(2ρ), rounded down by less than 10⁻¹⁵
// of it.
func (r Rho) Pure() Epsilon {
	if r.IsZero() {
		return Epsilon{}
	}
	// With x = √(2ρ)·10ᵖ, ⌊x⌋ is the integer square root of ⌊x²⌋. Half the size of ρ is the size of its
	// root.
	places := digits - size(r.rat())/2
	step := exact.DecimalStep(places)
	scaled := new(big.Rat).Quo(r.Times(2).rat(), new(big.Rat).Mul(step, step))
	root := new(big.Int).Sqrt(exact.FloorRat(scaled))
	return Epsilon{amount{step.Mul(step, new(big.Rat).SetInt(root))}}
}
