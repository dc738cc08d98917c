package table_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/strategy/table"
)

// TestSVDBound compares the bound with the singular values of the dense workload, and with the errors of divisions of the
// price.
func TestSVDBound(t *testing.T) {
	s := &table.Space{Hierarchy: places(t, 1, 3, 2), Classes: table.Flat(2, 3)}
	boundedBelow(t, s, []table.Goal{
		{Margin: table.Margin{Level: 0, Keys: 3}, Weight: 1},
		{Margin: table.Margin{Level: 1, Keys: 2}, Weight: 3},
		{Margin: table.Margin{Level: 2, Keys: 1}, Weight: 1},
		{Margin: table.Margin{Level: 1}, Weight: 2},
	})
	s = classed(t)
	boundedBelow(t, s, []table.Goal{
		{Margin: table.Margin{Level: 0, Keys: s.Key(0, 0) | s.Key(1, 1)}, Weight: 1},
		{Margin: table.Margin{Level: 1, Keys: s.Key(1, 0)}, Weight: 3},
		{Margin: table.Margin{Level: 2, Keys: s.Key(1, 2)}, Weight: 1},
		{Margin: table.Margin{Level: 1}, Weight: 2},
	})
}

func boundedBelow(t *testing.T, s *table.Space, goals []table.Goal) {
	t.Helper()
	const variance = 2.5
	n := s.Cells(table.Margin{Keys: whole(s)})
	gram := mat.NewSymDense(n, nil)
	for _, g := range goals {
		a := matrix(s, g.Margin)
		var square mat.SymDense
		square.SymOuterK(g.Weight/7/float64(s.Cells(g.Margin)), a.T())
		gram.AddSym(gram, &square)
	}
	var e mat.EigenSym
	if !e.Factorize(gram, false) {
		t.Fatal("no eigenvalues")
	}
	sum := 0.0
	for _, x := range e.Values(nil) {
		sum += math.Sqrt(math.Max(0, x))
	}
	want, got := math.Sqrt(variance/float64(n))*sum, table.SVDBound(s, goals, variance)
	if math.Abs(got/want-1) > 1e-6 {
		t.Errorf("the bound is %g, not %g", got, want)
	}
	var options []table.Option
	for l := range 3 {
		for _, keys := range everything(s) {
			options = append(options, table.Option{Margin: table.Margin{Level: l, Keys: keys}, Cost: variance})
		}
	}
	for _, p := range []table.Power{table.UnderRho, table.UnderEpsilon} {
		c, err := table.Choose(s, goals, options, p)
		if err != nil {
			t.Fatal(err)
		}
		best := c.Candidates[c.Chosen].Error
		t.Logf("power %d: the best division has the error %.4f, the bound over divisions is %.4f, over all measurements %.4f",
			p, best, c.Bound, got)
		if best < got {
			t.Errorf("the error %g is below the bound %g", best, got)
		}
	}
}
