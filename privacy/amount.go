package privacy

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// amount is an exact, non-negative rational, on which ε, ρ and δ are built. The zero value is 0.
//
// No float stands between the text of an amount and the scale of the noise that it pays for.
type amount struct {
	r *big.Rat // nil is zero; never negative; never changed once set
}

// parseAmount parses a decimal above 0 and at most limit. Anything else is the named error.
func parseAmount(text string, limit int64, named error) (amount, error) {
	r, err := exact.ParseDecimal(text)
	switch {
	case err != nil:
		return amount{}, fmt.Errorf("%w: %w", named, err)
	case r.Sign() <= 0:
		return amount{}, fmt.Errorf("%w: it must be above 0", named)
	case r.Cmp(new(big.Rat).SetInt64(limit)) > 0:
		return amount{}, fmt.Errorf("%w: it must be at most %d", named, limit)
	}
	return amount{r}, nil
}

// amountOf copies an exact non-negative rational. A negative or nil one is the named error.
func amountOf(r *big.Rat, named error) (amount, error) {
	if r == nil || r.Sign() < 0 {
		return amount{}, fmt.Errorf("%w: it must not be negative", named)
	}
	return amount{new(big.Rat).Set(r)}, nil
}

// readAmount parses the output of MarshalText.
func readAmount(text []byte, named error) (amount, error) {
	r, err := exact.ParseRat(string(text))
	if err != nil {
		return amount{}, fmt.Errorf("%w: %w", named, err)
	}
	return amountOf(r, named)
}

// rat is the value, not to be changed.
func (a amount) rat() *big.Rat {
	if a.r == nil {
		return new(big.Rat)
	}
	return a.r
}

// Rat returns a copy of the exact value.
func (a amount) Rat() *big.Rat { return new(big.Rat).Set(a.rat()) }

// IsZero reports that the value is 0.
func (a amount) IsZero() bool { return a.r == nil || a.r.Sign() == 0 }

// String writes the exact value: a decimal if it has a finite one, otherwise a fraction.
func (a amount) String() string { return exact.FormatRat(a.rat()) }

// MarshalText writes what String writes.
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

// minus is a − b, floored at 0.
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

// times is k·a, and 0 if k is negative.
func (a amount) times(k int64) amount { return a.mul(amount{new(big.Rat).SetInt64(max(k, 0))}) }

// share is the part num/den of a. It panics unless 0 ≤ num and 0 < den, because callers compute these numbers and do
// not read them.
func (a amount) share(num, den int64) amount {
	if num < 0 || den <= 0 {
		panic("privacy: share of a loss is not a fraction")
	}
	if a.IsZero() || num == den {
		return a
	}
	return a.mul(amount{big.NewRat(num, den)})
}
