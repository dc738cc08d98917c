package mechanism

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
)

// Exact is a true value on its way from an engine to a mechanism. It is opaque: nothing but this package reads it back, and
// printing, logging or encoding one says only that it is there. Of fmt's verbs %p and %w do not ask Format, and print the
// address of what is inside: never the value.
type Exact struct {
	v *big.Int // unexported, and no method returns it: the compiler keeps the promise
}

// NewExact seals an integer. A nil one is 0.
func NewExact(v *big.Int) Exact {
	if v == nil {
		v = new(big.Int)
	}
	return Exact{new(big.Int).Set(v)}
}

const redacted = "[exact]"

var errRedacted = errors.New("an exact value is not to be encoded")

// String reveals nothing.
func (Exact) String() string { return redacted }

// GoString reveals nothing.
func (Exact) GoString() string { return redacted }

// Format reveals nothing, whatever the verb that asks it.
func (Exact) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue reveals nothing.
func (Exact) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is an error: an exact value must not be encoded by accident.
func (Exact) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText is an error.
func (Exact) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary is an error.
func (Exact) MarshalBinary() ([]byte, error) { return nil, errRedacted }

// GobEncode is an error.
func (Exact) GobEncode() ([]byte, error) { return nil, errRedacted }

// Plus is the sum of two true values, sealed like them.
func (e Exact) Plus(o Exact) Exact {
	sum := new(big.Int)
	for _, x := range []Exact{e, o} {
		if x.v != nil {
			sum.Add(sum, x.v)
		}
	}
	return Exact{sum}
}
