package engine

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// CellOf is the cell of some values of b's keys, or −1 where one is not among the known ones.
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

// Tally is how many rows of a cell have a value.
type Tally struct {
	Keys         []value.Value
	Value, Count int64
}

// tallied is a tally with its cell.
type tallied struct {
	Tally
	cell int
}

// ScanCells is a pass over the tallies of b in the order of their values, in pages, for engines that hold a page whole.
// page gives to each those whose value is at least from, in order of value, but not more than so many. Of a full page
// the last value may be incomplete, and the next page begins with it again. Cells of one value are given in their
// order.
func ScanCells(
	b *bounded.Statement, size int, page func(from int64, most int, each func(Tally) error) error,
) func(yield func(cell int, value, count int64) bool) error {
	return func(yield func(cell int, value, count int64) bool) error {
		from, most := int64(math.MinInt64), size
		for {
			var last []tallied // those of the greatest value so far
			seen, enough := 0, false
			// Engines give cells of one value in any order. Their own order makes what is drawn a function of the rows
			// and the randomness alone.
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
