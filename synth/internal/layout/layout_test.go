package layout

import (
	"slices"
	"testing"

	"dither/internal/splitmix"
)

// For random tables, each walk visits the cell of the smaller table that has the codes of the larger one's cell.
func TestWalksVisitTheCellsOfTheirCodes(t *testing.T) {
	r := splitmix.At(1)
	for range 300 {
		sizes := make([]int, 1+r.Below(5))
		for i := range sizes {
			sizes[i] = 1 + r.Below(4)
		}
		var members, target []int
		for a := range sizes {
			at := r.Below(len(members) + 1)
			members = slices.Insert(members, at, a)
		}
		for _, a := range members {
			if r.Below(2) == 0 {
				target = slices.Insert(target, r.Below(len(target)+1), a)
			}
		}
		cells, small := 1, 1
		for _, n := range sizes {
			cells *= n
		}
		for _, a := range target {
			small *= sizes[a]
		}
		place := func(cell int) int {
			codes := make([]int, len(sizes))
			for i := len(members) - 1; i >= 0; i-- {
				codes[members[i]] = cell % sizes[members[i]]
				cell /= sizes[members[i]]
			}
			p := 0
			for _, a := range target {
				p = p*sizes[a] + codes[a]
			}
			return p
		}
		w := New(sizes, members, target)
		from := make([]float64, small)
		for i := range from {
			from[i] = float64(1 + r.Below(100))
		}
		added, multiplied := make([]float64, cells), make([]float64, cells)
		for i := range multiplied {
			multiplied[i] = 2
		}
		w.Add(added, from)
		w.Multiply(multiplied, from)
		want, sums := make([]float64, small), make([]float64, small)
		for i := range cells {
			want[place(i)] += added[i]
			if v := from[place(i)]; added[i] != v || multiplied[i] != 2*v {
				t.Fatalf("sizes %v, members %v, target %v: cell %d has %v and %v instead of %v", sizes, members, target, i, added[i], multiplied[i], v)
			}
		}
		if w.Sum(sums, added); !slices.Equal(sums, want) {
			t.Fatalf("sizes %v, members %v, target %v: the sums are %v instead of %v", sizes, members, target, sums, want)
		}
	}
}
