// Package privacy is the calculus of the promise: which datasets are neighbours, how much a query changes between them,
// what a mechanism loses, and how losses add up. It never sees data, and computes with exact rationals.
package privacy

import (
	"errors"
	"fmt"
)

// Neighbours is the neighbouring relation: the pairs of databases between which the promise holds.
type Neighbours int

const (
	// AddRemove means that one database has all the rows of one unit (a person, or a row) that the other lacks
	// ("unbounded").
	AddRemove Neighbours = iota + 1
	// ChangeOne means that the rows of one unit are replaced by those of another ("bounded"). If rows are units, a row is
	// replaced by a row of the same table. The number of units stays the same.
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

// String writes the name that ParseNeighbours reads.
func (n Neighbours) String() string {
	switch n {
	case AddRemove:
		return "add-remove"
	case ChangeOne:
		return "change-one"
	}
	return fmt.Sprintf("Neighbours(%d)", int(n))
}

// MarshalText writes what String writes.
func (n Neighbours) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads what ParseNeighbours reads.
func (n *Neighbours) UnmarshalText(text []byte) error {
	m, err := ParseNeighbours(string(text))
	if err != nil {
		return err
	}
	*n = m
	return nil
}
