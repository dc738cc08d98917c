package reuse_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
)

// Two expressions of generated questions are the same tree if, and only if, they have one canonical text: so what follows from a
// release is what its marks promise. Likewise their measures.
func TestSameIsOneText(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	same, different := 0, 0
	tell := func(t *rapid.T, is, text bool, x, y any) {
		if is != text {
			t.Fatalf("%v and %v: the same %t", x, y, is)
		}
		if is {
			same++
		} else {
			different++
		}
	}
	for _, w := range worlds {
		var before []*bounded.Expr // of the question before
		var measured []*bounded.Measure
		rapid.Check(t, func(t *rapid.T) {
			r, _, _ := w.Anything(t)
			p, err := plan.Build(w.Policy, r)
			if err != nil {
				return
			}
			var all []*bounded.Expr
			add := func(e *bounded.Expr) {
				if e != nil {
					e.Walk(func(x *bounded.Expr) { all = append(all, x) })
				}
			}
			add(p.Where)
			for _, k := range p.Keys {
				add(k.Expr)
			}
			for _, m := range p.Statement.Measures {
				add(m.X)
			}
			all = all[:min(len(all), 40)]
			for _, x := range all {
				for _, y := range slices.Concat(all, before) {
					tell(t, x.Same(y), x.String() == y.String(), x, y)
				}
			}
			for _, x := range p.Statement.Measures {
				for _, y := range slices.Concat(p.Statement.Measures, measured) {
					tell(t, x.Same(y), x.String() == y.String(), x, y)
				}
			}
			if !w.Relation { // where columns are told apart by their places in a source, which is another in each question
				before, measured = all, p.Statement.Measures
			}
		})
	}
	if same < 1000 || different < 1000 {
		t.Errorf("%d the same, %d different: the test shows little", same, different)
	}
}
