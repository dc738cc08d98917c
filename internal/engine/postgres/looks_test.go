package postgres

import (
	"context"
	"errors"
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

// isRefused makes sure that a look is refused in rehearsal, and by whatever would read rows.
func (b *bench) isRefused(t failer, look *bounded.Statement, from engine.Sealed) {
	t.Helper()
	e, ctx := b.engine(look.Table), context.Background()
	_, aggregate := e.Aggregate(ctx, look, from)
	_, groups := e.Groups(ctx, look, from)
	_, order := e.Order(ctx, look, from)
	_, cells := e.OrderCells(ctx, look, from)
	for what, err := range map[string]error{
		"rehearsal": e.Rehearse(ctx, look, from), "aggregate": aggregate,
		"groups": groups, "order": order, "cells": cells,
	} {
		if !errors.As(err, new(*engine.RefusedError)) {
			t.Fatal(what, "is not refused:", err)
		}
	}
}

// All that a question looks at is what the reference looks at, over random questions and hostile rows, of tables that
// are read where they are and of copies: sums with distinct counts and bounds per group, of the parts that a unit is
// in, rows in order for quantiles and for bounds that are found, in cells, values of a mode, groups that there are, and
// those that are chosen with Other. All of it is rehearsed. Parts of a table that is read where it is are refused.
func TestLooksAgreeWithReference(t *testing.T) {
	stattest.ShortCases(t, 50)
	seen := map[string]int{}
	lacking := func() string {
		for _, kind := range []string{
			"open", "ordered", "sums", "other", "distinct", "parts of copies", "refused",
			"copies", "cells in order", "capped in order", "rows of units",
		} {
			if seen[kind] < 3 {
				return kind
			}
		}
		return ""
	}
	policies := []func(string) []byte{enginetest.Opened, enginetest.OpenedByGroups}
	for round := 0; round < 2 || round < 60 && lacking() != ""; round++ { // a kind may be rare among so few questions
		b := newBench(t, policies[round%2]("add-remove"))
		rapid.Check(t, func(t *rapid.T) {
			table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
			b.engine(table).page = 3 // so that passes turn pages
			request := plan.Request{}
			switch rapid.SampledFrom([]string{"sums", "orders", "orders", "open", "open"}).Draw(t, "kind") {
			case "sums":
				request.SQL = enginetest.Question(t, table)
			case "orders":
				request.SQL = enginetest.Orders(t, table)
			case "open":
				request.SQL = enginetest.OpenQuestion(t, table)
				request.Unknown.Other = rapid.Bool().Draw(t, "other")
			}
			if table == "p" {
				request.MaxGroups = int64(rapid.IntRange(0, 4).Draw(t, "max groups"))
				request.AutoRows = rapid.IntRange(0, 2).Draw(t, "rows to find") == 0
			}
			p, err := plan.Build(b.policy, request)
			if err != nil {
				return
			}
			p = enginetest.FoundRows(t, p)
			rows := enginetest.Rows(t, b.policy.Table(table), 12)
			b.write(t, table, rows)
			m := met{bench: b, sql: request.SQL, rows: rows}
			if rapid.IntRange(0, 3).Draw(t, "copy") == 0 || p.Part != nil && rapid.Bool().Draw(t, "copied parts") {
				m.from = b.copied(t, table, &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
				if m.rows = rows; p.Unit != nil {
					m.rows = b.ranks(t, rows)
				}
			}
			looks := p.Looks()
			if p.Rows != nil {
				looks = append(looks, &p.Rows.Look)
				seen["rows of units"]++
			}
			for _, s := range p.Searches {
				looks = append(looks, &s.Look)
				seen["searches"]++
			}
			if p.Open() && len(p.Measures) == 0 {
				looks = append(looks, &p.Statement)
			}
			for _, look := range looks {
				m.look(t, p, look, seen)
			}
		})
		if t.Failed() {
			return
		}
	}
	if t.Log(seen); lacking() != "" {
		t.Errorf("%d of %s: the test shows nothing", seen[lacking()], lacking())
	}
}

// met is a question's table: read where it is, or a copy, whose ranks the rows then have.
type met struct {
	bench *bench
	sql   string
	rows  []enginetest.Row
	from  engine.Sealed
}

func (m met) look(t *rapid.T, p *plan.Plan, look *bounded.Statement, seen map[string]int) {
	e := m.bench.engine(look.Table)
	if m.from.Copy == nil && look.Part != nil {
		m.bench.isRefused(t, look, m.from)
		seen["refused"]++
		return
	}
	if err := e.Rehearse(context.Background(), look, m.from); err != nil {
		t.Fatalf("%s: rehearsal: %v", m.sql, err)
	}
	if m.from.Copy == nil {
		m.rows = m.bench.ranked(t, look, look.Table, m.rows)
	} else {
		seen["copies"]++
	}
	count := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	count("distinct", slices.ContainsFunc(look.Measures,
		func(m *bounded.Measure) bool { return m.Distinct() }))
	count("per group", look.CellsClamped())
	count("parts of copies", look.Part != nil)
	count("own parts", look.Part != nil && look.Unit != nil)
	count("other", look.Other)
	count("open", look.Open())
	count("ordered", look.Ordered)
	count("cells in order", look.Ordered && len(look.Keys) > 0)
	count("capped in order", look.Ordered && look.Unit != nil && look.Caps.Groups > 0)
	count("sums", !look.Ordered && !look.Open())
	switch {
	case look.Open():
		m.groups(t, p)
	case look.Ordered:
		m.ordered(t, look)
	default:
		m.sums(t, look)
	}
}

func (m met) sums(t *rapid.T, b *bounded.Statement) {
	got, reference := map[string]*big.Int{}, map[string]*big.Int{}
	err := m.bench.engine(b.Table).sums(context.Background(), b, m.from, gather(got))
	enginetest.Sum(b, m.rows, gather(reference))
	if got, want := nonZero(got), nonZero(reference); err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\nchosen %q\n%v\ngot  %v\nwant %v\n%v", m.sql, b.Chosen, m.rows, got, want, err)
	}
}

func (m met) ordered(t *rapid.T, b *bounded.Statement) {
	want := map[string]int64{}
	enginetest.OrderCells(b, m.rows, func(keys []value.Value, v int64) {
		if cell := engine.CellOf(b, keys); cell >= 0 {
			want[fmt.Sprint(cell, " ", v)]++
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scan, err := m.bench.engine(b.Table).scanCells(ctx, b, m.from)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, sorted, last := map[string]int64{}, true, int64(-1<<63)
		err := scan(func(cell int, v, n int64) bool {
			got[fmt.Sprint(cell, " ", v)] += n
			sorted, last = sorted && v >= last, v
			return true
		})
		if err != nil || !maps.Equal(got, want) || !sorted {
			t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", m.sql, m.rows, got, want, err)
		}
	}
}

func (m met) groups(t *rapid.T, p *plan.Plan) {
	e, there := m.bench.engine(p.Table), engine.Unchosen(&p.Statement)
	rows := m.rows
	if m.from.Copy == nil {
		// a unit's groups are in another order than its rows, where these are given the keys of Other
		rows = m.bench.ranked(t, there, p.Table, m.rows)
	}
	want, names := map[string]string{}, []string{}
	for name, sums := range enginetest.Groups(there, rows) {
		want[name], names = fmt.Sprint(sums), append(names, name)
	}
	slices.Sort(names)
	got := map[string]string{}
	err := e.sums(context.Background(), there.Counting(), m.from, func(keys []value.Value, sums []*big.Int) {
		got[bounded.GroupName(keys)] = fmt.Sprint(sums)
	})
	maps.DeleteFunc(got, func(_, sums string) bool { return sums == "[0]" || strings.HasSuffix(sums, " 0]") })
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", m.sql, m.rows, got, want, err)
	}
	found, err := e.Groups(context.Background(), &p.Statement, m.from)
	if err != nil || len(found.Units()) != len(want) {
		t.Fatalf("%s: %d groups, want %d: %v", m.sql, len(found.Units()), len(want), err)
	}
	if !p.Other {
		return
	}
	kept := slices.DeleteFunc(names, func(string) bool { return rapid.Bool().Draw(t, "left") })
	chosen, _, err := found.Chosen(kept)
	if err != nil {
		t.Fatal(err)
	}
	bounded.SortGroups(chosen)
	m.sums(t, &p.Choose(chosen).Statement)
}
