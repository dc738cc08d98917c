// Package privacy defines differential privacy as dither uses it: neighbouring datasets, privacy losses, and how
// losses compose and convert. It also has the noise scales that a sensitivity needs. It never sees data, and
// computes with exact rationals.
package privacy

import (
	"errors"
	"fmt"
)

// Neighbours is a neighbouring relation: the pairs of datasets between which the privacy promise holds.
type Neighbours int

const (
	// AddRemove relates datasets of which one lacks all rows of one unit, and is otherwise equal. A unit is a
	// person or a row. The literature calls this relation unbounded.
	AddRemove Neighbours = iota + 1
	// ChangeOne relates datasets in which the rows of one unit are replaced by those of another. If rows are units,
	// a row is replaced by a row of the same table. The number of units stays the same. The literature calls this
	// relation bounded.
	ChangeOne
)

// ErrNeighbours reports the name of an unknown neighbouring relation.
var ErrNeighbours = errors.New("neighbours must be add-remove or change-one")

// ParseNeighbours reads "add-remove" or "change-one".
func ParseNeighbours(text string) (Neighbours, error) {
	switch text {
	case "add-remove":
		return AddRemove, nil
	case "change-one":
		return ChangeOne, nil
	}
	return 0, fmt.Errorf("%w, not %q", ErrNeighbours, text)
}

// String returns the name that ParseNeighbours reads.
func (n Neighbours) String() string {
	switch n {
	case AddRemove:
		return "add-remove"
	case ChangeOne:
		return "change-one"
	}
	return fmt.Sprintf("Neighbours(%d)", int(n))
}

// MarshalText returns the name that ParseNeighbours reads.
func (n Neighbours) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a name as ParseNeighbours does.
func (n *Neighbours) UnmarshalText(text []byte) error {
	m, err := ParseNeighbours(string(text))
	if err != nil {
		return err
	}
	*n = m
	return nil
}
