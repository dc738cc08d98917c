package strategy

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// Listed intervals have the Gram matrix, the products and the answers of the same rows as a matrix.
func TestIntervalsAreTheirRows(t *testing.T) {
	pairs := [][2]int{{0, 5}, {1, 2}, {1, 4}, {0, 1}, {1, 4}}
	w, err := Intervals(5, pairs)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for q := range w.All() {
		rows = append(rows, q.Coefficients(5))
	}
	e, err := Explicit(rows)
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.Gram(), e.Gram()
	x, left, right := []float64{3, 1, 4, 1, 5}, make([]float64, 5), make([]float64, 5)
	w.gramTimes(x, left)
	e.gramTimes(x, right)
	for i := range 5 {
		if left[i] != right[i] || w.diagonal()[i] != e.diagonal()[i] {
			t.Errorf("cell %d: %v and %v", i, left[i], right[i])
		}
		for j := range 5 {
			if a.At(i, j) != b.At(i, j) {
				t.Errorf("entry %d, %d: %v and %v", i, j, a.At(i, j), b.At(i, j))
			}
		}
	}
	if w.Digest() == e.Digest() {
		t.Error("two workloads have one digest")
	}
}

// Levels that do not nest, or whose places are scattered, are refused.
func TestLevelsNest(t *testing.T) {
	w, err := Levels([][]string{{"a", "x"}, {"b", "x"}, {"c", "y"}})
	if err != nil || w.Queries() != 5 {
		t.Fatal(w.Queries(), err)
	}
	for says, paths := range map[string][][]string{
		"do not nest":       {{"a", "x"}, {"a", "y"}},
		"next to each":      {{"a", "x"}, {"b", "y"}, {"c", "x"}},
		"has 1 levels":      {{"a", "x"}, {"b"}},
		"at least one cell": {},
	} {
		if _, err := Levels(paths); !errors.Is(err, ErrWorkload) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", paths, err, says)
		}
	}
	for _, pairs := range [][][2]int{nil, {{0, 0}}, {{-1, 2}}, {{0, 4}}} {
		if _, err := Intervals(3, pairs); !errors.Is(err, ErrWorkload) {
			t.Errorf("%v: %v", pairs, err)
		}
	}
}

// The parts of the root's trace are at most the exact ones, add up to almost all of it, and agree between the fast and the
// dense computation.
func TestRootsAddUp(t *testing.T) {
	w, err := Prefixes(40)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for q := range w.All() {
		rows = append(rows, q.Coefficients(40))
	}
	e, err := Explicit(rows)
	if err != nil {
		t.Fatal(err)
	}
	y := Dual(w)
	fast, dense := RootOf(w, y), RootOf(e, y)
	if math.Abs(fast.Along/dense.Along-1) > 1e-5 || math.Abs(fast.Across/dense.Across-1) > 1e-5 {
		t.Errorf("%v and %v", fast, dense)
	}
	sum := 0.0
	for _, v := range y {
		sum += v
	}
	if bound := (fast.Along + fast.Across) / math.Sqrt(sum*40); math.Abs(bound/Bound(w)-1) > 1e-5 {
		t.Errorf("the parts give the bound %v, want %v", bound, Bound(w))
	}
}

// A centred strategy estimates centred queries without bias, and its errors are at most those of the optimal strategy.
func TestCentredStrategies(t *testing.T) {
	w, err := Ranges(12)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OptimalCentred(w)
	if err != nil {
		t.Fatal(err)
	}
	whole, _, err := Optimal(w)
	if err != nil {
		t.Fatal(err)
	}
	own, other := 0.0, 0.0
	for v := range s.Centred().Each(w) {
		own += v
	}
	for v := range whole.Centred().Each(w) {
		other += v
	}
	if own > other || own < other/4 {
		t.Errorf("the centred strategy has %v, and the optimal one %v", own, other)
	}
	q := []float64{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2}
	weights, err := s.Weights(q)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range s.Matrix.transposed(weights) {
		if math.Abs(v-q[j]) > 1e-6 {
			t.Errorf("cell %d: %v, want %v", j, v, q[j])
		}
	}
}
