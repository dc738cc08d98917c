package privacy

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Delta is the probability with which a loss may be exceeded: an exact rational in [0, 1]. The zero value is 0: the
// loss is never exceeded. 1 promises nothing; sums and bounds saturate there.
type Delta struct{ amount }

// ErrDelta reports a text that is not a valid δ: not a decimal number, negative, or at least 1. It also reports a
// conversion that does not exist at the δ.
var ErrDelta = errors.New("invalid delta")

// ParseDelta reads a decimal in [0, 1) ("1e-6", "0"), exactly. Others, NaN, infinities, more than 64 characters and
// exponents beyond ±64 are ErrDelta.
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

// DeltaOf takes an exact rational in [0, 1] as a probability. Another or a nil one is ErrDelta.
func DeltaOf(r *big.Rat) (Delta, error) {
	a, err := amountOf(r, ErrDelta)
	if err == nil && a.rat().Cmp(one) > 0 {
		return Delta{}, fmt.Errorf("%w: it must be at most 1", ErrDelta)
	}
	return Delta{a}, err
}

// UnmarshalText reads what MarshalText wrote. Unlike ParseDelta it takes fractions, and 1.
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

// capped turns an upper bound of a probability into a Delta.
func capped(a amount) Delta {
	if a.rat().Cmp(one) > 0 {
		return Delta{amount{one}}
	}
	return Delta{a}
}

// Cmp compares two probabilities: -1, 0 or +1.
func (d Delta) Cmp(f Delta) int { return d.cmp(f.amount) }

// Plus bounds the probability that one of two losses is exceeded: d + f, at most 1.
func (d Delta) Plus(f Delta) Delta { return capped(d.plus(f.amount)) }

// Minus returns d − f, or 0 if f is larger.
func (d Delta) Minus(f Delta) Delta { return Delta{d.minus(f.amount)} }

// Share returns the part num/den of d, at most 1. It panics unless 0 ≤ num and 0 < den, because callers compute these
// numbers and do not read them.
func (d Delta) Share(num, den int64) Delta { return capped(d.share(num, den)) }

// certain reports whether the promise is void.
func (d Delta) certain() bool { return d.rat().Cmp(one) == 0 }
