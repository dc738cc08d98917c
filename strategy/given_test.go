package strategy_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/strategy"
)

// TestGivenConstants compares estimates and covariances with known cells and a known total with the dense solution of the
// normal equations under these constraints (Lagrange multipliers), and checks that only finite numbers are stated if
// everything is known.
func TestGivenConstants(t *testing.T) {
	const n = 9
	r := rand.New(rand.NewPCG(51, 52))
	w, err := strategy.Ranges(n)
	if err != nil {
		t.Fatal(err)
	}
	total := 40.0
	every := map[int]float64{}
	for j := range n {
		every[j] = float64(j)
	}
	for _, unit := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
		choice, err := strategy.Choose(w, unit)
		if err != nil {
			t.Fatal(err)
		}
		s := choice.Chosen
		for _, of := range []struct {
			cells map[int]float64
			total *float64
		}{{nil, &total}, {map[int]float64{2: 7, 5: -1}, nil}, {map[int]float64{0: 3, 8: 4, 4: 1}, &total}, {every, &total}} {
			given, err := s.Given(of.cells, of.total)
			if err != nil {
				t.Fatal(err)
			}
			var rows [][]float64
			var constants []float64
			for j := range n {
				if v, ok := of.cells[j]; ok {
					row := make([]float64, n)
					row[j] = 1
					rows, constants = append(rows, row), append(constants, v)
				}
			}
			if of.total != nil && len(of.cells) < n {
				ones := make([]float64, n)
				for j := range ones {
					ones[j] = 1
				}
				rows, constants = append(rows, ones), append(constants, *of.total)
			}
			y := make([]float64, len(s.Matrix.Rows))
			for i := range y {
				y[i] = 10 * r.NormFloat64()
			}
			// [AᵀA Cᵀ; C 0] has the inverse whose first block is the covariance in units of a measurement's variance.
			a := mat.NewDense(len(y), n, nil)
			for i, row := range s.Matrix.Rows {
				for k, v := range row.Entries {
					a.Set(i, row.First+k, float64(v))
				}
			}
			size := n + len(rows)
			system, right := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
			var gram mat.Dense
			gram.Mul(a.T(), a)
			system.Slice(0, n, 0, n).(*mat.Dense).Copy(&gram)
			var moments mat.VecDense
			moments.MulVec(a.T(), mat.NewVecDense(len(y), y))
			level := mat.Trace(&gram) / n // keeps the system well conditioned
			for j := range n {
				right.SetVec(j, moments.AtVec(j))
				for k, row := range rows {
					system.Set(n+k, j, level*row[j])
					system.Set(j, n+k, level*row[j])
				}
			}
			for k, v := range constants {
				right.SetVec(n+k, level*v)
			}
			var inverse mat.Dense
			if err := inverse.Inverse(system); err != nil {
				t.Fatal(err)
			}
			var x mat.VecDense
			x.MulVec(&inverse, right)
			got, err := given.Estimate(y)
			if err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for i := range n {
				if math.Abs(got[i]-x.AtVec(i)) > 1e-9 {
					t.Fatalf("cell %d is %g, not %g", i, got[i], x.AtVec(i))
				}
				for j := range n {
					e, f := make([]float64, n), make([]float64, n)
					e[i], f[j] = 1, 1
					c, err := given.Covariance(e, f)
					if want := inverse.At(i, j) * s.Scale() * s.Scale(); err != nil || math.Abs(c-want) > 1e-9 {
						t.Fatalf("the covariance of the cells %d and %d is %g, not %g (%v)", i, j, c, want, err)
					}
				}
			}
			for low := range n {
				for high := low + 1; high <= n; high++ {
					for i := low; i < high; i++ {
						for j := low; j < high; j++ {
							mean += inverse.At(i, j) * s.Scale() * s.Scale() / (n * (n + 1) / 2)
						}
					}
				}
			}
			if math.Abs(given.RMSE*given.RMSE-mean) > 1e-9 || given.RMSE > s.RMSE {
				t.Errorf("the rmse is %g, not %g; it is %g without constants", given.RMSE, math.Sqrt(max(mean, 0)), s.RMSE)
			}
		}
		if _, err := s.Given(map[int]float64{n: 1}, nil); !errors.Is(err, strategy.ErrStrategy) {
			t.Errorf("a cell that does not exist: %v", err)
		}
	}
}
