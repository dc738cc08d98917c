package strategy

import (
	"fmt"
	"slices"
)

// Intervals returns the sums of the cells low … high−1 for each pair (low, high), in their order. The pairs must have
// 0 ≤ low < high ≤ n.
func Intervals(n int, pairs [][2]int) (Workload, error) {
	if len(pairs) == 0 || len(pairs) > MaxEntries {
		return Workload{}, fmt.Errorf("%w: there must be 1 to %d intervals, not %d", ErrWorkload, MaxEntries, len(pairs))
	}
	for _, p := range pairs {
		if p[0] < 0 || p[0] >= p[1] || p[1] > n {
			return Workload{}, fmt.Errorf("%w: the interval from cell %d to %d is empty, or exceeds the cells 0 to %d",
				ErrWorkload, p[0], p[1]-1, n-1)
		}
	}
	return intervals(n, part{family: listed, pairs: slices.Clone(pairs), weight: 1})
}

// Values returns each of the n cells.
func Values(n int) (Workload, error) { return Windows(n, 1) }

// Total returns the sum of all n cells.
func Total(n int) (Workload, error) { return Windows(n, n) }

// Levels returns the sums of all places of a hierarchy: a row of paths has, for one cell, the names of its places from
// the finest level to the coarsest. The cells of a place must be contiguous, and levels must nest: cells of one place
// must be in one place of every coarser level.
func Levels(paths [][]string) (Workload, error) {
	if len(paths) == 0 || len(paths[0]) == 0 {
		return Workload{}, fmt.Errorf("%w: levels need at least one cell and one level", ErrWorkload)
	}
	n, levels := len(paths), len(paths[0])
	for i, p := range paths {
		if len(p) != levels {
			return Workload{}, fmt.Errorf("%w: cell %d has %d levels, and the first cell has %d", ErrWorkload, i+1, len(p), levels)
		}
	}
	var pairs [][2]int
	for l := range levels {
		above := map[string]string{} // for each place, its place on the next level
		for _, p := range paths {
			if l+1 == levels {
				break
			}
			if a, known := above[p[l]]; known && a != p[l+1] {
				return Workload{}, fmt.Errorf("%w: levels do not nest: %q is in %q and in %q", ErrWorkload, p[l], a, p[l+1])
			}
			above[p[l]] = p[l+1]
		}
		first := map[string]int{} // the first cell of each place
		for low := 0; low < n; {
			name, high := paths[low][l], low+1
			for high < n && paths[high][l] == name {
				high++
			}
			if _, again := first[name]; again {
				return Workload{}, fmt.Errorf("%w: the cells of %q are not next to each other; sort them by the coarsest level first",
					ErrWorkload, name)
			}
			first[name] = low
			pairs = append(pairs, [2]int{low, high})
			low = high
		}
	}
	return Intervals(n, pairs)
}

// addGram adds the weight to every entry of the Gram matrix whose two cells are both in one of the pairs' intervals. It
// adds differences first, and then sums them, so its time does not depend on the lengths of the intervals.
func (p part) addGram(n int, add func(i, j int, v float64)) {
	corner := make([]float64, (n+1)*(n+1))
	for _, q := range p.pairs {
		low, high := q[0], q[1]
		corner[low*(n+1)+low] += p.weight
		corner[low*(n+1)+high] -= p.weight
		corner[high*(n+1)+low] -= p.weight
		corner[high*(n+1)+high] += p.weight
	}
	above := make([]float64, n+1)
	for i := range n {
		row := 0.0
		for j := range n {
			row += corner[i*(n+1)+j]
			above[j] += row
			if j >= i && above[j] != 0 {
				add(i, j, above[j])
			}
		}
	}
}
