package privacy

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Delta is a bound on the probability with which a loss may be exceeded: an exact rational in [0, 1]. The zero
// value is 0: the loss is never exceeded. A Delta of 1 promises nothing. Sums and bounds above 1 become 1.
type Delta struct{ amount }

// ErrDelta reports an invalid δ: a text that is not a decimal number, is negative, or is at least 1. It also
// reports a conversion that does not exist at a δ.
var ErrDelta = errors.New("invalid delta")

// ParseDelta reads a decimal in [0, 1), such as "1e-6" or "0", exactly. For any other number, NaN, infinities, more
// than 64 characters and exponents beyond ±64 the error is ErrDelta.
func ParseDelta(text string) (Delta, error) {
	r, err := exact.ParseDecimal(text)
	switch {
	case err != nil:
		return Delta{}, fmt.Errorf("%w: %w", ErrDelta, err)
	case r.Sign() < 0 || r.Cmp(one) >= 0:
		return Delta{}, fmt.Errorf("%w: it must be at least 0 and below 1", ErrDelta)
	}
	return Delta{amount{r}}, nil
}

var one = big.NewRat(1, 1) // never changed

// DeltaOf returns a rational in [0, 1] as a Delta. For any other, or nil, the error is ErrDelta.
func DeltaOf(r *big.Rat) (Delta, error) {
	a, err := amountOf(r, ErrDelta)
	if err == nil && a.rat().Cmp(one) > 0 {
		return Delta{}, fmt.Errorf("%w: it must be at most 1", ErrDelta)
	}
	return Delta{a}, err
}

// UnmarshalText reads the output of MarshalText. Unlike ParseDelta it accepts fractions, and 1.
func (d *Delta) UnmarshalText(text []byte) error {
	a, err := readAmount(text, ErrDelta)
	if err != nil {
		return err
	}
	f, err := DeltaOf(a.rat())
	if err == nil {
		*d = f
	}
	return err
}

// capped returns an upper bound of a probability as a Delta, at most 1.
func capped(a amount) Delta {
	if a.rat().Cmp(one) > 0 {
		return Delta{amount{one}}
	}
	return Delta{a}
}

// Cmp compares two probabilities, and returns -1, 0 or +1.
func (d Delta) Cmp(f Delta) int { return d.cmp(f.amount) }

// Plus returns d + f, at most 1. It bounds the probability that one of two losses is exceeded.
func (d Delta) Plus(f Delta) Delta { return capped(d.plus(f.amount)) }

// Minus returns d − f, or 0 if f is larger.
func (d Delta) Minus(f Delta) Delta { return Delta{d.minus(f.amount)} }

// Share returns d·num/den, at most 1. It panics unless 0 ≤ num and 0 < den: callers compute these numbers, so
// another value is a programming error.
func (d Delta) Share(num, den int64) Delta { return capped(d.share(num, den)) }

// certain reports whether d is 1, so that it promises nothing.
func (d Delta) certain() bool { return d.rat().Cmp(one) == 0 }
