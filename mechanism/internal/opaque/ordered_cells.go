package opaque

import "fmt"

// OrderedCells holds the exact integers of several cells that an engine passes to a mechanism. It is one sequence
// that can be scanned repeatedly. The zero value has no cells.
type OrderedCells struct {
	redacted
	cells int
	scan  func(yield func(cell int, value, count int64) bool) error
}

// NewOrderedCells returns an OrderedCells that hides a sequence. scan is as in NewOrdered, except that each value
// comes with its cell, numbered from 0. The values increase within each cell. The cells may come in any order.
func NewOrderedCells(cells int, scan func(yield func(cell int, value, count int64) bool) error) OrderedCells {
	return OrderedCells{cells: max(cells, 0), scan: scan}
}

// CellsOf returns the number of cells, which is public.
func CellsOf(o OrderedCells) int { return o.cells }

// ScanCells opens the values of all cells. It calls visit for each distinct value of a cell, clamped to [lower,
// upper], with its number of rows. Within a cell, the values increase strictly, and the counts are above 0.
// ScanCells returns the number of rows of each cell. It may return an error after some of the visits.
func ScanCells(o OrderedCells, lower, upper int64, visit func(cell int, value, count int64)) ([]int64, error) {
	at := make([]progress, o.cells)
	visits := make([]func(value, count int64), o.cells)
	for cell := range visits {
		visits[cell] = func(value, count int64) { visit(cell, value, count) }
	}
	good := true
	if o.scan != nil {
		err := o.scan(func(cell int, value, n int64) bool {
			good = good && cell >= 0 && cell < o.cells && at[cell].add(value, n, lower, upper, visits[cell])
			return good
		})
		switch {
		case !good:
			return nil, ErrOrder
		case err != nil:
			return nil, fmt.Errorf("scanning the values: %w", err)
		}
	}
	rows := make([]int64, o.cells)
	for cell := range at {
		rows[cell] = at[cell].rows
		at[cell].end(visits[cell])
	}
	return rows, nil
}
