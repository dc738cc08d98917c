package engine

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/bounded"
	"dither/internal/value"
)

// TestMarginsAddUpGroups adds random groups, of which some sums overflow a word, to all histograms of three keys, and
// compares them with sums by the values' texts. Groups with an unlisted value and without a sum count as 0. It does so with
// small sums alone too, which overflow nothing.
func TestMarginsAddUpGroups(t *testing.T) {
	large := new(big.Int).Lsh(big.NewInt(1), 70)
	if over := addUp(t, nil); over != 0 {
		t.Errorf("%d sums of small numbers overflowed", over)
	}
	if over := addUp(t, []*big.Int{big.NewInt(math.MaxInt64), big.NewInt(math.MinInt64), large}); over < 20 {
		t.Errorf("only %d sums overflowed", over)
	}
}

// addUp compares histograms of small sums and these, in several batches. It returns the number of cells that overflowed.
func addUp(t *testing.T, wide []*big.Int) (over int) {
	t.Helper()
	b := &bounded.Statement{Measures: make([]*bounded.Measure, 1)}
	for i, n := range []int64{2, 3, 5} {
		k := bounded.Key{Expr: &bounded.Expr{Op: bounded.OpColumn, Column: i, Type: value.Integer}}
		for v := range n {
			k.Values = append(k.Values, value.Value{Type: value.Integer, Int: v})
		}
		b.Keys = append(b.Keys, k)
	}
	lists := [][]int{nil, {0}, {1}, {2}, {0, 1}, {2, 0}, {1, 2}, {2, 1, 0}}
	m, random := NewMargins(b, lists), rand.New(rand.NewPCG(1, 2))
	want := make([]map[[3]int64]*big.Int, len(lists))
	for i := range want {
		want[i] = map[[3]int64]*big.Int{}
	}
	for range 3*batch + 100 {
		at := [3]int64{random.Int64N(2), random.Int64N(3), random.Int64N(6)} // 5 is not listed
		all := append([]*big.Int{nil, big.NewInt(random.Int64N(100) - 50)}, wide...)
		sum := all[random.IntN(len(all))]
		var keys []value.Value
		for _, v := range at {
			keys = append(keys, value.Value{Type: value.Integer, Int: v})
		}
		m.Add(keys, []*big.Int{sum})
		if sum == nil || at[2] == 5 {
			continue
		}
		for i, list := range lists {
			var cell [3]int64
			for j, k := range list {
				cell[j] = at[k]
			}
			if want[i][cell] == nil {
				want[i][cell] = new(big.Int)
			}
			want[i][cell].Add(want[i][cell], sum)
		}
	}
	exact := m.Exact()
	for i, list := range lists {
		h, cells := m.of[i], 0
		for cell, sum := range h.sums {
			var at [3]int64
			for j, rest := len(list)-1, cell; j >= 0; j-- {
				n := len(b.Keys[list[j]].Values)
				at[j], rest = int64(rest%n), rest/n
			}
			got := big.NewInt(sum)
			if more := h.over[cell]; more != nil {
				got.Add(got, more)
				over++
			}
			if w := want[i][at]; w == nil && got.Sign() != 0 || w != nil && w.Cmp(got) != 0 {
				t.Errorf("keys %v, cell %v: %s, want %s", list, at, got, w)
			}
			cells++
		}
		if n := len(exact[i]); n != cells {
			t.Errorf("keys %v: %d opaque values of %d cells", list, n, cells)
		}
	}
	return over
}
