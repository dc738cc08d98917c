package table_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/strategy/table"
)

// places returns a hierarchy of three levels whose nodes have different numbers of children.
func places(t testing.TB, states ...int) *table.Hierarchy {
	t.Helper()
	var paths [][]string
	for s, n := range states {
		for c := range n {
			paths = append(paths, []string{fmt.Sprintf("c%d.%d", s, c), fmt.Sprintf("s%d", s), "all"})
		}
	}
	h, err := table.NewHierarchy([]string{"county", "state", "country"}, paths)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// whole returns the classifications at their finest levels.
func whole(s *table.Space) (out table.Keys) {
	for k := range s.Classes {
		out |= s.Key(k, 0)
	}
	return out
}

// upward returns the ancestor of a node of one level in a coarser one. The level after the last one has one node.
func upward(h *table.Hierarchy, node, from, to int) int {
	for l := from; l < to; l++ {
		if h.Levels[l].Parent == nil {
			return 0
		}
		node = h.Levels[l].Parent[node]
	}
	return node
}

// into returns the cell of a block over the classifications onto that contains a cell of a block over keys.
func into(s *table.Space, keys, onto table.Keys, cell int) (out int) {
	scale := 1
	for k := len(s.Classes) - 1; k >= 0; k-- {
		h, from, to := s.Classes[k], s.LevelOf(keys, k), s.LevelOf(onto, k)
		if from == len(h.Levels) {
			continue
		}
		node := cell % h.Nodes(from)
		cell /= h.Nodes(from)
		if to < len(h.Levels) {
			out += upward(h, node, from, to) * scale
			scale *= h.Nodes(to)
		}
	}
	return out
}

// everything returns all sets of classifications at some levels.
func everything(s *table.Space) []table.Keys {
	out := []table.Keys{0}
	for k, c := range s.Classes {
		for _, keys := range out {
			for l := range c.Levels {
				out = append(out, keys|s.Key(k, l))
			}
		}
	}
	return out
}

// matrix returns the rows of a margin as sums of the cells of the finest table over all classifications.
func matrix(s *table.Space, m table.Margin) *mat.Dense {
	up, fine := s.Hierarchy.Ancestor(m.Level), whole(s)
	cells := s.Cells(table.Margin{Keys: fine}) / len(up)
	width := s.Cells(m) / s.Hierarchy.Nodes(m.Level)
	a := mat.NewDense(s.Cells(m), len(up)*cells, nil)
	for leaf, node := range up {
		for c := range cells {
			a.Set(node*width+into(s, fine, m.Keys, c), leaf*cells+c, 1)
		}
	}
	return a
}

// ages returns a classification whose levels have nodes of different sizes: years in classes in groups.
func ages(t testing.TB, groups ...[]int) *table.Hierarchy {
	t.Helper()
	var paths [][]string
	for g, classes := range groups {
		for c, n := range classes {
			for y := range n {
				class := fmt.Sprint(g, ".", c)
				paths = append(paths, []string{fmt.Sprint(class, ".", y), class, fmt.Sprint(g)})
			}
		}
	}
	h, err := table.NewHierarchy([]string{"year", "class", "group"}, paths)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// classed returns a space with a classification of three levels and a flat one.
func classed(t testing.TB) *table.Space {
	return &table.Space{
		Hierarchy: places(t, 1, 3, 2),
		Classes:   append(table.Flat(2), ages(t, []int{1, 3}, []int{2})),
	}
}

// TestFitIsLeastSquares compares estimates and variances with the dense solution of the normal equations, for sets of
// measured tables that determine the finest table, of flat classifications and of one with levels.
func TestFitIsLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 20 {
		s := &table.Space{Hierarchy: places(t, 1, 3, 2), Classes: table.Flat(2, 3)}
		if trial%2 == 1 {
			s = classed(t)
		}
		var measured []table.Measured
		add := func(m table.Margin) { measured = append(measured, noise(r, s, m)) }
		add(table.Margin{Level: 0, Keys: whole(s)})
		for l := range 3 {
			for _, keys := range everything(s) {
				if r.IntN(2) == 0 {
					add(table.Margin{Level: l, Keys: keys})
				}
			}
		}
		f, err := table.NewFit(s, measured, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, covariance := dense(t, s, measured)
		for l := range 3 {
			for _, keys := range everything(s) {
				m := table.Margin{Level: l, Keys: keys}
				compare(t, fmt.Sprint("trial ", trial, " ", m), s, f, m, x, covariance)
			}
		}
	}
}

// noise returns a margin of random numbers.
func noise(r *rand.Rand, s *table.Space, m table.Margin) table.Measured {
	y := table.Measured{Noisy: table.Noisy{Margin: m, Variance: 0.5 + 3*r.Float64()}}
	for range s.Cells(m) {
		y.Values = append(y.Values, 10*r.NormFloat64())
	}
	return y
}

// TestFitOfMixedLevels measures random tables of which often none has the finest values of all classifications. It compares
// the tables that are determined with the dense solution, in which every unknown also has a measurement of the value 0 with a
// huge variance. Tables that are not determined have huge variances there.
func TestFitOfMixedLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	determined := 0
	for trial := range 30 {
		s := classed(t)
		if trial%3 == 0 {
			s.Classes = []*table.Hierarchy{ages(t, []int{1, 3}, []int{2}), ages(t, []int{2, 1})}
		}
		var measured []table.Measured
		for range 1 + r.IntN(5) {
			keys := everything(s)
			measured = append(measured, noise(r, s, table.Margin{Level: r.IntN(3), Keys: keys[r.IntN(len(keys))]}))
		}
		f, err := table.NewFit(s, measured, nil)
		if err != nil {
			t.Fatal(err)
		}
		prior := table.Measured{Noisy: table.Noisy{Margin: table.Margin{Keys: whole(s)}, Variance: 1e7}}
		prior.Values = make([]float64, s.Cells(prior.Margin))
		x, covariance := dense(t, s, append([]table.Measured{prior}, measured...))
		for l := range 3 {
			for _, keys := range everything(s) {
				m := table.Margin{Level: l, Keys: keys}
				a := matrix(s, m)
				var half, v mat.Dense
				half.Mul(a, covariance)
				v.Mul(&half, a.T())
				huge := false
				for i := range s.Cells(m) {
					huge = huge || v.At(i, i) > 1e5
				}
				if huge == f.Determines(m) {
					t.Fatalf("trial %d, %v: determined %t", trial, m, !huge)
				}
				if huge {
					continue
				}
				determined++
				values, variances := f.Values(m), f.Variances(m)
				var want mat.VecDense
				want.MulVec(a, x)
				for i := range values {
					if math.Abs(variances[i]/v.At(i, i)-1) > 1e-3 || math.Abs(values[i]-want.AtVec(i)) > 1e-2 {
						t.Fatalf("trial %d, %v: cell %d is %g with variance %g, not %g with %g",
							trial, m, i, values[i], variances[i], want.AtVec(i), v.At(i, i))
					}
				}
			}
		}
	}
	t.Logf("%d tables are determined", determined)
}

// dense solves the normal equations.
func dense(t *testing.T, s *table.Space, measured []table.Measured) (*mat.VecDense, *mat.Dense) {
	t.Helper()
	full := matrix(s, measured[0].Margin)
	_, n := full.Dims()
	normal, right := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for _, y := range measured {
		a := matrix(s, y.Margin)
		var gram mat.Dense
		gram.Mul(a.T(), a)
		gram.Scale(1/y.Variance, &gram)
		normal.Add(normal, &gram)
		var v mat.VecDense
		v.MulVec(a.T(), mat.NewVecDense(len(y.Values), y.Values))
		right.AddScaledVec(right, 1/y.Variance, &v)
	}
	var covariance mat.Dense
	if err := covariance.Inverse(normal); err != nil {
		t.Fatal(err)
	}
	var x mat.VecDense
	x.MulVec(&covariance, right)
	return &x, &covariance
}

func compare(
	t *testing.T, name string, s *table.Space, f *table.Fit, m table.Margin, x *mat.VecDense, covariance *mat.Dense,
) {
	t.Helper()
	a := matrix(s, m)
	var want mat.VecDense
	want.MulVec(a, x)
	var half, v mat.Dense
	half.Mul(a, covariance)
	v.Mul(&half, a.T())
	got, variances := f.Values(m), f.Variances(m)
	for i := range got {
		if math.Abs(got[i]-want.AtVec(i)) > 1e-9 {
			t.Fatalf("%s: cell %d is %g, not %g", name, i, got[i], want.AtVec(i))
		}
		if math.Abs(variances[i]-v.At(i, i)) > 1e-9 {
			t.Fatalf("%s: cell %d has the variance %g, not %g", name, i, variances[i], v.At(i, i))
		}
	}
}

// TestDeclaredTotals compares the fit with declared totals with the dense fit, conditioned on these totals. Some totals are
// those of all parts of a node.
func TestDeclaredTotals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, classes := range [][]*table.Hierarchy{table.Flat(2), {ages(t, []int{1, 3}, []int{2})}} {
		for _, fixed := range []map[[2]int]int64{{{1, 1}: 50, {0, 0}: 7}, {{0, 0}: 7, {0, 1}: 9}, {{2, 0}: 90}} {
			s := &table.Space{Hierarchy: places(t, 2, 3), Classes: classes}
			var measured []table.Measured
			for _, m := range []table.Margin{{Keys: whole(s)}, {Level: 1, Keys: s.Key(0, len(classes[0].Levels)-1)}, {Level: 2}} {
				measured = append(measured, noise(r, s, m))
			}
			f, err := table.NewFit(s, measured, fixed)
			if err != nil {
				t.Fatal(err)
			}
			x, covariance := dense(t, s, measured)
			for at, n := range fixed {
				a := matrix(s, table.Margin{Level: at[0]}).RowView(at[1])
				var gain mat.VecDense
				gain.MulVec(covariance, a)
				v := mat.Dot(a, &gain)
				x.AddScaledVec(x, (float64(n)-mat.Dot(a, x))/v, &gain)
				var outer mat.Dense
				outer.Outer(-1/v, &gain, &gain)
				covariance.Add(covariance, &outer)
			}
			for l := range 3 {
				for _, keys := range everything(s) {
					compare(t, fmt.Sprint(l, keys, fixed), s, f, table.Margin{Level: l, Keys: keys}, x, covariance)
				}
			}
			for at, n := range fixed {
				if got := f.Values(table.Margin{Level: at[0]})[at[1]]; math.Abs(got-float64(n)) > 1e-9 {
					t.Errorf("the declared total %d became %g", n, got)
				}
			}
		}
	}
}

// TestCovariances compares covariances with dense algebra, between all tables, with levels in the columns and with declared
// totals.
func TestCovariances(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, classes := range [][]*table.Hierarchy{table.Flat(2, 3), {ages(t, []int{1, 3}, []int{2})}} {
		for _, fixed := range []map[[2]int]int64{nil, {{1, 1}: 50, {0, 0}: 7}, {{2, 0}: 90}} {
			s := &table.Space{Hierarchy: places(t, 2, 3), Classes: classes}
			var measured []table.Measured
			for _, m := range []table.Margin{{Keys: whole(s)}, {Level: 1, Keys: s.Key(0, len(classes[0].Levels)-1)}, {Level: 2}} {
				measured = append(measured, noise(r, s, m))
			}
			f, err := table.NewFit(s, measured, fixed)
			if err != nil {
				t.Fatal(err)
			}
			_, covariance := dense(t, s, measured)
			for at := range fixed {
				a := matrix(s, table.Margin{Level: at[0]}).RowView(at[1])
				var gain mat.VecDense
				gain.MulVec(covariance, a)
				var outer mat.Dense
				outer.Outer(-1/mat.Dot(a, &gain), &gain, &gain)
				covariance.Add(covariance, &outer)
			}
			var margins []table.Margin
			for l := range 3 {
				for _, keys := range everything(s) {
					margins = append(margins, table.Margin{Level: l, Keys: keys})
				}
			}
			for _, of := range margins {
				for _, with := range margins {
					var half, want mat.Dense
					half.Mul(matrix(s, of), covariance)
					want.Mul(&half, matrix(s, with).T())
					for cell := range s.Cells(of) {
						got, err := f.Covariances(of, cell, with)
						if err != nil {
							t.Fatal(err)
						}
						for i, v := range got {
							if math.Abs(v-want.At(cell, i)) > 1e-9 {
								t.Fatalf("%v, %v: cell %d of %v and cell %d of %v have the covariance %g, not %g", fixed, classes, cell, of, i, with, v, want.At(cell, i))
							}
						}
					}
				}
			}
			if _, err := f.Covariances(margins[0], s.Cells(margins[0]), margins[0]); err == nil {
				t.Error("a cell after the last one has covariances")
			}
		}
	}
	s := &table.Space{Hierarchy: places(t, 2, 3), Classes: table.Flat(2)}
	f, err := table.NewFit(s, []table.Measured{noise(r, s, table.Margin{Level: 1})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Covariances(table.Margin{Level: 1}, 0, table.Margin{Level: 0}); err == nil {
		t.Error("cells that are not determined have covariances")
	}
}

// TestWholeAddsUp rounds fits of small noisy counts, and checks signs, sums over every level of places and classifications,
// declared totals, and the distance from the fit.
func TestWholeAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	flat := &table.Space{Hierarchy: places(t, 1, 4, 7, 30), Classes: table.Flat(2, 3, 4)}
	levels := classed(t)
	levels.Hierarchy = flat.Hierarchy
	sex, year, class, group := levels.Key(0, 0), levels.Key(1, 0), levels.Key(1, 1), levels.Key(1, 2)
	for _, of := range []struct {
		space   *table.Space
		margins []table.Margin
		finest  table.Keys // of counties
	}{
		{flat, []table.Margin{{Level: 0, Keys: 7}, {Level: 1, Keys: 3}, {Level: 2, Keys: 4}, {Level: 0, Keys: 0}}, 7},
		{levels, []table.Margin{{Level: 0, Keys: sex | group}, {Level: 0, Keys: class}, {Level: 1, Keys: class | sex}, {Level: 2, Keys: year}}, class},
		{levels, []table.Margin{{Level: 0, Keys: sex | year}, {Level: 1, Keys: class}, {Level: 2, Keys: group | sex}}, sex | year},
	} {
		for _, signed := range []bool{false, true} {
			for _, fixed := range []map[[2]int]int64{nil, {{1, 1}: 40, {0, 0}: 3}} {
				s := of.space
				var measured []table.Measured
				for _, m := range of.margins {
					y := table.Measured{Noisy: table.Noisy{Margin: m, Variance: 4}}
					for range s.Cells(m) {
						y.Values = append(y.Values, math.Round(2*r.ExpFloat64()+2*r.NormFloat64()))
					}
					measured = append(measured, y)
				}
				f, err := table.NewFit(s, measured, fixed)
				if err != nil {
					t.Fatal(err)
				}
				w, err := table.NewWhole(f, of.margins, fixed, signed)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range of.margins {
					for _, v := range w.Values(m) {
						if v < 0 && !signed {
							t.Fatal("a count is negative")
						}
					}
					for _, n := range of.margins {
						for l := max(m.Level, n.Level); l < 3; l++ {
							shared := table.Margin{Level: l, Keys: m.Keys & n.Keys}
							want := w.Values(shared)
							for i, v := range sumOver(s, m, shared, w.Values(m)) {
								if v != want[i] {
									t.Fatalf("%v: cell %d of the sums %v is %d, not %d", m, i, shared, v, want[i])
								}
							}
						}
					}
				}
				for at, n := range fixed {
					if got := w.Values(table.Margin{Level: at[0]})[at[1]]; got != n {
						t.Errorf("the declared total %d became %d", n, got)
					}
				}
				if signed { // only rounding moves the numbers then
					m := table.Margin{Level: 0, Keys: of.finest}
					fine := w.Values(m)
					for i, v := range f.Values(m) {
						if math.Abs(v-float64(fine[i])) > 3 {
							t.Errorf("%g was rounded to %d", v, fine[i])
						}
					}
				}
			}
		}
	}
}

// TestChoose checks that the chosen shares add up to 1, that no other division is better than the bound, and that the
// optimum meets the bound under ρ. One space has a classification with levels.
func TestChoose(t *testing.T) {
	flat := &table.Space{Hierarchy: places(t, 5, 9, 2, 14), Classes: table.Flat(2, 5)}
	chooses(t, flat, []table.Goal{
		{Margin: table.Margin{Level: 0, Keys: 1}, Weight: 1},
		{Margin: table.Margin{Level: 1, Keys: 3}, Weight: 2},
		{Margin: table.Margin{Level: 2, Keys: 2}, Weight: 1},
	})
	s := classed(t)
	chooses(t, s, []table.Goal{
		{Margin: table.Margin{Level: 0, Keys: s.Key(0, 0) | s.Key(1, 1)}, Weight: 1},
		{Margin: table.Margin{Level: 1, Keys: s.Key(1, 0)}, Weight: 2},
		{Margin: table.Margin{Level: 2, Keys: s.Key(1, 2)}, Weight: 1},
	})
}

func chooses(t *testing.T, s *table.Space, goals []table.Goal) {
	t.Helper()
	var options []table.Option
	for l := range 3 {
		for _, keys := range everything(s) {
			options = append(options, table.Option{Margin: table.Margin{Level: l, Keys: keys}, Cost: 1})
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range []table.Power{table.UnderRho, table.UnderEpsilon} {
		c, err := table.Choose(s, goals, options, p)
		if err != nil {
			t.Fatal(err)
		}
		best := c.Candidates[c.Chosen]
		sum := new(big.Rat)
		for _, share := range best.Shares {
			sum.Add(sum, share)
		}
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("the shares add up to %s", sum)
		}
		if best.Error < c.Bound {
			t.Errorf("the error %g is below the bound %g", best.Error, c.Bound)
		}
		if p == table.UnderRho && best.Error > c.Bound*1.001 {
			t.Errorf("the error %g is not near the bound %g", best.Error, c.Bound)
		}
		for _, split := range c.Candidates {
			if got := errorOf(t, s, goals, split.Noisy(options, p)); math.Abs(got/split.Error-1) > 1e-9 {
				t.Errorf("%s: the error is %g, not %g", split.Name, got, split.Error)
			}
		}
		for range 50 {
			split := table.Split{}
			left := int64(1000)
			for j := range options {
				n := int64(float64(left) * r.Float64() * r.Float64())
				if j == len(options)-1 {
					n = left
				}
				left -= n
				split.Shares = append(split.Shares, big.NewRat(n, 1000))
			}
			if got := errorOf(t, s, goals, split.Noisy(options, p)); got < c.Bound {
				t.Errorf("a division has the error %g, below the bound %g", got, c.Bound)
			}
		}
		t.Logf("power %d: bound %.4f, candidates:", p, c.Bound)
		for _, split := range c.Candidates {
			t.Logf("  %-22s %.4f %v", split.Name, split.Error, split.Shares)
		}
	}
}

// errorOf computes the error of a division from the variances of all cells.
func errorOf(t *testing.T, s *table.Space, goals []table.Goal, noisy []table.Noisy) float64 {
	t.Helper()
	a, err := table.NewAccuracy(s, noisy, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, weight := 0.0, 0.0
	for _, g := range goals {
		if !a.Determines(g.Margin) {
			return math.Inf(1)
		}
		mean := 0.0
		v := a.Variances(g.Margin)
		for _, x := range v {
			mean += x / float64(len(v))
		}
		sum += g.Weight * mean
		weight += g.Weight
	}
	return math.Sqrt(sum / weight)
}

// TestLevelsNest checks the errors of hierarchies.
func TestLevelsNest(t *testing.T) {
	_, err := table.NewHierarchy([]string{"county", "state", "area"}, [][]string{{"a", "x", "n"}, {"b", "x", "s"}})
	if err == nil || err.Error() != `the levels state and area do not nest: "x" is in "n" and in "s"` {
		t.Errorf("got %v", err)
	}
	if _, err := table.NewHierarchy([]string{"county", "state"}, [][]string{{"a", "x"}, {"a", "x"}}); err == nil {
		t.Error("a leaf was listed twice")
	}
}

// TestContradictions checks that declared totals are compared with each other.
func TestContradictions(t *testing.T) {
	h := places(t, 2, 3)
	for _, c := range []struct {
		fixed map[[2]int]int64
		ok    bool
	}{
		{map[[2]int]int64{{2, 0}: 9, {1, 0}: 4, {1, 1}: 5}, true},
		{map[[2]int]int64{{2, 0}: 9, {1, 0}: 4, {1, 1}: 4}, false},
		{map[[2]int]int64{{2, 0}: 9, {0, 0}: 4}, true},
		{map[[2]int]int64{{2, 0}: 9, {0, 0}: 10}, false},
		{map[[2]int]int64{{0, 0}: -1}, false},
	} {
		if err := table.CheckFixed(h, c.fixed, true); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.fixed, err)
		}
	}
}
