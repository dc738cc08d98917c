package privacy

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Epsilon is a privacy loss, or a sum of privacy losses: an exact, non-negative rational. The zero value is no loss.
//
// No float stands between the text of an ε and the scale of the noise it buys.
type Epsilon struct {
	r *big.Rat // nil is zero; never negative; never changed once set
}

// MaxEpsilon bounds what ParseEpsilon accepts. A loss beyond it protects nobody and is taken for a mistake.
const MaxEpsilon = 1000

// ErrEpsilon reports a text that is no ε: not a decimal number, not above zero, or above MaxEpsilon.
var ErrEpsilon = errors.New("invalid epsilon")

// ParseEpsilon reads a positive decimal of at most MaxEpsilon ("0.1", "1e-3"), exactly. Zero, negative numbers, NaN,
// infinities, more than 64 characters and exponents beyond ±64 are ErrEpsilon.
func ParseEpsilon(text string) (Epsilon, error) {
	r, err := exact.ParseDecimal(text)
	switch {
	case err != nil:
		return Epsilon{}, fmt.Errorf("%w: %w", ErrEpsilon, err)
	case r.Sign() <= 0:
		return Epsilon{}, fmt.Errorf("%w: it must be above 0", ErrEpsilon)
	case r.Cmp(big.NewRat(MaxEpsilon, 1)) > 0:
		return Epsilon{}, fmt.Errorf("%w: it must be at most %d", ErrEpsilon, MaxEpsilon)
	}
	return Epsilon{r}, nil
}

// EpsilonOf takes an exact non-negative rational as a loss. A negative or nil one is ErrEpsilon.
func EpsilonOf(r *big.Rat) (Epsilon, error) {
	if r == nil || r.Sign() < 0 {
		return Epsilon{}, fmt.Errorf("%w: it must not be negative", ErrEpsilon)
	}
	return Epsilon{new(big.Rat).Set(r)}, nil
}

// Rat returns a copy of the exact value.
func (e Epsilon) Rat() *big.Rat {
	if e.r == nil {
		return new(big.Rat)
	}
	return new(big.Rat).Set(e.r)
}

// IsZero reports no loss at all.
func (e Epsilon) IsZero() bool { return e.r == nil || e.r.Sign() == 0 }

// Cmp compares two losses: -1, 0 or +1.
func (e Epsilon) Cmp(f Epsilon) int { return e.Rat().Cmp(f.Rat()) }

// Plus is basic composition: the loss of two mechanisms on the same data [Dwork et al. 2006].
func (e Epsilon) Plus(f Epsilon) Epsilon { return Epsilon{new(big.Rat).Add(e.Rat(), f.Rat())} }

// Minus returns e − f, or no loss where f is the larger.
func (e Epsilon) Minus(f Epsilon) Epsilon {
	d := new(big.Rat).Sub(e.Rat(), f.Rat())
	if d.Sign() < 0 {
		return Epsilon{}
	}
	return Epsilon{d}
}

// Times is group privacy: what a mechanism of loss e promises k people together [Dwork & Roth 2014, Theorem 2.2]. k must
// not be negative.
func (e Epsilon) Times(k int64) Epsilon {
	return Epsilon{new(big.Rat).Mul(e.Rat(), new(big.Rat).SetInt64(max(k, 0)))}
}

// Share returns the part num/den of e. It panics unless 0 ≤ num and 0 < den: shares are counted, not read.
func (e Epsilon) Share(num, den int64) Epsilon {
	if num < 0 || den <= 0 {
		panic("privacy: share of a loss is not a fraction")
	}
	return Epsilon{new(big.Rat).Mul(e.Rat(), big.NewRat(num, den))}
}

// String writes the exact value: a decimal where it has a finite one, else a fraction.
func (e Epsilon) String() string { return exact.FormatRat(e.Rat()) }

// MarshalText writes what String writes.
func (e Epsilon) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText wrote. Unlike ParseEpsilon it takes zero, fractions and any size.
func (e *Epsilon) UnmarshalText(text []byte) error {
	r, err := exact.ParseRat(string(text))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEpsilon, err)
	}
	f, err := EpsilonOf(r)
	if err != nil {
		return err
	}
	*e = f
	return nil
}
