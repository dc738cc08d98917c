package table_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"dither/strategy/table"
)

// census is a space with true counts, and measured margins.
type census struct {
	space *table.Space
	truth map[table.Margin][]float64
	noisy []table.Noisy
}

// newCensus makes counts with many small cells and some large ones. If sparse is set, most cells are 0.
func newCensus(t testing.TB, r *rand.Rand, sparse bool) *census {
	t.Helper()
	c := &census{space: &table.Space{Hierarchy: places(t, 2, 5, 9, 14), Sizes: []int{2, 4}}, truth: map[table.Margin][]float64{}}
	cells := c.space.Cells(table.Margin{Level: 0, Keys: 3})
	fine := make([]float64, cells)
	for i := range fine {
		if !sparse || r.IntN(10) == 0 {
			fine[i] = math.Floor(math.Exp(6*r.Float64()) - 1)
		}
	}
	for l := range 3 {
		up := c.space.Hierarchy.Ancestor(l)
		for keys := range table.Keys(4) {
			m := table.Margin{Level: l, Keys: keys}
			sums := make([]float64, c.space.Cells(m))
			width := len(sums) / c.space.Hierarchy.Nodes(l)
			for i, x := range fine {
				leaf, a, b := i/8, i%8/4, i%4
				at := 0
				if has(keys, 0) {
					at = a
				}
				if has(keys, 1) {
					at = at*4 + b
				}
				sums[up[leaf]*width+at] += x
			}
			c.truth[m] = sums
		}
	}
	for i, m := range []table.Margin{{Level: 0, Keys: 3}, {Level: 1, Keys: 2}, {Level: 1, Keys: 0}, {Level: 2, Keys: 1}} {
		c.noisy = append(c.noisy, table.Noisy{Margin: m, Variance: []float64{16, 4, 4, 2}[i]})
	}
	return c
}

// draw returns measured margins with normal noise.
func (c *census) draw(r *rand.Rand) (out []table.Measured) {
	for _, n := range c.noisy {
		m := table.Measured{Noisy: n}
		for _, x := range c.truth[n.Margin] {
			m.Values = append(m.Values, x+math.Sqrt(n.Variance)*r.NormFloat64())
		}
		out = append(out, m)
	}
	return out
}

func draws() int {
	if os.Getenv("DITHER_LONG") != "" {
		return 20_000
	}
	return 1_000
}

// TestStatedVariances compares the errors of fits with the stated variances. In each margin, the squared errors of the
// finest part of a fit are standardised and pooled over all draws. One cell of each margin enters the pooled sum, so that
// its terms are independent: the sum of n of them has a chi-squared distribution with n degrees of freedom. The test
// fails for a true variance with probability 2·10⁻⁶ in each of 12 margins (4.8 standard deviations of a normal
// approximation), so it gives a false alarm with probability below 3·10⁻⁵. Its seed is fixed.
func TestStatedVariances(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	c := newCensus(t, r, false)
	sums, n := map[table.Margin]float64{}, draws()
	for range n {
		f, err := table.NewFit(c.space, c.draw(r), nil)
		if err != nil {
			t.Fatal(err)
		}
		for m, truth := range c.truth {
			values, variances := f.Values(m), f.Variances(m)
			at := r.IntN(len(values))
			e := values[at] - truth[at]
			sums[m] += e * e / variances[at/(len(values)/len(variances))]
		}
	}
	for m, sum := range sums {
		if z := (sum - float64(n)) / math.Sqrt(2*float64(n)); math.Abs(z) > 4.8 {
			t.Errorf("%v: the pooled chi-squared of %d errors is %.1f, %.1f deviations from its mean", m, n, sum, z)
		}
	}
}

// TestResiduals checks that the residuals of measured margins are near 1 on average.
func TestResiduals(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	c := newCensus(t, r, false)
	const n = 300
	mean := make([]float64, len(c.noisy))
	for range n {
		measured := c.draw(r)
		f, err := table.NewFit(c.space, measured, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range f.Residuals(measured) {
			mean[i] += x / n
		}
	}
	for i, x := range mean { // the margin with the fewest degrees of freedom has one cell, so the deviation is below √(2/n)
		if math.Abs(x-1) > 5*math.Sqrt(2.0/n) {
			t.Errorf("part %d has the mean residual %.3f", i, x)
		}
	}
}

// TestCoverageAfterRounding counts how often intervals contain the true count: the estimate ± 1.96 standard deviations,
// and around the rounded value the same half-width plus the distance of the value from the estimate. The second interval
// contains the first. At least 95 % must be covered in every margin, for small and large cells, up to 5 standard
// deviations of the share if all cells of one draw were covered together. So a false alarm has a probability below
// 3·10⁻⁷ for each of at most 120 shares. The seed is fixed. The test logs the coverage of values without the distance,
// which is far below 95 % where most cells are 0.
func TestCoverageAfterRounding(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		r := rand.New(rand.NewPCG(15, 16))
		c := newCensus(t, r, sparse)
		var margins []table.Margin
		for m := range c.truth {
			margins = append(margins, m)
		}
		covered, n := map[string]*coverage{}, draws()/5
		for range n {
			f, err := table.NewFit(c.space, c.draw(r), nil)
			if err != nil {
				t.Fatal(err)
			}
			w, err := table.NewWhole(f, margins, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			for m, truth := range c.truth {
				values, variances, whole := f.Values(m), f.Variances(m), w.Values(m)
				for i, x := range truth {
					name := fmt.Sprintf("level %d, keys %02b, large %t", m.Level, m.Keys, x >= 20)
					if covered[name] == nil {
						covered[name] = &coverage{}
					}
					covered[name].add(x, values[i], float64(whole[i]), 1.96*math.Sqrt(variances[i/(len(values)/len(variances))]))
				}
			}
		}
		least := 0.95 - 5*math.Sqrt(0.95*0.05/float64(n))
		for name, k := range covered {
			t.Logf("sparse %t, %s: %.0f cells; estimates %.3f, values %.3f, values without the distance %.3f",
				sparse, name, k.cells, k.estimates/k.cells, k.values/k.cells, k.bare/k.cells)
			if k.estimates < least*k.cells || k.values < least*k.cells {
				t.Errorf("sparse %t, %s: only %.3f and %.3f are covered", sparse, name, k.estimates/k.cells, k.values/k.cells)
			}
		}
	}
}

// coverage counts the intervals of cells that contain the truth.
type coverage struct{ cells, estimates, values, bare float64 }

func (k *coverage) add(truth, estimate, value, half float64) {
	k.cells++
	if math.Abs(estimate-truth) <= half {
		k.estimates++
	}
	if math.Abs(value-truth) <= half+math.Abs(value-estimate) {
		k.values++
	}
	if math.Abs(value-truth) <= half {
		k.bare++
	}
}
