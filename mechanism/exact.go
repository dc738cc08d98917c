package mechanism

import "dither/mechanism/internal/opaque"

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

// The constructors of these types, and the errors that report malformed values.
var (
	NewExact        = opaque.NewExact
	NewOrdered      = opaque.NewOrdered
	NewOrderedCells = opaque.NewOrderedCells
	NewRows         = opaque.NewRows
	NewPartition    = opaque.NewPartition

	ErrOrder = opaque.ErrOrder
	ErrRows  = opaque.ErrRows
)
