package duckdb

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
)

// byUnit gathers rows as they come, each unit's in an order of their own, and the units too.
func byUnit(units *[][][]int64) func(first bool, row []int64) error {
	return func(first bool, row []int64) error {
		if first {
			*units = append(*units, nil)
		}
		if len(*units) == 0 {
			return fmt.Errorf("a row of no unit")
		}
		last := &(*units)[len(*units)-1]
		*last = append(*last, slices.Clone(row))
		return nil
	}
}

func inOrder(units [][][]int64) [][][]int64 {
	for _, u := range units {
		slices.SortFunc(u, slices.Compare[[]int64])
	}
	slices.SortFunc(units, func(a, b [][]int64) int { return slices.CompareFunc(a, b, slices.Compare[[]int64]) })
	return units
}

// Rows are those of the reference, unit by unit, for random questions over hostile rows, with and without what sealing
// records, in one page and in several; and what is asked is rehearsed.
func TestRowsAgreeWithReference(t *testing.T) {
	b := newBench(t)
	admitted, given := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
		sql := enginetest.RowQuestion(t, table)
		p, err := plan.BuildRows(b.policy, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		admitted++
		file := b.write(t, table, enginetest.Rows(t, b.policy.Table(table), 14))
		rows, known, err := b.sealedRows(table, file)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Rehearse(context.Background(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatalf("%s: rehearsal: %v", sql, err)
		}
		b.rowPage = rapid.SampledFrom([]int{defaultRowPage, 3}).Draw(t, "page")
		from := rapid.SampledFrom([]engine.Sealed{known, {File: file}}).Draw(t, "known")
		var got [][][]int64
		if err := b.eachRow(context.Background(), &p.Statement, from, byUnit(&got)); err != nil {
			t.Fatal(err)
		}
		want := inOrder(enginetest.UnitRows(&p.Statement, rows))
		if got := inOrder(got); !slices.EqualFunc(got, want,
			func(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal[[]int64]) }) {
			t.Fatalf("%s: %v, want %v\n%s", sql, got, want, rowsOf(&p.Statement, "FILE", from))
		}
		given += len(want)
	})
	if admitted == 0 || given == 0 {
		t.Fatal("nothing was compared")
	}
	t.Log(admitted, "questions,", given, "units")
}

// So are those of relations of several tables.
func TestRowsOverRelations(t *testing.T) {
	stattest.ShortCases(t, 50)
	b := newBench(t)
	var err error
	if b.policy, err = policy.Decode(enginetest.RelationPolicy("add-remove", false), b.dir); err != nil {
		t.Fatal(err)
	}
	admitted, given, several, paged := 0, 0, 0, 0
	enough := func() bool { return admitted >= 20 && given > 0 && several > 0 && paged > 0 }
	for range stattest.Until(t, 20, enough) {
		rapid.Check(t, func(t *rapid.T) {
			sql := enginetest.RowQuestionOver(t)
			p, err := plan.BuildRows(b.policy, plan.Request{SQL: sql})
			if err != nil {
				return
			}
			admitted++
			tables, from := b.writeAll(t, p.Tables(), 10)
			b.rowPage = rapid.SampledFrom([]int{defaultRowPage, 5, 1}).Draw(t, "page")
			if err := b.Rehearse(context.Background(), &p.Statement, engine.Sealed{}); err != nil {
				t.Fatalf("%s: rehearsal: %v", sql, err)
			}
			if pages, err := b.rowPages(context.Background(), &p.Statement, from); err == nil && len(pages) > 1 {
				paged++
			}
			var got [][][]int64
			err = b.eachRow(context.Background(), &p.Statement, from, byUnit(&got))
			want := inOrder(enginetest.UnitRowsOf(&p.Statement, tables))
			if got := inOrder(got); err != nil ||
				!slices.EqualFunc(got, want,
					func(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal[[]int64]) }) {
				t.Fatalf("%s: %v, want %v (%v)", sql, got, want, err)
			}
			given += len(want)
			for _, u := range want {
				if len(u) > 1 {
					several++
				}
			}
		})
	}
	if !enough() {
		t.Errorf("%d questions, %d units, %d of several rows, %d of several pages: the test shows nothing",
			admitted, given, several, paged)
	}
}
