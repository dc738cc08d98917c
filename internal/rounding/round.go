package rounding

import "slices"

// round rounds fixed-point numbers whose rows and columns have integer sums. Each cell becomes one of the two integers
// around it, and no sum changes.
//
// A row or column with integer sum has no cell or at least two cells that are not integers. So a walk along such cells,
// changing between rows and columns, comes back to a row or column where it was, and its last part is a cycle. Along
// the cycle, one number is added to and subtracted from the cells in turn, until one of them is an integer. Each cycle
// makes a further cell an integer, so the walk ends.
func (t *Table) round(x []int64) []int64 {
	n, m := len(t.Rows), len(t.Columns)
	part := func(cell int) int64 { return x[cell] & (one - 1) }
	ends := make([][]int, n+m) // the cells of each row, and of each column, that may not be integers
	for cell := range x {
		if part(cell) != 0 {
			ends[cell/m] = append(ends[cell/m], cell)
			ends[n+cell%m] = append(ends[n+cell%m], cell)
		}
	}
	place := slices.Repeat([]int{-1}, n+m) // of a row or column in the path
	var lines, cells []int                 // the path: cells[i] leads from lines[i] to the next
	// next returns a cell of the line that is no integer and that the path did not just use, or −1.
	next := func(line int) int {
		own := ends[line]
		for i := len(own) - 1; i >= 0; i-- {
			switch {
			case part(own[i]) == 0:
				own = slices.Delete(own, i, i+1)
			case len(cells) == 0 || own[i] != cells[len(cells)-1]:
				ends[line] = own
				return own[i]
			}
		}
		ends[line] = own
		return -1
	}
	for start := range n {
		for line := start; ; {
			cell := next(line)
			if cell < 0 {
				break
			}
			place[line] = len(lines)
			lines, cells = append(lines, line), append(cells, cell)
			if line < n {
				line = n + cell%m
			} else {
				line = cell / m
			}
			if first := place[line]; first >= 0 {
				cancel(x, cells[first:])
				for _, l := range lines[first:] {
					place[l] = -1
				}
				lines, cells = lines[:first], cells[:first]
			}
		}
	}
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = v / one
	}
	return out
}

// cancel adds and subtracts the smallest number, in turn along a cycle of cells, that makes one of them an integer.
func cancel(x []int64, cycle []int) {
	up, down := one, one // how far the first cell can be raised and lowered
	for i, cell := range cycle {
		above := x[cell] & (one - 1)
		below := one - above
		if i%2 == 1 {
			above, below = below, above
		}
		up, down = min(up, below), min(down, above)
	}
	step := up
	if down < up {
		step = -down
	}
	for i, cell := range cycle {
		if i%2 == 0 {
			x[cell] += step
		} else {
			x[cell] -= step
		}
	}
}
