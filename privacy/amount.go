package privacy

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// amount is an exact, non-negative rational. The types Epsilon, Rho and Delta are built on it. The zero value is 0.
//
// No floating-point number comes between the text of an amount and the scale of the noise that it pays for.
type amount struct {
	r *big.Rat // nil means zero; never negative; never changed once set
}

// parseAmount parses a decimal above 0 and at most limit. For any other text it returns an error that wraps kind.
func parseAmount(text string, limit int64, kind error) (amount, error) {
	r, err := exact.ParseDecimal(text)
	switch {
	case err != nil:
		return amount{}, fmt.Errorf("%w: %w", kind, err)
	case r.Sign() <= 0:
		return amount{}, fmt.Errorf("%w: it must be above 0", kind)
	case r.Cmp(new(big.Rat).SetInt64(limit)) > 0:
		return amount{}, fmt.Errorf("%w: it must be at most %d", kind, limit)
	}
	return amount{r}, nil
}

// amountOf copies a non-negative rational. For a negative or nil one it returns an error that wraps kind.
func amountOf(r *big.Rat, kind error) (amount, error) {
	if r == nil || r.Sign() < 0 {
		return amount{}, fmt.Errorf("%w: it must not be negative", kind)
	}
	return amount{new(big.Rat).Set(r)}, nil
}

// readAmount parses the output of MarshalText. It returns errors that wrap kind.
func readAmount(text []byte, kind error) (amount, error) {
	r, err := exact.ParseRat(string(text))
	if err != nil {
		return amount{}, fmt.Errorf("%w: %w", kind, err)
	}
	return amountOf(r, kind)
}

// rat returns the value. The caller must not change it.
func (a amount) rat() *big.Rat {
	if a.r == nil {
		return new(big.Rat)
	}
	return a.r
}

// Rat returns a copy of the exact value.
func (a amount) Rat() *big.Rat { return new(big.Rat).Set(a.rat()) }

// IsZero reports whether the value is 0.
func (a amount) IsZero() bool { return a.r == nil || a.r.Sign() == 0 }

// String returns the exact value: as a decimal if it has finitely many digits, otherwise as a fraction.
func (a amount) String() string { return exact.FormatRat(a.rat()) }

// MarshalText returns the text of String.
func (a amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func (a amount) cmp(b amount) int {
	if a.r == b.r {
		return 0
	}
	return a.rat().Cmp(b.rat())
}

func (a amount) plus(b amount) amount {
	switch {
	case a.IsZero():
		return b
	case b.IsZero():
		return a
	}
	return amount{new(big.Rat).Add(a.r, b.r)}
}

// minus returns a − b, or 0 if that is negative.
func (a amount) minus(b amount) amount {
	d := new(big.Rat).Sub(a.rat(), b.rat())
	if d.Sign() < 0 {
		return amount{}
	}
	return amount{d}
}

func (a amount) mul(b amount) amount {
	if a.IsZero() || b.IsZero() {
		return amount{}
	}
	return amount{new(big.Rat).Mul(a.r, b.r)}
}

// times returns k·a, or 0 if k is negative.
func (a amount) times(k int64) amount { return a.mul(amount{new(big.Rat).SetInt64(max(k, 0))}) }

// share returns a·num/den. It panics unless 0 ≤ num and 0 < den: callers compute these numbers, so another value is
// a programming error.
func (a amount) share(num, den int64) amount {
	if num < 0 || den <= 0 {
		panic("privacy: share of a loss is not a fraction")
	}
	if a.IsZero() || num == den {
		return a
	}
	return a.mul(amount{big.NewRat(num, den)})
}
