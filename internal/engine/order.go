package engine

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// CellOf is the index of the cell with these key values, or −1 if one is unknown.
func CellOf(b *bounded.Statement, keys []value.Value) int {
	if b.Centred() {
		return int(keys[0].Int)
	}
	cell := 0
	for i, v := range keys {
		j := b.Keys[i].Index(v)
		if j < 0 {
			return -1
		}
		cell = cell*len(b.Keys[i].Values) + j
	}
	return cell
}

// Tally is the number of rows of a cell that have a value.
type Tally struct {
	Keys         []value.Value
	Value, Count int64
}

// tallied is a tally with its cell.
type tallied struct {
	Tally
	cell int
}

// ScanCells is a pass over the tallies of b in the order of their values, in pages, for engines that hold a whole page.
// page passes the tallies whose value is at least from, in order of value, but at most most of them. The last value of
// a full page may be incomplete; the next page begins with it again. Cells with one value come in their own order.
func ScanCells(
	b *bounded.Statement, size int, page func(from int64, most int, each func(Tally) error) error,
) func(yield func(cell int, value, count int64) bool) error {
	return func(yield func(cell int, value, count int64) bool) error {
		from, most := int64(math.MinInt64), size
		for {
			var last []tallied // the tallies of the greatest value so far
			seen, enough := 0, false
			// Engines return cells with one value in any order. Sorting them makes the random draws a function of the
			// rows and the randomness alone.
			flush := func() {
				slices.SortFunc(last, func(x, y tallied) int {
					return cmp.Or(cmp.Compare(x.cell, y.cell), cmp.Compare(x.Count, y.Count))
				})
				for _, t := range last {
					if t.cell >= 0 && !enough {
						enough = !yield(t.cell, t.Value, t.Count)
					}
				}
				last = last[:0]
			}
			err := page(from, most, func(t Tally) error {
				seen++
				if len(last) > 0 && last[0].Value != t.Value {
					flush()
				}
				last = append(last, tallied{t, CellOf(b, t.Keys)})
				return nil
			})
			if err != nil || enough {
				return err
			}
			if seen < most {
				flush()
				return nil
			}
			if next := last[0].Value; next > from {
				from = next
			} else {
				most *= 2 // a page of one value
			}
		}
	}
}
