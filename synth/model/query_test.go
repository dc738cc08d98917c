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
