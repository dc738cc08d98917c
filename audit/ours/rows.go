package ours

import (
	"fmt"

	"dither/mechanism"
)

// multisets are all data sets of at most so many rows with values 0 … values − 1, each in increasing order, the smaller ones
// first.
func multisets(values int64, rows int) (all [][]int64, names []string) {
	all = [][]int64{nil}
	level := all
	for range rows {
		var next [][]int64
		for _, data := range level {
			least := int64(0)
			if len(data) > 0 {
				least = data[len(data)-1]
			}
			for x := least; x < values; x++ {
				next = append(next, append(append([]int64(nil), data...), x))
			}
		}
		all, level = append(all, next...), next
	}
	for _, data := range all {
		names = append(names, fmt.Sprint(data))
	}
	return all, names
}

// oneRowApart are the pairs of data sets of which one has one row more.
func oneRowApart(data [][]int64) [][2]int {
	return adjacent(len(data), func(i, j int) bool {
		a, b := data[i], data[j]
		if len(a) < len(b) {
			a, b = b, a
		}
		if len(a) != len(b)+1 {
			return false
		}
		for i := range b { // the row that b lacks is the first at which they differ
			if a[i] != b[i] {
				for k := i; k < len(b); k++ {
					if a[k+1] != b[k] {
						return false
					}
				}
				return true
			}
		}
		return true
	})
}

// ordered is a data set as an engine gives it.
func ordered(rows []int64) mechanism.Ordered {
	return mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for _, x := range rows {
			if !yield(x, 1) {
				return nil
			}
		}
		return nil
	})
}
