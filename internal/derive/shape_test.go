package derive

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// A shape says of each grouping what its lattice says of it by itself, exactly, and a multiple of all variances has the
// same: of groupings that are drawn, of which some are taken to each other by exchanging keys, and others are not.
func TestShapes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	shared, apart := 0, 0
	for range 300 {
		keys := 1 + random.IntN(4)
		var sizes []int64
		for range keys {
			sizes = append(sizes, 2+random.Int64N(2))
		}
		var sets []uint64
		for s := range uint64(1) << keys {
			if random.IntN(4) > 0 || s == 1<<keys-1 {
				sets = append(sets, s)
			}
		}
		various := random.IntN(2) == 0
		var variance, times []*big.Rat
		for range sets {
			v := big.NewRat(7, 3)
			if various && random.IntN(3) == 0 {
				v = big.NewRat(5, 1)
			}
			variance, times = append(variance, v), append(times, new(big.Rat).Mul(v, big.NewRat(22, 13)))
		}
		l := latticeOf(sizes, sets, variance)
		found, multiple := newShape(l), newShape(latticeOf(sizes, sets, times))
		for i, s := range sets {
			want := latticeOf(sizes, sets, variance).kinds(s)
			if !slices.Equal(found.kinds[i], want) || !slices.Equal(multiple.kinds[i], want) {
				t.Fatalf("sizes %v, sets %v, variances %v: of %b %v and %v, want %v", sizes, sets, variance, s, found.kinds[i], multiple.kinds[i], want)
			}
			for j, o := range sets[:i] {
				if found.same[i] == found.same[j] && !slices.Equal(l.kinds(s), l.kinds(o)) {
					t.Fatalf("sizes %v, sets %v, variances %v: %b is not like %b", sizes, sets, variance, s, o)
				}
			}
			if found.same[i] < i {
				shared++
			} else {
				apart++
			}
		}
	}
	if shared < 300 || apart < 300 {
		t.Errorf("%d shared, %d apart: the test shows little", shared, apart)
	}
}
