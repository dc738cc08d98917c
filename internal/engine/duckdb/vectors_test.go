package duckdb

import (
	"context"
	"maps"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
)

// DuckDB gives the reference's exact sums of vectors for random coordinates, norms, bounds, groups and centres over
// hostile rows, and never fails; nor do rehearsals.
func TestVectorsAgreeWithReference(t *testing.T) {
	b := newBench(t)
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
		sql, request := enginetest.VectorQuestion(t, table)
		m, err := plan.BuildMoments(b.policy, plan.Request{SQL: sql}, request)
		if err != nil {
			return
		}
		file := b.write(t, table, enginetest.Rows(t, b.policy.Table(table), 12))
		rows, known, err := b.sealedRows(table, file)
		if err != nil {
			t.Fatal(err)
		}
		b.vectors(t, sql, m, enginetest.Tables{table: rows}, known, seen)
	})
	for _, kind := range []string{"admitted", "scaled", "centred", "grouped", "by persons"} {
		if seen[kind] < 1 { // each is expected 15 times or more
			t.Errorf("only %d %s", seen[kind], kind)
		}
	}
}

// So it does over relations.
func TestVectorsOverRelations(t *testing.T) {
	stattest.ShortCases(t, 50)
	p, err := policy.Decode(enginetest.RelationPolicy("add-remove", false), ".")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.policy = p
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		sql, request, _ := enginetest.VectorsOver(t)
		m, err := plan.BuildMoments(p, plan.Request{SQL: sql}, request)
		if err != nil || m.Source == nil {
			return
		}
		tables := enginetest.RelationRows(t, p, 8)
		from := engine.Sealed{Tables: map[string]engine.Sealed{}}
		for _, table := range m.Tables() {
			from.Tables[table] = engine.Sealed{File: b.write(t, table, tables[table])}
		}
		b.vectors(t, sql, m, tables, from, seen)
	})
	if seen["admitted"] < 5 {
		t.Errorf("only %d admitted", seen["admitted"])
	}
}

func (b *bench) vectors(
	t *rapid.T, sql string, m *plan.Moments, tables enginetest.Tables, from engine.Sealed, seen map[string]int,
) {
	if err := b.Rehearse(context.Background(), &m.Statement, engine.Sealed{}); err != nil {
		t.Fatalf("%s: rehearsal: %v", sql, err)
	}
	text, err := statement(&m.Statement, from)
	if err != nil {
		t.Fatal(err)
	}
	got, reference := map[string]*big.Int{}, map[string]*big.Int{}
	err = b.run(context.Background(), text, collect(&m.Statement, gather(got)))
	enginetest.SumOf(&m.Statement, tables, gather(reference))
	if got, want := nonZero(got), nonZero(reference); err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\n%s\n%v\ngot  %v\nwant %v\n%v", sql, text, tables, got, want, err)
	}
	note := func(kind string, is bool) {
		if is {
			seen[kind]++
		}
	}
	note("admitted", true)
	note("scaled", m.RowVectors.Blocks[0].Scale > 0)
	note("centred", m.Centred())
	note("grouped", len(m.Keys) > 0)
	note("by persons", m.Unit != nil)
}
