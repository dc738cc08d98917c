package strategy

import (
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/privacy"
)

// oneRow are the limits of a stream in which one row of a unit counts.
var oneRow = Limits{Rows: 1, Neighbours: privacy.AddRemove}

// runningWorkloads are sums of n steps of each kind.
func runningWorkloads(t *testing.T, n int) map[string]Running {
	t.Helper()
	return map[string]Running{
		"totals": must[Running](t)(Totals(n)), "windows": must[Running](t)(LastSums(n, (n+2)/3)),
		"fading": must[Running](t)(FadingSums(n, 0.9)),
	}
}

// For 1,095 running totals the largest error is within 2 % of 2.982, the lower bound; the square root of the matrix of
// running totals has 3.294.
func TestTotals(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 1095} {
		c := must[*FactorChoice](t)(Factorize(must[Running](t)(Totals(n)), oneRow))
		if m := c.Chosen.Maximum; !(m >= c.Bound && m <= c.Bound*1.001) {
			t.Errorf("for %d totals the maximum is %g, and the bound %g", n, m, c.Bound)
		}
		t.Logf("%d totals: maximum %.5f, bound %.5f", n, c.Chosen.Maximum, c.Bound)
		if n == 1095 {
			near(t, "the bound for 1,095 totals", c.Bound, 2.982, 5e-4)
			near(t, "the square root for 1,095 totals", c.Candidates[1].Maximum, 3.294, 5e-4)
		}
	}
}

// TestFactorizations: the expected errors of each factorization are those that dense algebra computes from its integers, no
// entry above the diagonal is needed, and no factorization is below the bound. The chosen one is within 2 % of it.
func TestFactorizations(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40} {
		for name, r := range runningWorkloads(t, n) {
			c := must[*FactorChoice](t)(Factorize(r, oneRow))
			f := c.Chosen
			dense, w := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			for i := range n {
				for j := 0; j <= i; j++ {
					w.Set(i, j, r.weights[i-j])
					dense.Set(i, j, math.Ldexp(float64(f.Matrix.Entry(i, j)), -factorBits))
				}
			}
			var inverse, p mat.Dense
			if err := inverse.Inverse(dense); err != nil {
				t.Fatal(err)
			}
			p.Mul(w, &inverse)
			norm, worst, all := 0.0, 0.0, 0.0
			for i := range n {
				norm = max(norm, mat.Norm(dense.ColView(i), 2))
				row := mat.Norm(p.RowView(i), 2)
				worst, all = max(worst, row), all+row*row
			}
			near(t, name+"'s maximum", f.Maximum, norm*worst, 1e-9)
			near(t, name+"'s root mean square", f.RMSE, norm*math.Sqrt(all/float64(n)), 1e-9)
			for _, candidate := range c.Candidates {
				if candidate.Maximum < c.Bound*(1-1e-12) || candidate.Maximum < f.Maximum*(1-leastGain) {
					t.Errorf("%s, %d steps: %+v, chosen %s, bound %g", name, n, candidate, f.Name, c.Bound)
				}
			}
			if f.Maximum > 1.02*c.Bound {
				t.Errorf("%s, %d steps: %g, and the bound is %g", name, n, f.Maximum, c.Bound)
			}
		}
	}
}

// TestLongStreams: the matrix of least error is computed for windows of streams of up to 1,100 steps. Beyond, the bound of a
// shorter stream holds. A Toeplitz matrix is near it for windows that are short compared with the stream.
func TestLongStreams(t *testing.T) {
	for _, c := range []struct {
		steps, width int
		name         string
		most         float64 // the largest error, divided by the bound
		long         bool
	}{
		{200, 60, leastMaximum, 1.002, false},
		{200, 8, "square root", 1.01, false},
		{2000, 7, "square root", 1.01, true},
		{365, 90, leastMaximum, 1.002, true},
		{365, 182, leastMaximum, 1.002, true},
		{365, 30, "square root", 1.005, true},
		{730, 90, "square root", 1.01, true},
		{1095, 365, leastMaximum, 1.015, true},
	} {
		if c.long && os.Getenv("DITHER_LONG") != "1" {
			continue
		}
		got := must[*FactorChoice](t)(Factorize(must[Running](t)(LastSums(c.steps, c.width)), oneRow))
		if got.Chosen.Name != c.name || got.Chosen.Maximum > c.most*got.Bound {
			t.Errorf("windows of %d of %d steps: %s has %g, and the bound is %g",
				c.width, c.steps, got.Chosen.Name, got.Chosen.Maximum, got.Bound)
		}
		t.Logf("windows of %d of %d steps: the square root has %.4f, %s %.4f, and the bound is %.4f",
			c.width, c.steps, got.Candidates[1].Maximum, got.Chosen.Name, got.Chosen.Maximum, got.Bound)
	}
}

func TestRefusesInvalidSums(t *testing.T) {
	for name, err := range map[string]error{
		"no steps":       second(Totals(0)),
		"many steps":     second(Totals(MaxCells + 1)),
		"no window":      second(LastSums(4, 0)),
		"a long window":  second(LastSums(4, 5)),
		"no decay":       second(FadingSums(4, 0)),
		"growth":         second(FadingSums(4, 1.1)),
		"not a number":   second(FadingSums(4, math.NaN())),
		"no rows":        second(Factorize(must[Running](t)(Totals(3)), Limits{Neighbours: privacy.AddRemove})),
		"the zero value": second(Factorize(Running{}, oneRow)),
	} {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// TestLimitsOfRows: the errors follow the limits on a unit's rows. If the rows may share a period, all errors are relative to
// the noise of a count of all of them. If they may not, the totals of seven rows have less than 0.9 times that error.
func TestLimitsOfRows(t *testing.T) {
	r := must[Running](t)(Totals(60))
	one := must[*FactorChoice](t)(Factorize(r, oneRow))
	for _, neighbours := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		seven := must[*FactorChoice](t)(Factorize(r, Limits{Rows: 7, Neighbours: neighbours}))
		near(t, "seven rows together", seven.Chosen.Maximum, one.Chosen.Maximum, 1e-9)
		apart := must[*FactorChoice](t)(Factorize(r, Limits{Rows: 7, PerPeriod: 1, Neighbours: neighbours}))
		if m := apart.Chosen.Maximum; m > 0.9*one.Chosen.Maximum || m < apart.Bound {
			t.Errorf("seven rows apart: %g, and together %g; the bound is %g", m, one.Chosen.Maximum, apart.Bound)
		}
		t.Logf("%v", apart.Candidates)
	}
}
