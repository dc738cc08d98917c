package duckdb

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// Whatever goes together with a relation looks at what the reference looks at, over random questions and hostile rows:
// sums with distinct counts and bounds per group, rows in order, in cells and for bounds that are found, values of a
// mode, groups that there are, and those that are chosen with Other; and all of it is rehearsed.
func TestRelationsMeetReference(t *testing.T) {
	stattest.ShortCases(t, 25)
	seen := map[string]int{}
	// relations of hostile rows are often empty
	few := func() bool { return min(seen["open"], seen["ordered"], seen["sums"]) < 20 }
	for round := 0; round < 2 || round < 60 && few() && !t.Failed(); round++ {
		byGroups := round%2 == 1
		b := newBench(t)
		b.page = 3
		var err error
		if b.policy, err = policy.Decode(enginetest.OpenedRelations("add-remove", byGroups), b.dir); err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			request, _ := enginetest.Meeting(t)
			p, err := plan.Build(b.policy, request)
			if err != nil || p.Source == nil {
				return
			}
			tables, from := b.writeAll(t, p.Tables(), 10)
			m := met{bench: b, sql: request.SQL, tables: tables, from: from}
			p = enginetest.FoundRows(t, p)
			looks := p.Looks()
			if p.Rows != nil {
				looks = append(looks, &p.Rows.Look)
				seen["rows"]++
			}
			for _, s := range p.Searches {
				looks = append(looks, &s.Look)
			}
			for _, look := range looks {
				if err := b.Rehearse(context.Background(), look, engine.Sealed{}); err != nil {
					t.Fatalf("%s: rehearsal: %v", request.SQL, err)
				}
				switch {
				case look.Open():
					seen["open"] += m.groups(t, p)
				case look.Ordered:
					seen["ordered"] += m.ordered(t, look)
				default:
					seen["sums"] += m.sums(t, look)
				}
			}
		})
	}
	for _, kind := range []string{"open", "ordered", "sums", "rows"} {
		if seen[kind] < 10 {
			t.Errorf("%d of %s: the test shows nothing", seen[kind], kind)
		}
	}
}

// met is a question's tables.
type met struct {
	bench  *bench
	sql    string
	tables enginetest.Tables
	from   engine.Sealed
}

func (m met) sums(t *rapid.T, b *bounded.Statement) int {
	sql, err := statement(b, m.from.For(b))
	if err != nil {
		t.Fatal(err)
	}
	got, reference := map[string]*big.Int{}, map[string]*big.Int{}
	err = m.bench.run(context.Background(), sql, collect(b, gather(got)))
	enginetest.SumOf(b, m.tables, gather(reference))
	if got, want := nonZero(got), nonZero(reference); err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\n%s\n%v\ngot  %v\nwant %v\n%v", m.sql, sql, m.tables, got, want, err)
	}
	return len(nonZero(reference))
}

func (m met) ordered(t *rapid.T, b *bounded.Statement) int {
	want := map[string]int64{}
	enginetest.OrderCellsOf(b, m.tables, func(keys []value.Value, v int64) {
		if cell := engine.CellOf(b, keys); cell >= 0 {
			want[fmt.Sprint(cell, " ", v)]++
		}
	})
	scan, err := m.bench.scanCells(context.Background(), b, m.from)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	if err := scan(func(cell int, v, n int64) bool { got[fmt.Sprint(cell, " ", v)] += n; return true }); err != nil ||
		!maps.Equal(got, want) {
		t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", m.sql, m.tables, got, want, err)
	}
	return len(want)
}

func (m met) groups(t *rapid.T, p *plan.Plan) int {
	there := *engine.Unchosen(&p.Statement)
	want, names := map[string]string{}, []string{}
	for name, sums := range enginetest.GroupsOf(&there, m.tables) {
		want[name], names = fmt.Sprint(sums), append(names, name)
	}
	slices.Sort(names)
	sql, err := statement(there.Counting(), m.from)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.bench.rowsOf(sql, there.Counting())
	maps.DeleteFunc(got, func(_, sums string) bool { return sums == "[0]" || strings.HasSuffix(sums, " 0]") })
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\n%s\n%v\ngot  %v\nwant %v\n%v", m.sql, sql, m.tables, got, want, err)
	}
	found, err := m.bench.Groups(context.Background(), &p.Statement, m.from)
	if err != nil || len(found.Units()) != len(want) {
		t.Fatalf("%s: %d groups, want %d: %v", m.sql, len(found.Units()), len(want), err)
	}
	if !p.Other {
		return len(want)
	}
	kept := slices.DeleteFunc(names, func(string) bool { return rapid.Bool().Draw(t, "left") })
	chosen, _, err := found.Chosen(kept)
	if err != nil {
		t.Fatal(err)
	}
	bounded.SortGroups(chosen)
	return len(want) + m.sums(t, &p.Choose(chosen).Statement)
}
