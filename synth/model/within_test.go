package model

import (
	"testing"

	"dither/internal/splitmix"
)

// Within decides as the size of each model does, for random sets and limits, among them sizes themselves.
func TestWithinIsThatOfSizes(t *testing.T) {
	r := splitmix.At(31)
	in, out := 0, 0
	for range 100 {
		d := someDomain(&r, 12, 6)
		sets, further := someSets(&r, len(d.sizes), r.Below(15), 4), someSets(&r, len(d.sizes), 1+r.Below(30), 4)
		sizes := make([]float64, len(further))
		for i, s := range further {
			var err error
			if sizes[i], err = Size(d, append(sets[:len(sets):len(sets)], s)); err != nil {
				t.Fatal(err)
			}
		}
		most := sizes[r.Below(len(sizes))]
		got, err := Within(d, sets, further, most)
		if err != nil {
			t.Fatal(err)
		}
		for i, size := range sizes {
			if got[i] != (size <= most) {
				t.Fatalf("sizes %v: %v beside %v has %v bytes, and within %v is %v", d.sizes, further[i], sets, size, most, got[i])
			}
			if got[i] {
				in++
			} else {
				out++
			}
		}
	}
	if in < 100 || out < 100 {
		t.Errorf("%d sets are within and %d are not: this shows little", in, out)
	}
	if _, err := Within(domain(t, 2), nil, [][]int{{1}}, 1); err == nil {
		t.Error("an attribute outside of the domain")
	}
}
