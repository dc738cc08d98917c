package duckdb

import (
	"context"
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
)

// Every construct that there is: all that random questions look at is what the reference looks at, over hostile rows,
// and is rehearsed. With DITHER_LONG=1 none is left out; else some may be, by chance, among the few questions that are
// asked.
func TestAnythingAgreesWithReference(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	looked := enginetest.Met{}
	b := newBench(t)
	b.page = 3
	ask := func(t *rapid.T) {
		w := rapid.SampledFrom(worlds).Draw(t, "world")
		request, _, _ := w.Anything(t)
		p, err := plan.Build(w.Policy, request)
		if err != nil {
			return
		}
		p = enginetest.FoundRows(t, p)
		b.policy = w.Policy
		tables, from := b.writeAll(t, p.Tables(), 10)
		m := met{bench: b, sql: request.SQL, tables: tables, from: from}
		looks, n := p.Looks(), 0
		if p.Rows != nil { // the numbers of rows, of which the bound is found
			looks = append(looks, &p.Rows.Look)
		}
		for _, s := range p.Searches {
			looks = append(looks, &s.Look)
		}
		if p.Open() && len(looks) == 0 {
			looks = append(looks, &p.Statement)
		}
		for _, look := range looks {
			if rapid.IntRange(1, 4).Draw(t, "rehearse") == 1 {
				if err := b.Rehearse(context.Background(), look, engine.Sealed{}); err != nil {
					t.Fatalf("%s: rehearsal: %v", request.SQL, err)
				}
			}
			switch {
			case look.Open():
				n += m.groups(t, p)
			case look.Ordered:
				n += m.ordered(t, look)
			default:
				n += m.sums(t, look)
			}
		}
		if n > 0 {
			looked.Add(p, request.SQL)
		}
	}
	if os.Getenv("DITHER_LONG") == "" {
		rapid.Check(t, ask)
		if len(looked) < 50 {
			t.Errorf("only %d constructs were met: %v", len(looked), looked)
		}
		return
	}
	stattest.Cases(t, 500)
	for round := 0; (round < 2 || round < 60 && looked.Lacking(2, "EXP") != "") && !t.Failed(); round++ {
		rapid.Check(t, ask)
	}
	t.Log(looked)
	if name := looked.Lacking(2, "EXP"); name != "" {
		t.Errorf("%s was met %d times", name, looked[name])
	}
}
