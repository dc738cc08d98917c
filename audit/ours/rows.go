package ours

import (
	"fmt"

	"dither/mechanism"
	"dither/privacy"
)

// multisets returns all datasets of at most the given number of rows, with values from 0 to values − 1, and their
// names. The rows of each dataset are in ascending order. Smaller datasets come first.
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

// rowsApart returns the number of rows that must be added or removed to turn one dataset into the other.
func rowsApart(a, b []int64) int {
	differ, i, j := 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			differ, i = differ+1, i+1
		case i == len(a) || b[j] < a[i]:
			differ, j = differ+1, j+1
		default:
			i, j = i+1, j+1
		}
	}
	return differ
}

// oneRowApart returns the pairs of datasets that differ by one added or removed row.
func oneRowApart(data [][]int64) [][2]int {
	return adjacent(len(data), func(i, j int) bool { return rowsApart(data[i], data[j]) == 1 })
}

// neighboursOf returns the pairs of datasets that differ in one unit. Either the unit's rows are added or removed,
// or they are exchanged for as many other rows.
func neighboursOf(data [][]int64, unit mechanism.Unit) [][2]int {
	most, _ := joins(unit)
	return adjacent(len(data), func(i, j int) bool {
		if unit.Neighbours == privacy.ChangeOne && len(data[i]) != len(data[j]) {
			return false
		}
		return rowsApart(data[i], data[j]) <= most
	})
}

// joins returns the largest number of rows added or removed between neighbours, as an int and as an int64. It is
// the number of a unit's rows, or twice that number if rows are exchanged.
func joins(unit mechanism.Unit) (most int, steps int64) {
	steps = unit.MaxRows
	if unit.Neighbours == privacy.ChangeOne {
		steps *= 2
	}
	return int(steps), steps
}

// ordered returns a dataset in the form in which an engine returns it.
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
