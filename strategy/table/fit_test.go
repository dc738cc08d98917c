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

// has reports whether keys contains classification k.
func has(keys table.Keys, k int) bool { return keys>>k&1 == 1 }

// matrix returns the rows of a margin as sums of the cells of the finest table over all classifications.
func matrix(s *table.Space, m table.Margin) *mat.Dense {
	up := s.Hierarchy.Ancestor(m.Level)
	cells := 1
	for _, n := range s.Sizes {
		cells *= n
	}
	a := mat.NewDense(s.Cells(m), len(up)*cells, nil)
	for leaf, node := range up {
		for c := range cells {
			row, rest, scale := 0, c, 1
			for k := len(s.Sizes) - 1; k >= 0; k-- {
				if has(m.Keys, k) {
					row += rest % s.Sizes[k] * scale
					scale *= s.Sizes[k]
				}
				rest /= s.Sizes[k]
			}
			a.Set(node*scale+row, leaf*cells+c, 1)
		}
	}
	return a
}

// TestFitIsLeastSquares compares estimates and variances with the dense solution of the normal equations, for sets of
// measured tables that determine the finest table.
func TestFitIsLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := &table.Space{Hierarchy: places(t, 1, 3, 2), Sizes: []int{2, 3}}
	for trial := range 20 {
		var measured []table.Measured
		add := func(m table.Margin) {
			y := table.Measured{Noisy: table.Noisy{Margin: m, Variance: 0.5 + 3*r.Float64()}}
			for range s.Cells(m) {
				y.Values = append(y.Values, 10*r.NormFloat64())
			}
			measured = append(measured, y)
		}
		add(table.Margin{Level: 0, Keys: 3})
		for l := range 3 {
			for keys := range table.Keys(4) {
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
			for keys := range table.Keys(4) {
				m := table.Margin{Level: l, Keys: keys}
				compare(t, fmt.Sprint("trial ", trial, " ", m), s, f, m, x, covariance)
			}
		}
	}
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
	width := len(got) / len(variances)
	for i := range got {
		if math.Abs(got[i]-want.AtVec(i)) > 1e-9 {
			t.Fatalf("%s: cell %d is %g, not %g", name, i, got[i], want.AtVec(i))
		}
		if math.Abs(variances[i/width]-v.At(i, i)) > 1e-9 {
			t.Fatalf("%s: cell %d has the variance %g, not %g", name, i, variances[i/width], v.At(i, i))
		}
	}
}

// TestSummedVariances compares the variances of sums of cells with the dense covariance.
func TestSummedVariances(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	s := &table.Space{Hierarchy: places(t, 1, 3, 2), Sizes: []int{3, 4}}
	var measured []table.Measured
	for _, m := range []table.Margin{{Level: 0, Keys: 3}, {Level: 1, Keys: 1}, {Level: 2, Keys: 2}} {
		measured = append(measured, table.Measured{
			Noisy: table.Noisy{Margin: m, Variance: 1 + r.Float64()}, Values: make([]float64, s.Cells(m)),
		})
	}
	f, err := table.NewFit(s, measured, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, covariance := dense(t, s, measured)
	for l := range 3 {
		for first := 1; first <= 3; first++ {
			for second := 1; second <= 4; second++ {
				m := table.Margin{Level: l, Keys: 3}
				a, got := matrix(s, m), f.Summed(m, []int{first, second})
				_, n := a.Dims()
				for node, v := range got {
					sum := mat.NewVecDense(n, nil)
					for x := range first {
						for y := range second {
							sum.AddVec(sum, a.RowView(node*12+x*4+y))
						}
					}
					if want := mat.Inner(sum, covariance, sum); math.Abs(v-want) > 1e-9 {
						t.Fatalf("level %d, node %d: the sum of %d × %d cells has the variance %g, not %g", l, node, first, second, v, want)
					}
				}
			}
		}
	}
}

// TestDeclaredTotals compares the fit with declared totals with the dense fit in which these totals have a tiny
// variance.
func TestDeclaredTotals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := &table.Space{Hierarchy: places(t, 2, 3), Sizes: []int{2}}
	m := table.Margin{Level: 0, Keys: 1}
	y := table.Measured{Noisy: table.Noisy{Margin: m, Variance: 2}}
	top := table.Measured{Noisy: table.Noisy{Margin: table.Margin{Level: 2, Keys: 0}, Variance: 1}, Values: []float64{70}}
	for range s.Cells(m) {
		y.Values = append(y.Values, 10*r.NormFloat64())
	}
	fixed := map[[2]int]int64{{1, 1}: 50, {0, 0}: 7}
	f, err := table.NewFit(s, []table.Measured{y, top}, fixed)
	if err != nil {
		t.Fatal(err)
	}
	// One row of a margin at a time is measured almost exactly.
	measured := []table.Measured{y, top}
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
		for keys := range table.Keys(2) {
			compare(t, fmt.Sprint(l, keys), s, f, table.Margin{Level: l, Keys: keys}, x, covariance)
		}
	}
	if got := f.Values(table.Margin{Level: 1})[1]; math.Abs(got-50) > 1e-9 {
		t.Errorf("the declared total 50 became %g", got)
	}
}

// TestWholeAddsUp rounds fits of small noisy counts, and checks signs, sums over every level and classification,
// declared totals, and the distance from the fit.
func TestWholeAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := &table.Space{Hierarchy: places(t, 1, 4, 7, 30), Sizes: []int{2, 3, 4}}
	margins := []table.Margin{{Level: 0, Keys: 7}, {Level: 1, Keys: 3}, {Level: 2, Keys: 4}, {Level: 0, Keys: 0}}
	for _, signed := range []bool{false, true} {
		for _, fixed := range []map[[2]int]int64{nil, {{1, 1}: 40, {0, 0}: 3}} {
			var measured []table.Measured
			for _, m := range margins {
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
			w, err := table.NewWhole(f, margins, fixed, signed)
			if err != nil {
				t.Fatal(err)
			}
			fine := w.Values(table.Margin{Level: 0, Keys: 7})
			for _, v := range fine {
				if v < 0 && !signed {
					t.Fatal("a count is negative")
				}
			}
			for l := range 3 {
				for keys := range table.Keys(8) {
					m := table.Margin{Level: l, Keys: keys}
					checkSums(t, matrix(s, m), fine, w.Values(m))
				}
			}
			for at, n := range fixed {
				if got := w.Values(table.Margin{Level: at[0]})[at[1]]; got != n {
					t.Errorf("the declared total %d became %d", n, got)
				}
			}
			if signed { // only rounding moves the numbers then
				for i, v := range f.Values(table.Margin{Level: 0, Keys: 7}) {
					if math.Abs(v-float64(fine[i])) > 3 {
						t.Errorf("%g was rounded to %d", v, fine[i])
					}
				}
			}
		}
	}
}

func checkSums(t *testing.T, a *mat.Dense, fine, got []int64) {
	t.Helper()
	for i, v := range got {
		sum := int64(0)
		for j, x := range fine {
			if a.At(i, j) == 1 {
				sum += x
			}
		}
		if sum != v {
			t.Fatalf("a cell is %d, and its parts add up to %d", v, sum)
		}
	}
}

// TestChoose checks that the chosen shares add up to 1, that no other division is better than the bound, and that the
// optimum meets the bound under ρ.
func TestChoose(t *testing.T) {
	s := &table.Space{Hierarchy: places(t, 5, 9, 2, 14), Sizes: []int{2, 5}}
	goals := []table.Goal{
		{Margin: table.Margin{Level: 0, Keys: 1}, Weight: 1},
		{Margin: table.Margin{Level: 1, Keys: 3}, Weight: 2},
		{Margin: table.Margin{Level: 2, Keys: 2}, Weight: 1},
	}
	var options []table.Option
	for l := range 3 {
		for _, keys := range []table.Keys{0, 1, 2, 3} {
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
