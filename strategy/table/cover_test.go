package table_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dither/strategy/table"
)

// TestSeparateTables rounds tables of different classifications: a star and a path, whose tables share one
// classification, tables that share none, and a cycle and a ring, whose tables are rounded as one. Further sets of tables
// are random, and half of them have levels of two classifications. Tables that share classifications must have the same sums over the others, and no count is negative. True
// counts are often above 100 and the deviation of noise is 3, so values are near their estimates.
func TestSeparateTables(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	s := &table.Space{Hierarchy: places(t, 3, 4), Classes: table.Flat(2, 5, 3, 4)}
	type tables struct {
		name  string
		keys  []table.Keys
		most  float64      // the largest distance of a value from its estimate
		space *table.Space // nil for the first one
	}
	all := []tables{
		{"star", []table.Keys{0b0011, 0b0101, 0b1001}, 3, nil},
		{"path", []table.Keys{0b0011, 0b0110, 0b1100}, 3, nil},
		{"separate", []table.Keys{0b0001, 0b0010, 0b1100}, 3, nil},
		{"cycle", []table.Keys{0b0011, 0b0110, 0b0101}, 10, nil},
		{"ring", []table.Keys{0b0011, 0b0110, 0b1100, 0b1001}, 10, nil},
	}
	levels := &table.Space{
		Hierarchy: s.Hierarchy,
		Classes:   append(table.Flat(2, 3), ages(t, []int{1, 3}, []int{2}), ages(t, []int{2, 1})),
	}
	for i := range 60 {
		c := tables{name: fmt.Sprint("random ", i), most: 20, space: s}
		if i >= 30 {
			c.name, c.space = fmt.Sprint("random levels ", i), levels
		}
		keys := everything(c.space)
		for range 2 + r.IntN(4) {
			c.keys = append(c.keys, keys[r.IntN(len(keys))])
		}
		all = append(all, c)
	}
	for _, c := range all {
		s := cmp.Or(c.space, s)
		var margins []table.Margin
		var measured []table.Measured
		truth := truths(r, s)
		for i, keys := range c.keys {
			for l := i % 3; l < 3; l++ {
				m := table.Margin{Level: l, Keys: keys}
				margins = append(margins, m)
				y := table.Measured{Noisy: table.Noisy{Margin: m, Variance: 9}}
				for _, x := range truth(m) {
					y.Values = append(y.Values, x+3*r.NormFloat64())
				}
				measured = append(measured, y)
			}
		}
		f, err := table.NewFit(s, measured, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := table.NewWhole(f, margins, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		far := 0.0
		for _, m := range margins {
			values := w.Values(m)
			for i, x := range f.Values(m) {
				if values[i] < 0 {
					t.Fatalf("%s: a count is negative", c.name)
				}
				far = math.Max(far, math.Abs(x-float64(values[i])))
			}
		}
		t.Logf("%s: the largest distance of a value from its estimate is %.1f", c.name, far)
		if far > c.most {
			t.Errorf("%s %b: the largest distance of a value from its estimate is %.1f", c.name, c.keys, far)
		}
		for _, a := range margins {
			for _, b := range margins {
				if b.Level >= a.Level {
					sameSums(t, fmt.Sprint(c.name, a, b), s, a, b, w)
				}
			}
		}
	}
}

// truths returns a function that sums a made-up table of dependent classifications. A tenth of its cells is 0.
func truths(r *rand.Rand, s *table.Space) func(table.Margin) []float64 {
	all := table.Margin{Level: 0, Keys: whole(s)}
	fine := make([]float64, s.Cells(all))
	for i := range fine {
		if r.IntN(10) > 0 {
			fine[i] = math.Floor(40 * math.Exp(2*r.NormFloat64()))
		}
	}
	return func(m table.Margin) []float64 { return sumOver(s, all, m, fine) }
}

// sumOver sums the cells of a margin to those of a coarser one.
func sumOver[V int64 | float64](s *table.Space, from, to table.Margin, x []V) []V {
	up := make([]int, s.Hierarchy.Nodes(from.Level))
	for i := range up {
		up[i] = i
		for l := from.Level; l < to.Level; l++ {
			up[i] = s.Hierarchy.Levels[l].Parent[up[i]]
		}
	}
	out := make([]V, s.Cells(to))
	width, narrow := len(x)/len(up), len(out)/s.Hierarchy.Nodes(to.Level)
	for i, v := range x {
		out[up[i/width]*narrow+into(s, from.Keys, to.Keys, i%width)] += v
	}
	return out
}

// sameSums compares the sums over the classifications that two margins do not share.
func sameSums(t *testing.T, name string, s *table.Space, a, b table.Margin, w *table.Whole) {
	t.Helper()
	shared := table.Margin{Level: b.Level, Keys: a.Keys & b.Keys}
	x, y := sumOver(s, a, shared, w.Values(a)), sumOver(s, b, shared, w.Values(b))
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("%s: cell %d of their shared sums is %d and %d", name, i, x[i], y[i])
		}
	}
}
