package privacy

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Delta is the probability with which a loss may be exceeded: an exact rational in [0, 1). The zero value is 0, under which
// it never is.
type Delta struct {
	r *big.Rat // nil is zero; in [0, 1); never changed once set
}

// ErrDelta reports a text that is no δ: not a decimal number, negative, or 1 and more.
var ErrDelta = errors.New("invalid delta")

// ParseDelta reads a decimal in [0, 1) ("1e-6", "0"), exactly. Others, NaN, infinities, more than 64 characters and
// exponents beyond ±64 are ErrDelta.
func ParseDelta(text string) (Delta, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil {
		return Delta{}, fmt.Errorf("%w: %w", ErrDelta, err)
	}
	return DeltaOf(r)
}

// DeltaOf takes an exact rational in [0, 1) as a probability. Another or a nil one is ErrDelta.
func DeltaOf(r *big.Rat) (Delta, error) {
	if r == nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return Delta{}, fmt.Errorf("%w: it must be at least 0 and below 1", ErrDelta)
	}
	return Delta{new(big.Rat).Set(r)}, nil
}

// Rat returns a copy of the exact value.
func (d Delta) Rat() *big.Rat {
	if d.r == nil {
		return new(big.Rat)
	}
	return new(big.Rat).Set(d.r)
}

// IsZero reports that the loss is never exceeded.
func (d Delta) IsZero() bool { return d.r == nil || d.r.Sign() == 0 }

// Cmp compares two probabilities: -1, 0 or +1.
func (d Delta) Cmp(f Delta) int { return d.Rat().Cmp(f.Rat()) }

// String writes the exact value: a decimal where it has a finite one, else a fraction.
func (d Delta) String() string { return exact.FormatRat(d.Rat()) }

// MarshalText writes what String writes.
func (d Delta) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote. Unlike ParseDelta it takes fractions.
func (d *Delta) UnmarshalText(text []byte) error {
	r, err := exact.ParseRat(string(text))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDelta, err)
	}
	f, err := DeltaOf(r)
	if err != nil {
		return err
	}
	*d = f
	return nil
}
