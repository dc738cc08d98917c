package mechanism

import (
	"fmt"
	"io"
	"log/slog"
)

// OrderedCells are the true integers of several cells on their way from an engine to a mechanism, in one sequence that can be
// read again and again. It is as opaque as Ordered. The zero value has no cells.
type OrderedCells struct {
	cells int
	scan  func(yield func(cell int, value, count int64) bool) error // unexported, and no method reads it out
}

// NewOrderedCells seals a sequence. scan is that of NewOrdered, but that each value comes with its cell, from 0 on: within
// each cell values are in increasing order, and cells may come in any.
func NewOrderedCells(cells int, scan func(yield func(cell int, value, count int64) bool) error) OrderedCells {
	return OrderedCells{max(cells, 0), scan}
}

// String reveals nothing.
func (OrderedCells) String() string { return redacted }

// GoString reveals nothing.
func (OrderedCells) GoString() string { return redacted }

// Format reveals nothing, whatever the verb that asks it.
func (OrderedCells) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue reveals nothing.
func (OrderedCells) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is an error: true values must not be encoded by accident.
func (OrderedCells) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText is an error.
func (OrderedCells) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary is an error.
func (OrderedCells) MarshalBinary() ([]byte, error) { return nil, errRedacted }

// GobEncode is an error.
func (OrderedCells) GobEncode() ([]byte, error) { return nil, errRedacted }

// progress is where a scan stands in one cell.
type progress struct {
	rows           int64
	last           int64 // as scanned
	pending, count int64 // the value that is being gathered, moved into the domain
	started        bool
}

// each calls visit for each cell's values, moved into the domain, with how many rows have each: within a cell values rise
// strictly, counts are above 0. It returns the cells' numbers of rows. An error may come after some of the visits.
func (o OrderedCells) each(in Domain, visit func(cell int, value, count int64)) ([]int64, error) {
	at := make([]progress, o.cells)
	bad := false
	if o.scan != nil {
		err := o.scan(func(cell int, value, n int64) bool {
			if cell < 0 || cell >= o.cells {
				bad = true
				return false
			}
			p := &at[cell]
			bad = bad || n < 0 || n > maxRows-p.rows || p.started && value < p.last
			if bad {
				return false
			}
			p.last, p.started = value, true
			p.rows += n
			value = in.clamp(value)
			if p.count > 0 && n > 0 && value != p.pending {
				visit(cell, p.pending, p.count)
				p.count = 0
			}
			if n > 0 {
				p.pending = value
			}
			p.count += n
			return true
		})
		switch {
		case bad:
			return nil, ErrOrder
		case err != nil:
			return nil, fmt.Errorf("scanning the values: %w", err)
		}
	}
	rows := make([]int64, o.cells)
	for cell, p := range at {
		rows[cell] = p.rows
		if p.count > 0 {
			visit(cell, p.pending, p.count)
		}
	}
	return rows, nil
}
