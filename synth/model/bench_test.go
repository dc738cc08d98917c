package model

import (
	"testing"

	"dither/internal/splitmix"
)

// adult has the sizes of the census table of the published figures.
var adult = []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}

// megabyte returns measurements on Adult's domain that need a model of 1 MB: each attribute, and 40 random pairs and
// triples.
func megabyte(r *splitmix.Stream) (*Domain, []Measurement) {
	d, err := NewDomain(adult...)
	if err != nil {
		panic(err)
	}
	var sets, candidates [][]int
	for a := range adult {
		sets = append(sets, []int{a})
		for b := a + 1; b < len(adult); b++ {
			candidates = append(candidates, []int{a, b})
			for c := b + 1; c < len(adult); c++ {
				candidates = append(candidates, []int{a, b, c})
			}
		}
	}
	for len(sets) < len(adult)+40 {
		s := candidates[r.Below(len(candidates))]
		if size, err := Size(d, append(sets, s)); err == nil && size <= 1<<20 && d.Cells(s...) < 20_000 {
			sets = append(sets, s)
		}
	}
	var out []Measurement
	for _, s := range sets {
		values := make([]float64, int(d.Cells(s...)))
		for i := range values {
			values[i] = 48842/float64(len(values)) + 60*normal(r)
		}
		out = append(out, Measurement{Attributes: s, Values: values, Variance: 3600})
	}
	return d, out
}

// BenchmarkEvaluate measures one evaluation of the loss and its gradient in a model of 1 MB.
func BenchmarkEvaluate(b *testing.B) {
	r := splitmix.At(1)
	d, measurements := megabyte(&r)
	s, err := newSolver(d, measurements, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range s.model.factors {
			f.changed = true
		}
		s.evaluate()
	}
}

// BenchmarkSample measures a batch of a million rows of a model of 1 MB.
func BenchmarkSample(b *testing.B) {
	r := splitmix.At(1)
	d, measurements := megabyte(&r)
	m, err := Fit(d, measurements, Options{Iterations: 20})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := m.Sample(Batch, Rounded, &r, func([][]int32) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
