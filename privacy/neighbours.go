// Package privacy is the calculus of the promise: which data sets are neighbours, how far a query moves between them,
// what a mechanism loses, and how losses add up. It never sees data, and computes with exact rationals.
package privacy

import (
	"errors"
	"fmt"
)

// Neighbours says which two databases the promise holds between.
type Neighbours int

const (
	// AddRemove says that one has all the rows of one unit (a person, or a row) that the other lacks ("unbounded").
	AddRemove Neighbours = iota + 1
	// ChangeOne says that the rows of one unit are replaced by those of another, where rows are units a row by a row of
	// the same table; the number of units is the same ("bounded").
	ChangeOne
)

// ErrNeighbours reports a name of no neighbouring relation.
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
