package mechanism

import (
	"math/big"

	"dither/mechanism/internal/opaque"
)

// These types hide exact (non-private) values on their way from an engine to a mechanism. Engines create the
// values, and any package may pass them on. Only mechanism and the packages in its directory can read them: see
// package opaque.
type (
	// Exact is one exact integer.
	Exact = opaque.Exact
	// Ordered is a multiset of exact integers that is scanned in increasing order.
	Ordered = opaque.Ordered
	// OrderedCells holds a multiset of exact integers for each of several cells.
	OrderedCells = opaque.OrderedCells
	// Rows holds exact rows that a mechanism reads in several passes.
	Rows = opaque.Rows
	// RowShape is the public shape of Rows: the grid of each column and the limits of the rows.
	RowShape = opaque.RowShape
	// Arrivals holds the rows of a sealed version, for continual release.
	Arrivals = opaque.Arrivals
	// Arrival is one element of Arrivals, which an engine creates.
	Arrival = opaque.Arrival
	// Partition is a key that occurs in the data, with an exact value.
	Partition = opaque.Partition
)

// ErrOrder and ErrRows report malformed values.
var (
	ErrOrder = opaque.ErrOrder
	ErrRows  = opaque.ErrRows
)

// The constructors below are functions, not variables. A package could otherwise assign its own function to the
// variable and receive every exact value that an engine passes.

// NewExact returns an Exact that hides a copy of v. It is opaque.NewExact.
func NewExact(v *big.Int) Exact { return opaque.NewExact(v) }

// NewExacts returns values that hide these integers, in their order. It is opaque.NewExacts.
func NewExacts(words []int64) []Exact { return opaque.NewExacts(words) }

// NewOrdered returns an Ordered that hides a sequence of values in increasing order, each with its number of rows.
// It is opaque.NewOrdered.
func NewOrdered(scan func(yield func(value, count int64) bool) error) Ordered {
	return opaque.NewOrdered(scan)
}

// NewOrderedCells returns an OrderedCells that hides, for each cell, a sequence of values in increasing order with
// their numbers of rows. It is opaque.NewOrderedCells.
func NewOrderedCells(cells int, scan func(yield func(cell int, value, count int64) bool) error) OrderedCells {
	return opaque.NewOrderedCells(cells, scan)
}

// NewRows returns a Rows of the given shape, without rows. It is opaque.NewRows.
func NewRows(s RowShape) (*Rows, error) { return opaque.NewRows(s) }

// NewArrivals returns an Arrivals that hides the rows of a sealed version. It is opaque.NewArrivals.
func NewArrivals(scan func(yield func(Arrival) bool) error) Arrivals { return opaque.NewArrivals(scan) }

// NewPartition returns a Partition that hides a key and its value. It is opaque.NewPartition.
func NewPartition(key string, value Exact) Partition { return opaque.NewPartition(key, value) }
