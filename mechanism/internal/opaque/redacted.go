package opaque

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Redacted is the text shown in place of every opaque value.
const Redacted = "[exact]"

var errRedacted = errors.New("an exact value is not to be encoded")

// redacted is embedded in every opaque type: printing or logging one shows only that it exists, and encoding one fails.
// fmt's verbs %p and %w do not call Format. They print the addresses of the contents, and never the values.
type redacted struct{}

// String reveals nothing.
func (redacted) String() string { return Redacted }

// GoString reveals nothing.
func (redacted) GoString() string { return Redacted }

// Format reveals nothing, whatever the verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// LogValue reveals nothing.
func (redacted) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalJSON is an error: an exact value must not be encoded by accident.
func (redacted) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText is an error.
func (redacted) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary is an error.
func (redacted) MarshalBinary() ([]byte, error) { return nil, errRedacted }

// GobEncode is an error.
func (redacted) GobEncode() ([]byte, error) { return nil, errRedacted }
