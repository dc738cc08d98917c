package model

import (
	"math"
	"slices"
	"testing"

	"dither/internal/splitmix"
)

// someModel returns a model after a few steps, in which every cell has rows, and its joint table.
func someModel(t *testing.T, r *splitmix.Stream) (*Model, *joint) {
	t.Helper()
	d := someDomain(r, 7, 4)
	measurements := someMeasurements(r, d, 500, 3, someSets(r, len(d.sizes), 1+r.Below(7), 3))
	m := fit(t, d, measurements, Options{Total: 500, Iterations: 15})
	return m, m.dense()
}

// Every marginal, within a clique or across several, is that of the joint table.
func TestMarginalsAreThoseOfTheJointTable(t *testing.T) {
	r := splitmix.At(9)
	for range 150 {
		m, want := someModel(t, &r)
		sets := someSets(&r, len(m.domain.sizes), 12, 5)
		together, err := m.Marginals(sets)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range sets {
			got, err := m.Marginal(s...)
			if err != nil || !slices.Equal(got, together[i]) {
				t.Fatalf("the marginal of %v alone is %v, and with others %v (%v)", s, got, together[i], err)
			}
			if off := furthest(t, got, want.marginal(s...)); off > 1e-9 {
				t.Fatalf("%v, cliques %v: the marginal of %v is off by %v", m.domain.sizes, m.Cliques(), s, off)
			}
		}
	}
}

// Entropy and the probabilities of rows are those of the joint table.
func TestEntropyIsThatOfTheJointTable(t *testing.T) {
	r := splitmix.At(10)
	for range 50 {
		m, want := someModel(t, &r)
		entropy := 0.0
		for i, v := range want.values {
			p := v / m.total
			if p > 0 {
				entropy -= p * math.Log(p)
			}
			codes := make([]int32, len(m.domain.sizes))
			for a, c := range want.codes(i) {
				codes[a] = int32(c)
			}
			got, err := m.LogProbability(codes)
			if err != nil || math.Abs(math.Exp(got)-p) > 1e-9 {
				t.Fatalf("the row %v has the logarithm %v (%v) instead of %v", codes, got, err, math.Log(p))
			}
		}
		if got := m.Entropy(); math.Abs(got-entropy) > 1e-9 {
			t.Fatalf("the entropy is %v instead of %v", got, entropy)
		}
	}
}

// A separator's cell may have fewer rows than any number whose inverse is finite. Marginals across it stay numbers.
func TestMarginalsAcrossNearlyEmptyCells(t *testing.T) {
	d, err := NewDomain(2, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	values := []float64{30, 20, 30, 20}
	m := fit(t, d, []Measurement{
		{Attributes: []int{0, 1}, Values: values, Variance: 1}, {Attributes: []int{1, 2}, Values: values, Variance: 1},
	}, Options{Total: 100, Iterations: 1})
	for lowered := 600.0; lowered < 800; lowered++ {
		for _, f := range m.factors {
			for i := range f.potential {
				if f.potential[i] = 0; f.set == m.factors[0].set && i%2 == 1 { // the second value of attribute 1
					f.potential[i] = -lowered
				}
			}
			f.changed = true
		}
		m.tree.propagate(m.factors, m.total)
		got, err := m.Marginal(0, 2)
		if err != nil || furthest(t, got, []float64{25, 25, 25, 25}) > 1e-9 {
			t.Fatalf("lowered by %v: %v, %v", lowered, got, err)
		}
	}
}
