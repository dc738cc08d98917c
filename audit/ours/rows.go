package ours

import (
	"fmt"

	"dither/mechanism"
	"dither/privacy"
)

// multisets are all datasets of at most n rows with values 0 … values − 1, each in increasing order, smaller ones
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

// rowsApart is the number of rows by which two datasets differ.
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

// oneRowApart are the pairs of datasets of which one has one row more.
func oneRowApart(data [][]int64) [][2]int {
	return adjacent(len(data), func(i, j int) bool { return rowsApart(data[i], data[j]) == 1 })
}

// neighboursOf are the pairs that a unit joins: as many rows more or less as it has at most, or as many exchanged for
// others.
func neighboursOf(data [][]int64, unit mechanism.Unit) [][2]int {
	most, _ := joins(unit)
	return adjacent(len(data), func(i, j int) bool {
		if unit.Neighbours == privacy.ChangeOne && len(data[i]) != len(data[j]) {
			return false
		}
		return rowsApart(data[i], data[j]) <= most
	})
}

// joins is by how many rows more or less neighbours differ: by those of a unit, or twice as many where one is
// exchanged.
func joins(unit mechanism.Unit) (most int, steps int64) {
	steps = unit.MaxRows
	if unit.Neighbours == privacy.ChangeOne {
		steps *= 2
	}
	return int(steps), steps
}

// ordered is a dataset as an engine returns it.
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
