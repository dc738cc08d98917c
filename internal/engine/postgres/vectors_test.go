package postgres

import (
	"context"
	"maps"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
)

// PostgreSQL gives the reference's exact sums of vectors for random coordinates, norms, bounds, groups and centres over
// hostile rows, and never fails; nor do rehearsals.
func TestVectorsAgreeWithReference(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
		sql, request := enginetest.VectorQuestion(t, table)
		m, err := plan.BuildMoments(b.policy, plan.Request{SQL: sql}, request)
		if err != nil {
			return
		}
		if m.Part != nil { // of a table that is read where it is
			b.isRefused(t, &m.Statement, engine.Sealed{})
			return
		}
		rows := enginetest.Rows(t, b.policy.Table(table), 12)
		b.write(t, table, rows)
		rows = b.ranked(t, &m.Statement, table, rows)
		got, reference := map[string]*big.Int{}, map[string]*big.Int{}
		err = b.engine(table).sums(context.Background(), &m.Statement, engine.Sealed{}, gather(got))
		if err == nil {
			err = b.engine(table).Rehearse(context.Background(), &m.Statement, engine.Sealed{})
		}
		enginetest.Sum(&m.Statement, rows, gather(reference))
		if got, want := nonZero(got), nonZero(reference); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", sql, rows, got, want, err)
		}
		seen["admitted"]++
		if m.RowVectors.Blocks[0].Scale > 0 {
			seen["scaled"]++
		}
		if m.Centred() {
			seen["centred"]++
		}
	})
	for _, kind := range []string{"admitted", "scaled", "centred"} {
		if seen[kind] < 1 { // each is expected 15 times or more
			t.Errorf("only %d %s", seen[kind], kind)
		}
	}
}

// So it does over relations.
func TestVectorsOverRelations(t *testing.T) {
	stattest.ShortCases(t, 50)
	for _, byGroups := range []bool{false, true} {
		b := newBench(t, enginetest.RelationPolicy("add-remove", byGroups))
		seen := map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			sql, request, _ := enginetest.VectorsOver(t)
			m, err := plan.BuildMoments(b.policy, plan.Request{SQL: sql}, request)
			if err != nil || m.Source == nil {
				return
			}
			tables, from := b.writeAll(t, m.Tables(), 10)
			if rapid.IntRange(0, 2).Draw(t, "rehearsed") == 0 {
				if err := b.over().Rehearse(context.Background(), &m.Statement, from); err != nil {
					t.Fatalf("%s: rehearsal: %v", sql, err)
				}
			}
			n := related{b, sql, tables, from}.sums(t, &m.Statement)
			seen["admitted"]++
			if n > 0 {
				seen["sums"]++
			}
			if n > 0 && m.Unit != nil {
				seen["by persons"]++
			}
		})
		t.Log(seen)
		for kind, least := range map[string]int{"admitted": 20, "sums": 5, "by persons": 3} {
			if seen[kind] < least {
				t.Errorf("%d %s: the test shows nothing", seen[kind], kind)
			}
		}
	}
}
