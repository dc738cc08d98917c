package privacy

import (
	"errors"
	"fmt"
)

// Accountant is the measure in which losses are counted and added.
type Accountant int

const (
	// Pure counts the ε of pure differential privacy.
	Pure Accountant = iota + 1
	// ZCDP counts the (ρ, δ) of δ-approximate zCDP.
	ZCDP
)

// ErrAccountant reports the name of an unknown accountant, or a zCDP loss where only a pure loss is valid.
var ErrAccountant = errors.New("the accountant must be pure or zcdp")

// ParseAccountant reads "pure" or "zcdp".
func ParseAccountant(text string) (Accountant, error) {
	switch text {
	case "pure":
		return Pure, nil
	case "zcdp":
		return ZCDP, nil
	}
	return 0, fmt.Errorf("%w, not %q", ErrAccountant, text)
}

// String returns the name that ParseAccountant reads.
func (a Accountant) String() string {
	switch a {
	case Pure:
		return "pure"
	case ZCDP:
		return "zcdp"
	}
	return fmt.Sprintf("Accountant(%d)", int(a))
}

// MarshalText returns the name that ParseAccountant reads.
func (a Accountant) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name as ParseAccountant does.
func (a *Accountant) UnmarshalText(text []byte) error {
	b, err := ParseAccountant(string(text))
	if err == nil {
		*a = b
	}
	return err
}
