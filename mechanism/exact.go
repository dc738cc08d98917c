package mechanism

import (
	"math/big"

	"dither/mechanism/internal/opaque"
)

// Engines pass exact values to mechanisms in one of these types. Engines make such values and anybody may hand them on,
// but only packages below this one can open them: see package opaque.
type (
	// Exact is an exact integer.
	Exact = opaque.Exact
	// Ordered is a multiset of exact integers, scanned in increasing order.
	Ordered = opaque.Ordered
	// OrderedCells are the exact integers of several cells.
	OrderedCells = opaque.OrderedCells
	// Rows are exact rows that a mechanism passes over again and again.
	Rows = opaque.Rows
	// RowShape is the public shape of Rows.
	RowShape = opaque.RowShape
	// Partition is a key that exists in the data, with an exact value.
	Partition = opaque.Partition
)

// The errors that report malformed values.
var (
	ErrOrder = opaque.ErrOrder
	ErrRows  = opaque.ErrRows
)

// The constructors are functions, and no variables: whoever imports this package could put a function of their own into
// a variable, and would be given all that engines find.

// NewExact is opaque.NewExact: it hides a copy of an integer.
func NewExact(v *big.Int) Exact { return opaque.NewExact(v) }

// NewOrdered is opaque.NewOrdered: it hides a sequence of values with their numbers of rows, in increasing order.
func NewOrdered(scan func(yield func(value, count int64) bool) error) Ordered {
	return opaque.NewOrdered(scan)
}

// NewOrderedCells is opaque.NewOrderedCells: it hides such a sequence for each of several cells.
func NewOrderedCells(cells int, scan func(yield func(cell int, value, count int64) bool) error) OrderedCells {
	return opaque.NewOrderedCells(cells, scan)
}

// NewRows is opaque.NewRows: it makes room for rows of a shape.
func NewRows(s RowShape) (*Rows, error) { return opaque.NewRows(s) }

// NewPartition is opaque.NewPartition: it hides a key and its value.
func NewPartition(key string, value Exact) Partition { return opaque.NewPartition(key, value) }
