package local

import (
	"slices"
	"testing"

	"dither/internal/splitmix"
)

// Sums over consecutive values, which are computed by differences, are those over single values.
func TestTableOfConsecutiveValues(t *testing.T) {
	stream := splitmix.At(splitmix.Mix(5))
	for _, g := range []uint64{2, 4, 1024} {
		by := make([]int64, functions*g)
		for i := range by {
			by[i] = int64(stream.Below(1000))
		}
		const first, n = MaxValues - 10_000, 10_000 // the largest values
		var row []uint64
		for v := range uint64(n) {
			row = append(row, first+v)
		}
		all := table(7, g, row, by)
		for _, i := range []int{0, 1, 4095, 4096, n - 1} {
			single := []uint64{row[i], 3} // not consecutive
			if got := table(7, g, single, by)[0]; got != all[i] {
				t.Errorf("g = %d, value %d: %d, want %d", g, row[i], all[i], got)
			}
		}
		slices.Reverse(row)
		again := table(7, g, row, by)
		slices.Reverse(again)
		if !slices.Equal(all, again) {
			t.Errorf("g = %d: the sums of consecutive values are others than those of the same values backwards", g)
		}
	}
}
