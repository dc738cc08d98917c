package strategy

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"
	"time"
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.6g, not %.6g", what, got, want)
	}
}

// The hierarchical strategies have the errors of McKenna, Miklau, Hay & Machanavajjhala's tables for n = 1024.
func TestPublishedErrors(t *testing.T) {
	all, running := must[Workload](t)(Ranges(1024)), must[Workload](t)(Prefixes(1024))
	for _, c := range []struct {
		name          string
		work          Workload
		unit          Unit
		identity, two float64
		haar, hb      float64
		tolerance     float64
	}{
		{"ranges", all, Rho, 18.4932, 4.6542, 4.3185, 6.4087, 5e-5},
		{"prefixes", running, Rho, 22.6385, 3.6862, 3.6674, 6.4338, 5e-5},
		{"ranges, pure", all, Epsilon, 18.493, 15.436, 14.323, 9.063, 5e-4},
		{"prefixes, pure", running, Epsilon, 22.638, 12.226, 12.163, 9.099, 5.1e-4},
	} {
		identity := must[*Strategy](t)(New("identity", c.work, Identity(1024), c.unit))
		near(t, c.name+" identity", identity.RMSE, c.identity, c.tolerance)
		two := must[*Strategy](t)(ofTree("", c.work, Tree{Cells: 1024, Branching: 2, Root: true}, c.unit))
		near(t, c.name+" binary tree", two.RMSE, c.two, c.tolerance)
		haar := must[*Strategy](t)(ofHaar(c.work, c.unit))
		near(t, c.name+" Haar", haar.RMSE, c.haar, c.tolerance)
		hb := must[*Strategy](t)(ofTree("", c.work, Tree{Cells: 1024, Branching: QardajiBranching(1024)}, c.unit))
		near(t, c.name+" HB", hb.RMSE, c.hb, c.tolerance)
	}
}

// The optimal strategies have the published errors, and the certified gap is at most 1e-3. The optimiser of McKenna and
// others has 3.5681 for ranges and 3.0653 for prefixes of n = 1024.
func TestOptimum(t *testing.T) {
	for _, c := range []struct {
		name string
		work Workload
		rmse float64
		long bool
	}{
		{"prefixes of 1024", must[Workload](t)(Prefixes(1024)), 2.9555, false},
		{"ranges of 1024", must[Workload](t)(Ranges(1024)), 3.5151, false},
		{"windows of 32 in 1024", must[Workload](t)(Windows(1024, 32)), 2.3843, true},
		{"prefixes of 2048", must[Workload](t)(Prefixes(2048)), 3.1723, true},
	} {
		if c.long && os.Getenv("DITHER_LONG") != "1" {
			continue
		}
		begin := time.Now()
		s, bound, err := Optimal(c.work)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.6f ≥ %.6f, gap %.2g, maximum %.4f, %v", c.name, s.RMSE, bound, s.RMSE/bound-1, s.Maximum,
			time.Since(begin))
		near(t, c.name, s.RMSE, c.rmse, 5e-5)
		if gap := s.RMSE/bound - 1; !(gap >= 0 && gap <= 1e-3) {
			t.Errorf("%s: the gap is %g", c.name, gap)
		}
	}
}

// Trees with consistency have the errors of Qardaji, Yang & Li, Understanding hierarchical methods (2013), table 3: the
// mean variance of ranges in units of 2/ε². The best branching factor is 16.
func TestQardaji(t *testing.T) {
	work := must[Workload](t)(Ranges(4096))
	e := newTreeErrors(work)
	for _, c := range []struct {
		branching int
		variance  float64
	}{{4, 178.4}, {8, 138.3}, {16, 131.0}, {64, 167.4}, {4096, 1366}} {
		tree := Tree{Cells: 4096, Branching: c.branching}
		height := float64(tree.Height())
		name := fmt.Sprintf("the mean variance with %d branches", c.branching)
		near(t, name, height*height*e.of(tree)/work.Weight(), c.variance, 0.1) // one unit of the last digit
	}
}

// No branching factor has a smaller error than the best one, for each family of workloads.
func TestBestBranching(t *testing.T) {
	for name, w := range workloads(t) {
		for _, unit := range []Unit{Rho, Epsilon} {
			n, e := w.Cells(), newTreeErrors(w)
			best := math.Inf(1)
			for b := 2; b < n; b++ {
				tree := Tree{Cells: n, Branching: b}
				s := must[*Strategy](t)(ofTree("", w, tree, Rho))
				near(t, fmt.Sprintf("%s: the variances with %d branches", name, b), float64(tree.Height())*e.of(tree)/w.Weight(),
					s.RMSE*s.RMSE, 1e-9)
				best = min(best, must[*Strategy](t)(ofTree("", w, tree, unit)).RMSE)
			}
			if n > 2 {
				s := must[*Strategy](t)(ofTree("", w, Tree{Cells: n, Branching: BestBranching(w, unit)}, unit))
				near(t, name+": the least error", s.RMSE, best, 1e-9)
			}
		}
	}
	// The smallest factor of each height is not enough: for this workload, 8 branches have 2.6 % more noise.
	if b := BestBranching(must[Workload](t)(Prefixes(365)), Epsilon); b != 10 {
		t.Errorf("the best tree for running totals of 365 days has %d branches, not 10", b)
	}
	if b := BestBranching(must[Workload](t)(Ranges(4096)), Epsilon); b != 16 { // Qardaji and others, table 3
		t.Errorf("the best tree for ranges of 4,096 cells has %d branches, not 16", b)
	}
}

// The covariance of a tree agrees with the inverse of its Gram matrix, for sizes that are no powers too.
func TestTreeCovariance(t *testing.T) {
	for _, tree := range []Tree{{1, 2, true}, {2, 2, true}, {7, 2, true}, {10, 3, false}, {27, 3, true}, {30, 30, false}} {
		m := must[Matrix](t)(tree.Matrix())
		fast, slow := must[*covariance](t)(tree.covariance(2)), must[*covariance](t)(m.covariance(2))
		for i := range tree.Cells {
			for j := range tree.Cells {
				near(t, fmt.Sprintf("%v at %d, %d", tree, i, j), fast.cells.At(i, j), slow.cells.At(i, j), 1e-12)
			}
		}
		l1, l2 := m.Norms()
		if h := int64(tree.Height()); l1.Int64() != h || l2.Int64() != h {
			t.Errorf("%v has norms %v and %v, and height %d", tree, l1, l2, h)
		}
	}
}

// workloads returns small workloads of each family, and unions of them.
func workloads(t *testing.T) map[string]Workload {
	t.Helper()
	all := map[string]Workload{}
	for _, n := range []int{1, 2, 5, 12} {
		p, r := must[Workload](t)(Prefixes(n)), must[Workload](t)(Ranges(n))
		all[fmt.Sprintf("prefixes %d", n)], all[fmt.Sprintf("ranges %d", n)] = p, r
		heavy := must[Workload](t)(r.Weighted(2.5))
		all[fmt.Sprintf("heavy ranges %d", n)] = heavy
		all[fmt.Sprintf("union %d", n)] = must[Workload](t)(Union(p, heavy))
		for _, width := range []int{1, (n + 1) / 2, n} {
			all[fmt.Sprintf("windows %d:%d", n, width)] = must[Workload](t)(Windows(n, width))
		}
	}
	all["matrix"] = must[Workload](t)(Explicit([][]float64{{1, 0, -1, 0}, {0.5, 2, 0, 0}}))
	return all
}

// The Gram matrix and the answers of a workload agree with its queries, written out one by one.
func TestWorkloadsAgreeWithTheirQueries(t *testing.T) {
	for name, w := range workloads(t) {
		n := w.Cells()
		columns := make([][]float64, n)
		for j := range columns {
			unit := make([]float64, n)
			unit[j] = 1
			columns[j] = must[[]float64](t)(w.Answers(unit))
			if len(columns[j]) != w.Queries() {
				t.Fatalf("%s has %d answers for %d queries", name, len(columns[j]), w.Queries())
			}
		}
		weights := make([]float64, 0, w.Queries())
		for _, p := range w.parts {
			for range p.queries(n) {
				weights = append(weights, p.weight)
			}
		}
		v := w.Gram()
		for i := range n {
			for j := range n {
				want := 0.0
				for q, weight := range weights {
					want += weight * columns[i][q] * columns[j][q]
				}
				near(t, fmt.Sprintf("%s at %d, %d", name, i, j), v.At(i, j), want, 1e-9)
			}
		}
	}
}

// For every small workload, the bound is below every candidate's error, and the optimum is within 1e-3 of it.
func TestBoundHolds(t *testing.T) {
	for name, w := range workloads(t) {
		c := must[*Choice](t)(Choose(w, Rho))
		for _, k := range c.Candidates {
			if !(k.RMSE >= c.Bound) || !(k.Maximum >= k.RMSE*(1-1e-12)) && !weighted(w) {
				t.Errorf("%s: %+v, and the bound is %g", name, k, c.Bound)
			}
		}
		if gap := c.Chosen.RMSE/c.Bound - 1; !(gap < 1e-3) {
			t.Errorf("%s: the gap is %g, of %+v", name, gap, c.Candidates)
		}
	}
}

func weighted(w Workload) bool { return len(w.parts) > 1 }

// The tridiagonal roots agree with those by eigenvectors.
func TestRootsAgree(t *testing.T) {
	for name, w := range workloads(t) {
		fast, _ := w.roots()
		y := make([]float64, w.Cells())
		for i := range y {
			y[i] = 0.3 + math.Abs(math.Sin(float64(min(i, len(y)-1-i)))) // equal to its reverse
		}
		slow := &dense{gram: w.Gram()} // without the split
		a, b := fast.full(y), slow.full(y)
		m, _ := fast.diagonal(y)
		for i := range y {
			near(t, name+" diagonal", m[i], a.At(i, i), 1e-9)
			for j := range y {
				near(t, name, a.At(i, j), b.At(i, j), 1e-6)
			}
		}
	}
}

// Estimates reproduce cells that were measured without noise, and every deviation is the root of a covariance.
func TestEstimate(t *testing.T) {
	w := must[Workload](t)(Ranges(9))
	for _, unit := range []Unit{Rho, Epsilon} {
		s := must[*Choice](t)(Choose(w, unit)).Chosen
		cells := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5}
		got := must[[]float64](t)(s.Estimate(s.Matrix.Times(cells)))
		for i := range cells {
			near(t, "a cell", got[i], cells[i], 1e-8)
		}
		query := []float64{0, 1, 1, 1, 0, 0, 0, 0, 0}
		v := must[float64](t)(s.Covariance(query, query))
		near(t, "a deviation", must[float64](t)(s.Deviation(query)), math.Sqrt(v), 1e-9)
		near(t, "an interval's deviation", math.Sqrt(s.covariance.interval(1, 4)), math.Sqrt(v), 1e-9)
	}
}

// The weights of a query, applied to measurements, are its answer from the estimated cells. Their squares add up to its
// variance. So runs of equal coefficients are as single cells.
func TestWeights(t *testing.T) {
	w := must[Workload](t)(Ranges(9))
	for _, unit := range []Unit{Rho, Epsilon} {
		s := must[*Choice](t)(Choose(w, unit)).Chosen
		measured := make([]float64, len(s.Matrix.Rows))
		for i := range measured {
			measured[i] = math.Sin(float64(i)) * s.Scale()
		}
		cells := must[[]float64](t)(s.Estimate(measured))
		for _, query := range [][]float64{
			{1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 2, 2, 2, 0, 0, 0, 0}, {1, 1, 0, -3, -3, -3, 5, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0},
		} {
			answer, want, squares := 0.0, 0.0, 0.0
			for i, v := range must[[]float64](t)(s.Weights(query)) {
				answer += v * measured[i]
				squares += v * v
			}
			for j, v := range query {
				want += v * cells[j]
			}
			near(t, fmt.Sprintf("the answer to %v", query), answer, want, 1e-9)
			deviation := must[float64](t)(s.Deviation(query))
			near(t, fmt.Sprintf("the variance of %v", query), squares*s.Scale()*s.Scale(), deviation*deviation, 1e-9)
		}
	}
}

func TestRefusesInvalidWorkloads(t *testing.T) {
	for name, err := range map[string]error{
		"no cells":      second(Prefixes(0)),
		"many cells":    second(Ranges(MaxCells + 1)),
		"wide window":   second(Windows(10, 11)),
		"no window":     second(Windows(10, 0)),
		"no matrix":     second(Explicit(nil)),
		"no columns":    second(Explicit([][]float64{{}})),
		"ragged":        second(Explicit([][]float64{{1, 2}, {1}})),
		"not a number":  second(Explicit([][]float64{{math.NaN()}})),
		"infinite":      second(Explicit([][]float64{{math.Inf(1)}})),
		"zero":          second(Explicit([][]float64{{0, 0}})),
		"nearly zero":   second(Explicit([][]float64{{1e-300, 1e-300}})),
		"no workload":   second(Union()),
		"weight":        second(must[Workload](t)(Prefixes(2)).Weighted(0)),
		"light":         second(must[Workload](t)(Prefixes(2)).Weighted(1e-320)),
		"other columns": second(Union(must[Workload](t)(Prefixes(2)), must[Workload](t)(Prefixes(3)))),
	} {
		if !errors.Is(err, ErrWorkload) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Choose(must[Workload](t)(Windows(MaxDense+1, 3)), Rho); !errors.Is(err, ErrWorkload) {
		t.Errorf("too many cells for windows: %v", err)
	}
	if _, err := Choose(Workload{}, Rho); !errors.Is(err, ErrWorkload) {
		t.Errorf("the zero workload: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
