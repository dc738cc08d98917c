package postgres

import (
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// Every construct: all that random questions look at is what the reference looks at, over hostile rows, of tables that
// are read where they are and of copies. With DITHER_LONG=1 none is left out; else some may be, by chance, among the
// few questions that are asked.
func TestAnythingAgreesWithReference(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	var tables, relations []enginetest.World
	for _, w := range worlds {
		if w.Relation {
			relations = append(relations, w)
		} else {
			tables = append(tables, w)
		}
	}
	looked := enginetest.Met{}
	ask := func(of []enginetest.World) func() {
		b := newBench(t, of[0].Text)
		b.over().page = 3 // so that passes turn pages
		return func() {
			rapid.Check(t, func(t *rapid.T) { b.anything(t, rapid.SampledFrom(of).Draw(t, "world"), looked) })
		}
	}
	if os.Getenv("DITHER_LONG") == "" {
		ask(tables)()
		ask(relations)()
		if len(looked) < 60 {
			t.Errorf("only %d constructs were met: %v", len(looked), looked)
		}
		return
	}
	stattest.Cases(t, 500)
	of := [][]enginetest.World{tables, relations}
	for i, but := range [][]string{enginetest.OfRelations("EXP"), {"EXP"}} {
		again := ask(of[i])
		for round := 0; (round < 2 || round < 60 && looked.Lacking(2, but...) != "") && !t.Failed(); round++ {
			again()
		}
		if name := looked.Lacking(2, but...); name != "" {
			t.Errorf("%s was met %d times", name, looked[name])
		}
	}
	t.Log(looked)
}

// anything asks one question of a world, whose tables those of b are.
func (b *bench) anything(t *rapid.T, w enginetest.World, looked enginetest.Met) {
	b.policy = w.Policy
	request, table, _ := w.Anything(t)
	p, err := plan.Build(w.Policy, request)
	if err != nil {
		return
	}
	p = enginetest.FoundRows(t, p)
	switch {
	case p.Source != nil: // of several tables, or of a subquery
		if b.related(t, p, request.SQL, looksOf(p), map[string]int{}) == 0 {
			return
		}
	case w.Relation:
		return
	default:
		b.engine(table).page = 3
		rows := enginetest.Rows(t, b.policy.Table(table), 12)
		b.write(t, table, rows)
		m := met{bench: b, sql: request.SQL, rows: rows}
		if rapid.IntRange(0, 3).Draw(t, "copy") == 0 || p.Part != nil {
			m.from = b.copied(t, table, &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
			if p.Unit != nil {
				m.rows = b.ranks(t, rows)
			}
		}
		for _, look := range looksOf(p) {
			if look.Source != nil { // an estimate of what bounds cut
				related{b, request.SQL, enginetest.Tables{table: m.rows}, m.from.For(look)}.sums(t, look)
				continue
			}
			m.look(t, p, look, map[string]int{})
		}
	}
	looked.Add(p, request.SQL)
}

// looksOf are all that is looked at of rows for a plan.
func looksOf(p *plan.Plan) []*bounded.Statement {
	looks := p.Looks()
	if p.Rows != nil {
		looks = append(looks, &p.Rows.Look)
	}
	for _, s := range p.Searches {
		looks = append(looks, &s.Look)
	}
	if p.Open() && len(looks) == 0 {
		looks = append(looks, &p.Statement)
	}
	return looks
}
