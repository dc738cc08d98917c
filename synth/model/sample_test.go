package model

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"dither/internal/splitmix"
)

// drawn returns the counts of a joint table of drawn rows.
func drawn(t *testing.T, m *Model, rows int64, how Drawing, r *splitmix.Stream) *joint {
	t.Helper()
	out := newJoint(m.domain, func([]int) float64 { return 0 })
	codes := make([]int, len(m.domain.sizes))
	err := m.Sample(rows, how, r, func(columns [][]int32) error {
		for i := range columns[0] {
			for a := range codes {
				codes[a] = int(columns[a][i])
			}
			out.values[place(m.domain, all(m.domain), codes)]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// chain returns a model of three cliques over four attributes.
func chain(t *testing.T) *Model {
	t.Helper()
	r := splitmix.At(11)
	d := domain(t, 3, 4, 2, 3)
	return fit(t, d, someMeasurements(&r, d, 1000, 3, [][]int{{0, 1}, {1, 2}, {2, 3}}), Options{Iterations: 40})
}

// The counts of independent rows pass a chi-square test against the joint table. The seed is fixed. For a random seed,
// the test would fail with probability 1e-4 in each of 4 draws.
func TestIndependentRowsHaveTheModelsDistribution(t *testing.T) {
	m := chain(t)
	want := m.dense()
	for seed := range 4 {
		r := splitmix.At(splitmix.Mix(uint64(seed)))
		chiSquare(t, drawn(t, m, 100_000, Independent, &r), want, 100_000/m.total)
	}
}

// chiSquare compares counts with expected counts: cells that expect fewer than 5 rows are one cell.
func chiSquare(t *testing.T, got, want *joint, scale float64) {
	t.Helper()
	sum, rest, restWant, cells := 0.0, 0.0, 0.0, -1.0
	for i, v := range want.values {
		e := v * scale
		if e < 5 {
			rest += got.values[i]
			restWant += e
			continue
		}
		sum += (got.values[i] - e) * (got.values[i] - e) / e
		cells++
	}
	if restWant > 0 {
		sum += (rest - restWant) * (rest - restWant) / restWant
		cells++
	}
	if p := (distuv.ChiSquared{K: cells}).Survival(sum); p < 1e-4 {
		t.Errorf("χ² = %v with %v degrees of freedom: p = %v", sum, cells, p)
	}
}

// Rounded rows, too few for any cell to expect a whole one, have the model's distribution on average. Draws of 3 rows
// are independent of each other, and within one their counts vary less than those of independent rows, so the test is
// conservative: it fails with probability below 1e-4 for a random seed.
func TestRoundedRowsAreUnbiased(t *testing.T) {
	m := chain(t)
	r := splitmix.At(12)
	got := newJoint(m.domain, func([]int) float64 { return 0 })
	for range 20_000 {
		for i, v := range drawn(t, m, 3, Rounded, &r).values {
			got.values[i] += v
		}
	}
	chiSquare(t, got, m.dense(), 60_000/m.total)
}

// In each clique, a cell has its expected rows given those of its separator, rounded down or up.
func TestRoundedRowsAreNearTheModel(t *testing.T) {
	m := chain(t)
	r := splitmix.At(13)
	const n = 5000
	got := drawn(t, m, n, Rounded, &r)
	for _, c := range m.tree.cliques {
		counts := got.marginal(c.members...)
		for b, mass := range c.mass {
			group := 0.0
			for _, v := range counts[b*c.block:][:c.block] {
				group += v
			}
			for i, v := range counts[b*c.block:][:c.block] {
				if e := group * c.weight[b*c.block+i] / mass; math.Abs(v-e) >= 1 {
					t.Errorf("cell %d of block %d of %v has %v rows, and expects %v", i, b, c.members, v, e)
				}
			}
		}
	}
}

// Rows come in batches that add up, and the first error of the caller ends them.
func TestBatchesAddUp(t *testing.T) {
	d := domain(t, 2)
	m := fit(t, d, []Measurement{{Attributes: []int{0}, Values: []float64{1, 3}, Variance: 1}}, Options{Iterations: 500})
	r := splitmix.At(14)
	rows, batches := 0, 0
	if err := m.Sample(Batch+5, Rounded, &r, func(columns [][]int32) error {
		rows += len(columns[0])
		batches++
		return nil
	}); err != nil || rows != Batch+5 || batches != 2 {
		t.Errorf("%d rows in %d batches (%v)", rows, batches, err)
	}
	stop := errors.New("stop")
	if err := m.Sample(5, Independent, &r, func([][]int32) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of the caller is %v", err)
	}
	if err := m.Sample(-1, Rounded, &r, nil); err == nil {
		t.Error("−1 rows")
	}
	if err := m.Sample(0, Rounded, &r, nil); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// No drawn row is in a forbidden cell.
func TestDrawnRowsKeepConstraints(t *testing.T) {
	d := domain(t, 3, 3)
	allowed := []bool{true, true, true, false, true, true, false, false, true}
	m := fit(t, d, []Measurement{{Attributes: []int{0}, Values: []float64{10, 20, 70}, Variance: 1}}, Options{
		Constraints: []Constraint{{[]int{0, 1}, allowed}}, Iterations: 30,
	})
	r := splitmix.At(15)
	for _, how := range []Drawing{Rounded, Independent} {
		for i, v := range drawn(t, m, 10_000, how, &r).values {
			if v > 0 && !allowed[i] {
				t.Errorf("%v rows in the forbidden cell %d", v, i)
			}
		}
	}
}
