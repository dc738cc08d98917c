package postgres

import (
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// Every construct of single tables: all that random questions look at is what the reference looks at, over hostile rows, of tables that are read where
// they are and of copies. With DITHER_LONG=1 none is left out; else some may be, by chance, among the few questions that are asked.
func TestAnythingAgreesWithReference(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	var tables []enginetest.World
	for _, w := range worlds {
		if !w.Relation {
			tables = append(tables, w)
		}
	}
	looked := enginetest.Met{}
	b := newBench(t, enginetest.PolicyText("add-remove"))
	ask := func(t *rapid.T) {
		w := rapid.SampledFrom(tables).Draw(t, "world")
		b.policy = w.Policy
		request, table, _ := w.Anything(t)
		p, err := plan.Build(w.Policy, request)
		if err != nil || p.Source != nil {
			return
		}
		b.engine(table).page = 3 // so that passes turn pages
		rows := enginetest.Rows(t, b.policy.Table(table), 12)
		b.write(t, table, rows)
		m := met{bench: b, sql: request.SQL, rows: rows}
		if rapid.IntRange(0, 3).Draw(t, "copy") == 0 || p.Part != nil {
			m.from = b.copied(t, table, &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
			if p.Unit != nil {
				m.rows = b.ranks(t, rows)
			}
		}
		looks := p.Looks()
		for _, s := range p.Searches {
			looks = append(looks, &s.Look)
		}
		if p.Open() && len(looks) == 0 {
			looks = append(looks, &p.Bounded)
		}
		for _, look := range looks {
			m.look(t, p, look, map[string]int{})
		}
		looked.Add(p, request.SQL)
	}
	if os.Getenv("DITHER_LONG") == "" {
		rapid.Check(t, ask)
		if len(looked) < 50 {
			t.Errorf("only %d constructs were met: %v", len(looked), looked)
		}
		return
	}
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	defer func() { _ = checks.Value.Set(before) }()
	_ = checks.Value.Set("500")
	but := enginetest.OfRelations("EXP")
	for round := 0; (round < 2 || round < 16 && looked.Lacking(2, but...) != "") && !t.Failed(); round++ {
		rapid.Check(t, ask)
	}
	t.Log(looked)
	if name := looked.Lacking(2, but...); name != "" {
		t.Errorf("%s was met %d times", name, looked[name])
	}
}
