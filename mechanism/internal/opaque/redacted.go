package opaque

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Redacted is the text shown in place of every opaque value.
const Redacted = "[exact]"

var errRedacted = errors.New("an exact value cannot be encoded")

// redacted is embedded in every opaque type. Printing or logging a value shows only Redacted, and encoding it
// fails. fmt's verbs %p and %w do not call Format. They print the addresses of the contents, never the values.
type redacted struct{}

// String returns Redacted.
func (redacted) String() string { return Redacted }

// GoString returns Redacted.
func (redacted) GoString() string { return Redacted }

// Format writes Redacted, for every verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// LogValue returns Redacted.
func (redacted) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalJSON returns an error, so that an exact value cannot be encoded by accident.
func (redacted) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText returns an error.
func (redacted) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary returns an error.
func (redacted) MarshalBinary() ([]byte, error) { return nil, errRedacted }

// GobEncode returns an error.
func (redacted) GobEncode() ([]byte, error) { return nil, errRedacted }
