package postgres

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// Rows are those of the reference, unit by unit, for random questions over hostile rows of a table and of its copy.
func TestRowsAgreeWithReference(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	copies, given := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
		sql := enginetest.RowQuestion(t, table)
		p, err := plan.BuildRows(b.policy, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		m := met{bench: b, sql: sql, rows: enginetest.Rows(t, b.policy.Table(table), 12)}
		b.write(t, table, m.rows)
		look := &p.Statement
		switch rapid.IntRange(0, 3).Draw(t, "copy") {
		case 0:
			copies++
			m.from = b.copied(t, table, &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
			if p.Unit != nil {
				m.rows = b.ranks(t, m.rows)
			}
		default:
			if look.Part != nil {
				b.isRefused(t, look, m.from)
				return
			}
			m.rows = b.ranked(t, look, table, m.rows)
		}
		e := b.engine(table)
		if err := e.Rehearse(context.Background(), look, m.from); err != nil {
			t.Fatalf("%s: rehearsal: %v", sql, err)
		}
		var got [][][]int64
		err = e.eachRow(context.Background(), look, m.from, byUnit(&got))
		got, want := inOrder(got), inOrder(enginetest.UnitRows(look, m.rows))
		if err != nil || !slices.EqualFunc(got, want,
			func(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal[[]int64]) }) {
			t.Fatalf("%s: %v, want %v (%v)", sql, got, want, err)
		}
		given += len(want)
	})
	if copies == 0 || given == 0 {
		t.Fatal("nothing was compared")
	}
	t.Log(given, "units;", copies, "of copies")
}

// So are those of relations of several tables, read where they are and as copies, and a unit's rows are beside each
// other.
func TestRowsOverRelations(t *testing.T) {
	b := newBench(t, enginetest.RelationPolicy("add-remove", false))
	admitted, given, several := 0, 0, 0
	enough := func() bool { return admitted >= 20 && given > 0 && several > 0 }
	for range stattest.Until(t, 20, enough) {
		rapid.Check(t, func(t *rapid.T) {
			sql := enginetest.RowQuestionOver(t)
			p, err := plan.BuildRows(b.policy, plan.Request{SQL: sql})
			if err != nil || p.Source == nil {
				return
			}
			admitted++
			tables, from := b.writeAll(t, p.Tables(), 10)
			if rapid.IntRange(1, 4).Draw(t, "rehearse") == 1 {
				if err := b.over().Rehearse(context.Background(), &p.Statement, from); err != nil {
					t.Fatalf("%s: rehearsal: %v", sql, err)
				}
			}
			var got [][][]int64
			err = b.over().eachRow(context.Background(), &p.Statement, from, byUnit(&got))
			want := inOrder(enginetest.UnitRowsOf(&p.Statement, tables))
			if got := inOrder(got); err != nil ||
				!slices.EqualFunc(got, want,
					func(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal[[]int64]) }) {
				t.Fatalf("%s\n%v\ngot  %v\nwant %v (%v)", sql, tables, got, want, err)
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
		t.Errorf("%d questions, %d units, %d of several rows: the test shows nothing", admitted, given, several)
	}
	t.Log(admitted, "questions,", given, "units,", several, "of several rows")
}

// byUnit gathers rows.
func byUnit(into *[][][]int64) func(first bool, row []int64) error {
	return func(first bool, row []int64) error {
		if first {
			*into = append(*into, nil)
		}
		last := len(*into) - 1
		(*into)[last] = append((*into)[last], slices.Clone(row))
		return nil
	}
}

// inOrder puts units, and the rows of each, in an order of their own.
func inOrder(units [][][]int64) [][][]int64 {
	for _, u := range units {
		slices.SortFunc(u, slices.Compare[[]int64])
	}
	slices.SortFunc(units, func(a, b [][]int64) int { return slices.CompareFunc(a, b, slices.Compare[[]int64]) })
	return units
}
