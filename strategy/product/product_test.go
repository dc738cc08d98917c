package product

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"dither/strategy"
)

func of(t *testing.T, w strategy.Workload, err error) Factor {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return Of(w)
}

func prefixes(t *testing.T, n int) Factor { w, err := strategy.Prefixes(n); return of(t, w, err) }
func ranges(t *testing.T, n int) Factor   { w, err := strategy.Ranges(n); return of(t, w, err) }

func choose(t *testing.T, unit strategy.Unit, terms ...Term) *Choice {
	t.Helper()
	w, err := NewWorkload(terms...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Choose(w, unit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// allRows returns the coefficients of a term's questions over all cells, each with its weight.
func allRows(t Term) (out [][]float64, weights []float64) {
	out, weights = [][]float64{{1}}, []float64{1}
	if t.Weight != 0 {
		weights[0] = t.Weight
	}
	for _, f := range t.Factors {
		w, err := f.workload()
		if err != nil {
			panic(err)
		}
		var next [][]float64
		var nextWeights []float64
		for i, left := range out {
			for q, weight := range w.Weights() {
				var row []float64
				for _, a := range left {
					for _, b := range q.Coefficients(f.cells) {
						row = append(row, a*b)
					}
				}
				next, nextWeights = append(next, row), append(nextWeights, weights[i]*weight)
			}
		}
		out, weights = next, nextWeights
	}
	return out, weights
}

// For a price in ρ, a product of workloads has the product of the optima's errors and of their bounds, and the published
// errors of its factors.
func TestProductsOfWorkloadsAreOptimal(t *testing.T) {
	c := choose(t, strategy.Rho, Term{Factors: []Factor{prefixes(t, 256), ranges(t, 12)}})
	want := 1.0
	for _, f := range []Factor{prefixes(t, 256), ranges(t, 12)} {
		s, _, err := strategy.Optimal(f.of)
		if err != nil {
			t.Fatal(err)
		}
		want *= s.RMSE
	}
	if c.Chosen.Name != "product" || math.Abs(c.Chosen.RMSE/want-1) > 1e-6 || c.Bound < want*(1-1e-5) {
		t.Errorf("%s has %v, bound %v, want %v", c.Chosen.Name, c.Chosen.RMSE, c.Bound, want)
	}
}

// unions are workloads of all kinds of factors, small enough to compute with all their cells.
// twoOf has two of four cells.
func twoOf(t *testing.T) strategy.Workload {
	t.Helper()
	w, err := strategy.Intervals(4, [][2]int{{1, 2}, {0, 3}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func unions(t *testing.T) map[string][]Term {
	levels, err := strategy.Levels([][]string{{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "y"}, {"e", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := strategy.Explicit([][]float64{{1, 0, 1, 0, 1}, {0, 1, 1, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]Term{
		"two columns": {
			{Factors: []Factor{prefixes(t, 6), Total(5)}, Weight: 3}, {Factors: []Factor{Total(6), ranges(t, 5)}},
		},
		"marginals": {
			{Factors: []Factor{Values(2), Values(3), Total(4)}},
			{Factors: []Factor{Values(2), Total(3), Values(4)}},
			{Factors: []Factor{Total(2), Values(3), Values(4)}},
		},
		"levels": {
			{Factors: []Factor{Of(levels), Values(3)}},
			{Factors: []Factor{Of(sets), Total(3)}, Weight: 2},
			{Factors: []Factor{Total(5), Total(3)}},
		},
		"shared matrices": { // columns with the same questions, of which one has further ones
			{Factors: []Factor{prefixes(t, 4), Total(4)}},
			{Factors: []Factor{Total(4), prefixes(t, 4)}, Weight: 2},
			{Factors: []Factor{Of(twoOf(t)), Values(4)}},
		},
		"asymmetric": {{Factors: []Factor{ranges(t, 4), Values(4)}, Weight: 2}, {Factors: []Factor{Total(4), prefixes(t, 4)}, Weight: 2}},
		"one term":   {{Factors: []Factor{Of(sets), prefixes(t, 4), Values(2)}}},
	}
}

// matrix returns a part's matrix, and the variance of its noise at its share of the price.
func (p *Plan) dense(t *testing.T, i int) (*mat.Dense, float64) {
	t.Helper()
	m := mat.NewDense(1, 1, []float64{1})
	for _, of := range p.parts[i].pieces {
		f, err := of.matrix()
		if err != nil {
			t.Fatal(err)
		}
		d := f.Dense()
		flat := mat.NewDense(len(d), len(d[0]), nil)
		for r, row := range d {
			for c, v := range row {
				flat.Set(r, c, float64(v))
			}
		}
		var next mat.Dense
		next.Kronecker(m, flat)
		m = mat.DenseCopyOf(&next)
	}
	r, c := m.Dims()
	most := 0.0
	for j := range c {
		sum := 0.0
		for k := range r {
			if v := math.Abs(m.At(k, j)); p.Unit == strategy.Epsilon {
				sum += v
			} else {
				sum += v * v
			}
		}
		if p.Unit == strategy.Epsilon {
			sum *= sum
		}
		most = max(most, sum)
	}
	return m, most * p.factor(i)
}

// Every candidate estimates every question without bias, and the stated errors are those of its matrices, multiplied
// out.
func TestErrorsAreThoseOfTheMatrices(t *testing.T) {
	for name, terms := range unions(t) {
		for _, unit := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
			w, err := NewWorkload(terms...)
			if err != nil {
				t.Fatal(err)
			}
			b := newBuilder(w, unit)
			best, err := b.product()
			if err != nil {
				t.Fatal(err)
			}
			residuals, err := b.residuals(best.parts[0].pieces)
			if err != nil {
				t.Fatal(err)
			}
			separate, err := b.separate(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []*Plan{best, residuals, separate} {
				if p != nil {
					checkPlan(t, name, p)
				}
			}
		}
	}
}

func checkPlan(t *testing.T, name string, p *Plan) {
	t.Helper()
	sum, weights, most := 0.0, 0.0, 0.0
	for at, of := range p.workload.terms {
		one := Term{Weight: of.weight}
		for k, f := range of.of {
			one.Factors = append(one.Factors, p.workload.columns[k].factors[f])
		}
		all, weight := allRows(one)
		for q, row := range all {
			variance, got := 0.0, make([]float64, len(row))
			for _, i := range p.serves[at] {
				m, noise := p.dense(t, i)
				u := []float64{1}
				for k, piece := range p.parts[i].pieces {
					w, err := piece.weights(factorRow(one.Factors, all, q, k))
					if err != nil {
						t.Fatal(err)
					}
					var next []float64
					for _, a := range u {
						for _, b := range w {
							next = append(next, a*b)
						}
					}
					u = next
				}
				for r, a := range u {
					variance += a * a * noise
					for j := range got {
						got[j] += a * m.At(r, j)
					}
				}
			}
			for j, v := range row {
				if math.Abs(got[j]-v) > 1e-4 {
					t.Fatalf("%s, %s: question %d of term %d estimates %v, want %v", name, p.Name, q, at, got, row)
				}
			}
			sum, weights, most = sum+weight[q]*variance, weights+weight[q], max(most, variance)
		}
	}
	if math.Abs(p.RMSE/math.Sqrt(sum/weights)-1) > 1e-6 || math.Abs(p.Maximum/math.Sqrt(most)-1) > 1e-6 {
		t.Errorf("%s, %s: errors %v and %v, want %v and %v", name, p.Name, p.RMSE, p.Maximum, math.Sqrt(sum/weights), math.Sqrt(most))
	}
}

// factorRow returns the coefficients of the q-th question of a term about the column k.
func factorRow(factors []Factor, all [][]float64, q, k int) []float64 {
	left := len(all)
	for i, f := range factors {
		w, err := f.workload()
		if err != nil {
			panic(err)
		}
		left /= w.Queries()
		at := q / left
		q %= left
		if i < k {
			continue
		}
		for query := range w.All() {
			if at == 0 {
				return query.Coefficients(f.cells)
			}
			at--
		}
	}
	return nil
}

// The bound is at most the optimum over all strategies, which a workload of all cells has, and not far below it.
func TestBoundIsBelowTheOptimum(t *testing.T) {
	for name, terms := range unions(t) {
		var all [][]float64
		for _, term := range terms {
			own, weights := allRows(term)
			for q, row := range own {
				for j := range row {
					row[j] *= math.Sqrt(weights[q])
				}
			}
			all = append(all, own...)
		}
		dense, err := strategy.Explicit(all)
		if err != nil {
			t.Fatal(err)
		}
		_, bound, err := strategy.Optimal(dense)
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWorkload(terms...)
		if err != nil {
			t.Fatal(err)
		}
		bound *= math.Sqrt(dense.Weight() / w.weight)
		c := choose(t, strategy.Rho, terms...)
		t.Logf("%s: %s %.4f, bound %.4f, optimum %.4f", name, c.Chosen.Name, c.Chosen.RMSE, c.Bound, bound)
		if c.Bound > bound*(1+1e-6) || c.Bound < 0.9*bound {
			t.Errorf("%s: bound %v, and the optimum has %v", name, c.Bound, bound)
		}
		if c.Chosen.RMSE < bound*(1-1e-6) {
			t.Errorf("%s: %v is below the bound %v of every strategy", name, c.Chosen.RMSE, bound)
		}
	}
}

// A workload over 10⁹ cells is planned in seconds.
func TestManyCells(t *testing.T) {
	begin := time.Now()
	paths := make([][]string, 100)
	for i := range paths {
		paths[i] = []string{string(rune('A' + i)), string(rune('a' + i/10)), "all"}
	}
	levels, err := strategy.Levels(paths)
	if err != nil {
		t.Fatal(err)
	}
	terms := []Term{
		{Factors: []Factor{prefixes(t, 1000), Values(10000), Total(100)}},
		{Factors: []Factor{prefixes(t, 1000), Total(10000), Of(levels)}, Weight: 10},
		{Factors: []Factor{prefixes(t, 1000), Total(10000), Total(100)}, Weight: 10},
	}
	c := choose(t, strategy.Rho, terms...)
	for _, k := range c.Candidates {
		t.Logf("%s: %v", k.Name, k.Expected)
	}
	t.Logf("%v cells: %s, bound %v, in %v", c.Chosen.workload.Cells(), c.Chosen.Name, c.Bound, time.Since(begin))
	if c.Chosen.workload.Cells() != 1e9 || c.Chosen.RMSE > 1.1*c.Bound {
		t.Errorf("%s has %v, and the bound is %v", c.Chosen.Name, c.Chosen.RMSE, c.Bound)
	}
}

// Workloads that exceed a limit, or whose terms are about other columns, are refused.
func TestWorkloadsRefuse(t *testing.T) {
	wide := make([]Factor, MaxColumns+1)
	for i := range wide {
		wide[i] = Total(2)
	}
	long, err := strategy.Windows(MaxOrdered+1, 7)
	if err != nil {
		t.Fatal(err)
	}
	for name, terms := range map[string][]Term{
		"no term":        {},
		"no column":      {{}},
		"too wide":       {{Factors: wide}},
		"other columns":  {{Factors: []Factor{Total(2)}}, {Factors: []Factor{Total(2), Total(3)}}},
		"other sizes":    {{Factors: []Factor{Total(2)}}, {Factors: []Factor{Total(3)}}},
		"too many cells": {{Factors: []Factor{Of(long)}}},
		"too many":       {{Factors: []Factor{Values(MaxValues + 1)}}},
		"no weight":      {{Factors: []Factor{Total(2)}, Weight: math.NaN()}},
	} {
		if _, err := NewWorkload(terms...); !errors.Is(err, ErrWorkload) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A recorded plan is restored with the same integers and errors, and its estimates have no bias. Damaged records are
// refused.
func TestRecordsAreRestored(t *testing.T) {
	for name, terms := range unions(t) {
		for _, unit := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
			w, err := NewWorkload(terms...)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Choose(w, unit)
			if err != nil {
				t.Fatal(err)
			}
			data, err := c.Measurable.Record()
			if err != nil {
				t.Fatal(err)
			}
			p, err := Restore(w, unit, data)
			if err != nil {
				t.Fatal(name, err)
			}
			again, err := p.Record()
			if err != nil || !bytes.Equal(again, data) || math.Abs(p.RMSE/c.Measurable.RMSE-1) > 1e-9 {
				t.Errorf("%s: %v, want %v, %v", name, p.RMSE, c.Measurable.RMSE, err)
			}
			checkPlan(t, name, p)
			for i := range terms { // a plan that leaves out what a term needs is biased
				if served := c.Measurable.serves[w.of[i]]; len(c.Measurable.parts) > 1 {
					wrong := *c.Measurable
					wrong.serves = slices.Clone(wrong.serves)
					wrong.serves[w.of[i]] = served[1:]
					if data, err := wrong.Record(); err != nil {
						t.Fatal(err)
					} else if _, err := Restore(w, unit, data); err == nil {
						t.Errorf("%s: a plan that serves term %d with parts %v is restored", name, i, served[1:])
					}
				}
			}
			for _, damaged := range [][]byte{nil, []byte("{}"), data[:len(data)/2], bytes.ReplaceAll(data, []byte(`"cells":`), []byte(`"cells":9`))} {
				if _, err := Restore(w, unit, damaged); err == nil {
					t.Errorf("%s: %.60s is restored", name, damaged)
				}
			}
		}
	}
}

// A record of other computers or hands gives a plan or an error.
func FuzzRestore(f *testing.F) {
	terms := []Term{{Factors: []Factor{Values(3), Total(2)}}, {Factors: []Factor{Total(3), Values(2)}}}
	w, err := NewWorkload(terms...)
	if err != nil {
		f.Fatal(err)
	}
	c, err := Choose(w, strategy.Rho)
	if err != nil {
		f.Fatal(err)
	}
	data, err := c.Chosen.Record()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"name":"x","pieces":[{"kind":"matrix","cells":3,"first":[0],"rows":[[1,1,1]]},{"kind":"mean","cells":2}],` +
		`"parts":[{"weight":1,"pieces":[0,1]}],"serves":[[0],[]]}`))
	for _, matrix := range []string{ // a place and an entry that are too large
		`"first":[0,1,9223372036854775807],"rows":[[1],[1],[1]]`, `"first":[0,1,2],"rows":[[9223372036854775807],[1],[1]]`,
	} {
		f.Add([]byte(`{"name":"x","pieces":[{"kind":"matrix","cells":3,` + matrix + `},{"kind":"mean","cells":2}],` +
			`"parts":[{"weight":1,"pieces":[0,1]}],"serves":[[0],[0]]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Restore(w, strategy.Rho, data)
		if err != nil {
			return
		}
		if _, err := p.Parts(); err != nil {
			t.Error(err)
		}
	})
}

// TestSeparateIsBounded: the terms are measured one by one only if their optimisation takes seconds.
func TestSeparateIsBounded(t *testing.T) {
	for terms, wanted := range map[int]bool{5: true, 30: false} {
		var all []Term
		for i := range terms {
			w, err := strategy.Windows(110, 2+i)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Term{Factors: []Factor{Of(w), Of(w)}})
		}
		w, err := NewWorkload(all...)
		if err != nil {
			t.Fatal(err)
		}
		b := newBuilder(w, strategy.Epsilon)
		if got := b.separateWork() <= mostSeparateWork; got != wanted {
			t.Errorf("%d terms: %t", terms, got)
		}
	}
}
