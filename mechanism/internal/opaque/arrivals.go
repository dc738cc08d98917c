package opaque

import (
	"bytes"
	"errors"
	"fmt"
)

// Arrival describes rows of one unit in a sealed version that have one identity and lie in one cell (group).
type Arrival struct {
	Unit, Row [16]byte // digests of the unit, and of the row's identity within its table
	Cell      int      // the index of the cell, or −1 for rows that a question does not count
	Count     int64    // the number of these rows; at least 1
}

// Arrivals holds the rows of a sealed version that an engine passes to a mechanism of continual release. It is a
// sequence in increasing order of unit, row and cell. The zero value has no rows.
type Arrivals struct {
	redacted
	scan func(yield func(Arrival) bool) error
}

// NewArrivals returns an Arrivals that hides a sequence. scan must call yield with each Arrival, in strictly increasing
// order of unit, row and cell, until yield returns false or the sequence ends.
func NewArrivals(scan func(yield func(Arrival) bool) error) Arrivals { return Arrivals{scan: scan} }

// ErrArrivals reports a scan that does not yield a sequence in increasing order. It is a defect of the engine, and
// says nothing about the rows.
var ErrArrivals = errors.New("the rows are not an ordered sequence")

// EachArrival calls visit for each Arrival in order, until visit returns an error. Cells are below the given number.
func EachArrival(a Arrivals, cells int, visit func(Arrival) error) error {
	if a.scan == nil {
		return nil
	}
	var last Arrival
	var failed error
	started := false
	err := a.scan(func(next Arrival) bool {
		if next.Count < 1 || next.Cell < -1 || next.Cell >= cells || started && !before(last, next) {
			failed = ErrArrivals
		} else {
			failed = visit(next)
		}
		last, started = next, true
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("scanning the rows: %w", err)
	}
	return nil
}

// before reports whether a comes before b in the order of Arrivals.
func before(a, b Arrival) bool {
	if c := bytes.Compare(a.Unit[:], b.Unit[:]); c != 0 {
		return c < 0
	}
	if c := bytes.Compare(a.Row[:], b.Row[:]); c != 0 {
		return c < 0
	}
	return a.Cell < b.Cell
}
