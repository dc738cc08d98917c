package privacy

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"dither/internal/exact"
)

// ErrLoss reports a text that is not a valid loss.
var ErrLoss = errors.New("invalid loss")

// String returns "ε = 0.5", "ρ = 0.02", or "ρ = 0.02, δ = 0.001".
func (l Loss) String() string { return l.text(func(number string) string { return number }) }

// Short returns the text of String with at most six digits a number, rounded up if up is true, and down otherwise.
// A price is to be rounded up, and an amount that may be spent is to be rounded down.
func (l Loss) Short(up bool) string {
	round := exact.FloorDigits
	if up {
		round = exact.CeilDigits
	}
	return l.text(func(number string) string { return exact.Shortened(number, round) })
}

func (l Loss) text(write func(number string) string) string {
	switch {
	case !l.zcdp:
		return "ε = " + write(l.epsilon.String())
	case l.delta.IsZero():
		return "ρ = " + write(l.rho.String())
	}
	return "ρ = " + write(l.rho.String()) + ", δ = " + write(l.delta.String())
}

// MarshalJSON writes {"epsilon":"0.5"} or {"rho":"0.02","delta":"0"}, exactly.
func (l Loss) MarshalJSON() ([]byte, error) {
	if l.zcdp {
		return json.Marshal(struct {
			Rho   Rho   `json:"rho"`
			Delta Delta `json:"delta"`
		}{l.rho, l.delta})
	}
	return json.Marshal(struct {
		Epsilon Epsilon `json:"epsilon"`
	}{l.epsilon})
}

// UnmarshalJSON reads the output of MarshalJSON. For anything else the error is ErrLoss: an unknown, missing or
// repeated key, a key in another case, and a number or null instead of a string. (Package json by itself would
// silently use the last of two losses.)
func (l *Loss) UnmarshalJSON(data []byte) error {
	var read Loss
	parts := map[string]encoding.TextUnmarshaler{"epsilon": &read.epsilon, "rho": &read.rho, "delta": &read.delta}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("%w: it is not an object", ErrLoss)
	}
	seen := map[string]bool{}
	for decoder.More() {
		key, _ := decoder.Token()
		value, _ := decoder.Token()
		name, isName := key.(string)
		text, isText := value.(string)
		part := parts[name]
		if !isName || !isText || part == nil || seen[name] {
			return fmt.Errorf("%w: its keys must be epsilon alone, or rho and delta, each once and with a string value",
				ErrLoss)
		}
		seen[name] = true
		if err := part.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("%w: %w", ErrLoss, err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("%w: the object is not closed", ErrLoss)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: text follows the object", ErrLoss)
	}
	read.zcdp = seen["rho"] && seen["delta"] && len(seen) == 2
	if pure := seen["epsilon"] && len(seen) == 1; !pure && !read.zcdp {
		return fmt.Errorf("%w: its keys must be epsilon alone, or rho and delta", ErrLoss)
	}
	*l = read
	return nil
}
