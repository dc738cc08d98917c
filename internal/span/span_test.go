package span_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/span"
	"dither/mechanism/linear"
)

// histogram plans parts over k (7 values) and b (FALSE and TRUE).
func histogram(t *testing.T, parts ...plan.LinearPart) *plan.Linear {
	t.Helper()
	p, err := policy.Decode(enginetest.PolicyText("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	l, err := plan.BuildLinear(p, plan.Request{SQL: "SELECT COUNT(*) FROM t GROUP BY k, b"}, parts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func strategy(t *testing.T, matrices ...linear.Matrix) linear.Strategy {
	t.Helper()
	s, err := linear.NewStrategy(linear.Product(matrices))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dense is a random matrix.
func dense(t *testing.T, r *rand.Rand, rows, columns int) linear.Matrix {
	t.Helper()
	entries := make([][]int64, rows)
	for i := range entries {
		for range columns {
			entries[i] = append(entries[i], r.Int64N(9)-4)
		}
	}
	m, err := linear.Dense(entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// released returns the numbers that a part releases, without noise, for cells in the order of its keys.
func released(s linear.Strategy, cells []float64) (out []float64) {
	for _, p := range s.Products() {
		rows := [][]float64{{1}}
		for _, m := range p {
			var next [][]float64
			for _, a := range rows {
				for _, b := range m.Dense() {
					var row []float64
					for _, x := range a {
						for _, y := range b {
							row = append(row, x*float64(y))
						}
					}
					next = append(next, row)
				}
			}
			rows = next
		}
		for _, row := range rows {
			sum := 0.0
			for j, v := range row {
				sum += v * cells[j]
			}
			out = append(out, sum)
		}
	}
	return out
}

// Estimates from numbers without noise are the sums of the cells: for products of invertible matrices, and for the total
// with centred parts. The stated variance is that of the coefficients.
func TestSumsAreThoseOfTheCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))

	for name, parts := range map[string][]plan.LinearPart{
		"product":   {{Keys: []int{0, 1}, Strategy: strategy(t, dense(t, r, 12, sizeOf(t, 0)), dense(t, r, 4, sizeOf(t, 1)))}},
		"reordered": {{Keys: []int{1, 0}, Strategy: strategy(t, dense(t, r, 4, sizeOf(t, 1)), dense(t, r, 12, sizeOf(t, 0)))}},
		"residuals": {
			{Strategy: strategy(t, linear.Identity(1))},
			{Keys: []int{0}, Strategy: strategy(t, linear.Centred(sizeOf(t, 0)))},
			{Keys: []int{1}, Strategy: strategy(t, linear.Centred(sizeOf(t, 1)))},
			{Keys: []int{1, 0}, Strategy: strategy(t, linear.Centred(sizeOf(t, 1)), linear.Centred(sizeOf(t, 0))), Weight: 3},
		},
	} {
		l := histogram(t, parts...)
		m := span.New(l)
		if m == nil {
			t.Fatalf("%s: nothing is determined", name)
		}
		sizes := []int{len(l.Base.Keys[0].Values), len(l.Base.Keys[1].Values)}
		cells := make([]float64, sizes[0]*sizes[1]) // in the order of Base
		for i := range cells {
			cells[i] = float64(r.IntN(1000))
		}
		var numbers []float64
		for _, p := range l.Parts {
			numbers = append(numbers, released(p.Strategy, table(l, p.Keys, sizes, cells))...)
		}
		for _, keys := range [][]int{{0, 1}, {0}, {1}, {}} {
			of := tableOf(keys, sizes, cells)
			lists := [][]int{{}, {0}}
			for range 5 {
				var list []int
				for c := range of {
					if r.IntN(2) == 0 {
						list = append(list, c)
					}
				}
				lists = append(lists, list)
			}
			sums, ok := m.Sums(keys, lists)
			if !ok {
				if name == "residuals" && len(keys) == 0 {
					continue
				}
				t.Fatalf("%s: the table over %v is not determined", name, keys)
			}
			for i, list := range lists {
				want, got, variance := 0.0, 0.0, 0.0
				for _, c := range list {
					want += of[c]
				}
				for _, term := range sums[i].Terms {
					got += term.Weight * numbers[term.Number]
					variance += term.Weight * term.Weight * noiseOf(t, l, term.Number)
				}
				if math.Abs(got-want) > 1e-6 {
					t.Errorf("%s, %v: cells %v add up to %v, not %v", name, keys, list, got, want)
				}
				if v := sums[i].Error.Variance(); math.Abs(v-variance) > 1e-6*variance {
					t.Errorf("%s, %v: the variance is %v, not %v", name, keys, v, variance)
				}
			}
		}
	}
}

// Matrices that do not determine a cell give no estimate of it: those of low rank, and columns of zeros.
func TestUndeterminedCells(t *testing.T) {
	n := sizeOf(t, 0)
	total := strategy(t, linear.Total(n))
	if m := span.New(histogram(t, plan.LinearPart{Keys: []int{0}, Strategy: total})); m != nil {
		t.Error("a total determines its cells")
	}
	runs := make([][]linear.Run, n-1)
	for i := range runs {
		runs[i] = []linear.Run{{From: i, To: i + 1, Value: 3}}
	}
	most, err := linear.NewMatrix(n, runs)
	if err != nil {
		t.Fatal(err)
	}
	l := histogram(t, plan.LinearPart{Keys: []int{0}, Strategy: strategy(t, most)})
	m := span.New(l)
	if m == nil {
		t.Fatal("nothing is determined")
	}
	k, b := l.Grouped[0], l.Grouped[1]
	if s, ok := m.Sums([]int{k}, [][]int{{0, n - 2}}); !ok || len(s[0].Terms) != 2 || math.Abs(s[0].Terms[0].Weight-1.0/3) > 1e-12 {
		t.Errorf("two cells: %v, %t", s, ok)
	}
	for _, c := range []struct {
		keys  []int
		cells [][]int
	}{{[]int{k}, [][]int{{0}, {n - 1}}}, {nil, [][]int{{0}}}, {[]int{b}, [][]int{{0}}}, {[]int{0, 1}, [][]int{{0}}}} {
		if s, ok := m.Sums(c.keys, c.cells); ok {
			t.Errorf("%v of %v: %v", c.cells, c.keys, s)
		}
	}
}

func sizeOf(t *testing.T, key int) int {
	t.Helper()
	p, err := policy.Decode(enginetest.PolicyText("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	l, err := plan.BuildHistogram(p, plan.Request{SQL: "SELECT COUNT(*) FROM t GROUP BY k, b"})
	if err != nil {
		t.Fatal(err)
	}
	return len(l.KeyValues()[key])
}

func noiseOf(t *testing.T, l *plan.Linear, number int) float64 {
	t.Helper()
	for _, p := range l.Parts {
		if number < p.Strategy.Rows() {
			d, err := p.Answers.Noise.Distribution(p.Answers.Parameter)
			if err != nil {
				t.Fatal(err)
			}
			return d.Variance()
		}
		number -= p.Strategy.Rows()
	}
	t.Fatal("no such number")
	return 0
}

// table returns the cells over some GROUP BY expressions, in their order.
func table(l *plan.Linear, keys, sizes []int, cells []float64) []float64 {
	var base []int
	for _, k := range keys {
		base = append(base, l.Grouped[k])
	}
	return tableOf(base, sizes, cells)
}

// tableOf returns the cells over some keys of Base, in their order.
func tableOf(keys, sizes []int, cells []float64) []float64 {
	n := 1
	for _, k := range keys {
		n *= sizes[k]
	}
	out := make([]float64, n)
	for i, v := range cells {
		at := []int{i / sizes[1], i % sizes[1]}
		to := 0
		for _, k := range keys {
			to = to*sizes[k] + at[k]
		}
		out[to] += v
	}
	return out
}
