package strategy

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/privacy"
)

// TestRowsApart: if the rows of a unit arrive in many steps, a smaller power of the totals has at most 0.95 times the error of
// the square root, and each sum has a candidate that is at most the square root and the identity. The search's floats agree
// with the errors by the integers of the matrices.
func TestRowsApart(t *testing.T) {
	const n = 120
	limits := Limits{Rows: 30, PerPeriod: 1, Neighbours: privacy.AddRemove}
	for name, r := range runningWorkloads(t, n) {
		c := must[*FactorChoice](t)(Factorize(r, limits))
		by := map[string]float64{}
		for _, candidate := range c.Candidates {
			kind := strings.Fields(candidate.Name)[0]
			if strings.HasPrefix(candidate.Name, "square root of") {
				kind = "bands"
			}
			by[kind] = candidate.Maximum
		}
		if len(by) < 4 || by["bands"] == 0 || by["power"] == 0 {
			t.Fatalf("%s: %+v", name, c.Candidates)
		}
		if name == "totals" && by["power"] > 0.95*by["square"] {
			t.Errorf("totals: the power has %g, and the square root %g", by["power"], by["square"])
		}
		if least := min(by["identity"], by["square"], by["bands"], by["power"]); c.Chosen.Maximum > least || c.Bound > least {
			t.Errorf("%s: chosen %g, bound %g, candidates %+v", name, c.Chosen.Maximum, c.Bound, c.Candidates)
		}
		identity := banded(seriesRoot(r.weights), 1)
		scale := by["identity"] / r.errorApart(identity, inverseSeries(identity, 1), limits.steps())
		root := seriesRoot(r.weights)
		searched := scale * r.errorApart(root, inverseSeries(root, n), limits.steps())
		if name == "windows" { // their square root has negative numbers
			if !math.IsInf(searched, 1) {
				t.Errorf("the square root of windows: %g", searched)
			}
		} else {
			near(t, name+"'s square root", by["square"], searched, 1e-6)
		}
	}
}

// TestSumsOfSeries: the sums of a series are the product with the matrix of the workload, and the inverse of a power is the
// power with the opposite sign.
func TestSumsOfSeries(t *testing.T) {
	const n = 30
	power, back := powerSeries(n, 0.3, 0.9), powerSeries(n, -0.3, 0.9)
	for i, v := range inverseSeries(power, n) {
		near(t, "the inverse", v, back[i], 1e-12)
	}
	for name, r := range runningWorkloads(t, n) {
		for k, v := range r.sums(power) {
			want := 0.0
			for j := range k + 1 {
				want += r.weights[k-j] * power[j]
			}
			near(t, name, v, want, 1e-12)
		}
	}
}

// TestBoundApart: no random matrix, also with negative entries, has a smaller largest error than the bound, if a unit may have
// rows in any two or three of five steps. The sensitivity is computed from all sets of steps.
func TestBoundApart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	const n = 5
	for name, r := range runningWorkloads(t, n) {
		for _, limits := range []Limits{
			{Rows: 2, PerPeriod: 1, Neighbours: privacy.AddRemove}, {Rows: 3, PerPeriod: 1, Neighbours: privacy.AddRemove},
		} {
			one := must[*FactorChoice](t)(Factorize(r, oneRow)).Bound
			bound := r.boundApart(one, limits)
			least := math.Inf(1)
			for range 3000 {
				c, w := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
				for i := range n {
					for j := 0; j <= i; j++ {
						w.Set(i, j, r.weights[i-j])
						c.Set(i, j, 2*random.Float64()-0.8)
					}
					c.Set(i, i, 1)
				}
				var p mat.Dense
				if err := p.Solve(c.T(), w.T()); err != nil {
					t.Fatal(err)
				}
				row, most := 0.0, 0.0
				for i := range n {
					row = max(row, mat.Norm(p.ColView(i), 2))
				}
				for set := range 1 << n {
					if bits.OnesCount(uint(set)) > int(limits.Rows) {
						continue
					}
					moved := mat.NewVecDense(n, nil)
					for j := range n {
						if set>>j&1 == 1 {
							moved.AddVec(moved, c.ColView(j))
						}
					}
					most = max(most, mat.Norm(moved, 2))
				}
				least = min(least, row*most/float64(limits.Rows))
			}
			if least < bound || bound < one/float64(limits.Rows) {
				t.Errorf("%s, %d rows: an error of %g, and the bound is %g", name, limits.Rows, least, bound)
			}
			t.Logf("%s, %d rows: least %.4f, bound %.4f", name, limits.Rows, least, bound)
		}
	}
}
