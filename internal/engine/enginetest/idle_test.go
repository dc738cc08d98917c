package enginetest

import (
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// No row's value is beyond its measure's bounds before it is clamped to them, nor any vector too long once it is
// scaled, whatever the question and the rows are: bounds that a question gives, that a search finds, or that ranges
// prove stand in the expression itself. So the clamps of statements to a measure's bounds are second belts, and what
// they leave is what they were given.
func TestClampsAreIdle(t *testing.T) {
	worlds, err := Worlds()
	if err != nil {
		t.Fatal(err)
	}
	for i := range worlds {
		worlds[i].Inexact = true
	}
	met, ends := map[string]int{}, 0
	ask := func(t *rapid.T) {
		w := rapid.SampledFrom(worlds).Draw(t, "world")
		g := generator{t}
		var looks []*bounded.Statement
		if g.chance(3) {
			q, _ := w.drawn(t, "vectors")
			m, err := plan.BuildMoments(w.Policy, q.Request, q.vectors)
			if err != nil {
				return
			}
			looks = append(looks, &m.Statement)
		} else {
			request, _, _ := w.Anything(t)
			p, err := plan.Build(w.Policy, request)
			if err != nil {
				return
			}
			for _, s := range p.Searches {
				looks = append(looks, &s.Look)
			}
			twins := Twins{Plan: p, Pick: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "found") }}
			if p, err = twins.found(p); err != nil {
				t.Fatal(err)
			}
			looks = append(looks, p.Looks()...)
		}
		tables := Tables{}
		for _, table := range w.Policy.Tables {
			tables[table.Name] = Rows(t, table, 6)
		}
		for _, b := range looks {
			eachRow(b, tables, func(p piece) {
				var x []int64
				for i, v := range p.values {
					m := b.Measures[i]
					if v == nil || m.Kind == bounded.CountDistinct {
						continue
					}
					if *v < m.Lo || *v > m.Hi {
						t.Fatalf("%s is %d of a row", m, *v)
					}
					met[string(m.Kind)]++
					if *v == m.Lo || *v == m.Hi {
						ends++
					}
					x = append(x, *v)
				}
				if b.RowVectors == nil {
					return
				}
				for _, k := range b.RowVectors.Blocks {
					if !scale(k, x[k.First:k.First+k.Size]) {
						t.Fatalf("a vector is longer than %d: %v", k.Most, x)
					}
				}
				met["vectors"]++
			})
		}
	}
	for range 20 {
		rapid.Check(t, ask)
	}
	t.Logf("%v; %d at an end", met, ends)
	if met[string(bounded.Sum)] < 500 || met["vectors"] < 100 || ends < 500 {
		t.Error("the test shows nothing")
	}
}

// eachRow evaluates the rows of a look, before anything is bounded.
func eachRow(b *bounded.Statement, tables Tables, each func(piece)) {
	if b.Source != nil {
		for _, r := range rowsOf(b.Source, tables) {
			if p, ok := evaluateRow(b, r.unit, r.row); ok {
				each(p)
			}
		}
		return
	}
	for _, r := range owned(b, Ranked(tables[b.Table], unitName(b))) {
		if p, ok := evaluate(b, r); ok {
			each(p)
		}
	}
}

func unitName(b *bounded.Statement) string {
	if b.Unit == nil {
		return ""
	}
	return b.Unit.Name
}
