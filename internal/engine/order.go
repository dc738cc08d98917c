package engine

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// CellOf returns the index of the cell (group) with these key values, or −1 if b does not list one of the values.
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

// Tally is the number of rows of one cell (group) that have the same value.
type Tally struct {
	Keys         []value.Value
	Value, Count int64
}

// tallied is a Tally with the index of its cell, or −1.
type tallied struct {
	Tally
	cell int
}

// ScanCells returns one pass over the tallies of b, in increasing order of their values. It reads them in pages of at
// most `size` tallies, because some drivers hold a whole result in memory. The function page passes the tallies whose
// value is at least its argument from to the function each, in order of their values. It stops after its argument most,
// a number of tallies. A full page may lack some tallies of its last value, so the next page begins with this value
// again. Tallies with the same value are yielded in the order of their cells.
func ScanCells(
	b *bounded.Statement, size int, page func(from int64, most int, each func(Tally) error) error,
) func(yield func(cell int, value, count int64) bool) error {
	return func(yield func(cell int, value, count int64) bool) error {
		from, most := int64(math.MinInt64), size
		for {
			var last []tallied // the tallies with the greatest value read so far
			seen, enough := 0, false
			// Engines return tallies with the same value in any order. Sorting them makes the random draws a
			// function of the rows and the randomness alone.
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
				most *= 2 // all tallies of the page have the same value
			}
		}
	}
}
