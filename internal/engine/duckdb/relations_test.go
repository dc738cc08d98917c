package duckdb

import (
	"context"
	"database/sql/driver"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// DuckDB gives the reference's exact sums for random questions over relations of hostile rows, and never fails; nor
// does a rehearsal.
func TestRelationsAgreeWithReference(t *testing.T) {
	stattest.ShortCases(t, 75)
	for _, text := range [][]byte{enginetest.RelationPolicy("add-remove", false), enginetest.RelationPolicy("add-remove", true), enginetest.StoredRelations("add-remove")} {
		b := newBench(t)
		var err error
		if b.policy, err = policy.Decode(text, b.dir); err != nil {
			t.Fatal(err)
		}
		admitted, capped, byGroups := 0, 0, strings.Contains(string(text), "max_rows_per_group: 1")
		enough := func() bool { return admitted >= 50 && (!byGroups || capped >= 5) }
		for range stattest.Until(t, 20, enough) {
			rapid.Check(t, func(t *rapid.T) {
				sql, _ := enginetest.Relation(t)
				p, err := plan.Build(b.policy, plan.Request{SQL: sql, MaxGroups: 0})
				if err != nil {
					return
				}
				admitted++
				if p.Caps.Groups > 0 {
					capped++
				}
				tables, from := b.writeAll(t, p.Tables(), 10)
				statement, err := statement(&p.Statement, from)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]*big.Int{}
				if err := b.run(context.Background(), statement, collect(&p.Statement, gather(got))); err != nil {
					t.Fatalf("%s\n%s\n%v", sql, statement, err)
				}
				reference := map[string]*big.Int{}
				enginetest.SumOf(&p.Statement, tables, gather(reference))
				if got, want := nonZero(got), nonZero(reference); !maps.Equal(got, want) {
					t.Fatalf("%s\n%s\n%v\ngot  %v\nwant %v", sql, statement, tables, got, want)
				}
				if rapid.IntRange(1, 4).Draw(t, "rehearse") == 1 {
					if err := b.Rehearse(context.Background(), &p.Statement, engine.Sealed{}); err != nil {
						t.Fatalf("%s: rehearsal: %v", sql, err)
					}
				}
			})
		}
		if !enough() {
			t.Errorf("only %d generated questions were admitted, %d of them with a cap on groups", admitted, capped)
		}
	}
}

// Values of a relation in order are those of the reference.
func TestRelationsInOrder(t *testing.T) {
	b := newBench(t)
	var err error
	if b.policy, err = policy.Decode(enginetest.RelationPolicy("add-remove", false), b.dir); err != nil {
		t.Fatal(err)
	}
	b.page = 3
	admitted := 0
	enough := func() bool { return admitted >= 20 }
	for range stattest.Until(t, 20, enough) {
		rapid.Check(t, func(t *rapid.T) {
			sql := enginetest.RelationValues(t)
			q, err := plan.BuildOrder(b.policy, plan.Request{SQL: sql})
			if err != nil {
				return
			}
			admitted++
			tables, from := b.writeAll(t, q.Tables(), 10)
			scan, err := b.scan(context.Background(), &q.Statement, from)
			if err != nil {
				t.Fatal(err)
			}
			got := map[int64]int64{}
			if err := scan(func(v, n int64) bool { got[v] = n; return true }); err != nil {
				t.Fatal(err)
			}
			if want := enginetest.OrderOf(&q.Statement, tables); !maps.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", sql, got, want)
			}
		})
	}
	if !enough() {
		t.Errorf("%d questions were admitted: the test shows nothing", admitted)
	}
}

// writeAll seals random rows of tables, and reads them back.
func (b *bench) writeAll(t *rapid.T, names []string, most int) (enginetest.Tables, engine.Sealed) {
	all := enginetest.RelationRows(t, b.policy, most)
	tables, from := enginetest.Tables{}, engine.Sealed{Tables: map[string]engine.Sealed{}}
	for _, name := range names {
		declared, bound := b.policy.Table(name), int64(0)
		older := *declared
		if declared.Unit.Column != "" && rapid.Bool().Draw(t, "sealed before there was a bound") {
			bound, declared.StoredRows = declared.Stored(), policy.MaxStoredRows
		}
		file := b.write(t, name, all[name])
		*declared = older
		rows, known, err := b.sealedRows(name, file)
		if err != nil {
			t.Fatal(err)
		}
		if bound > 0 {
			known.Stored = bound
			rows = slices.DeleteFunc(rows, func(r enginetest.Row) bool { return r[enginetest.Rank].Int > bound })
		}
		tables[name] = rows
		known.OneRowEach = known.OneRowEach && rapid.Bool().Draw(t, "recorded") // what is recorded changes no answer
		if rapid.Bool().Draw(t, "counted") {
			known.MostRows, known.MostPerKey = enginetest.Recorded(declared, rows)
		}
		from.Tables[name] = known
		if len(names) == 1 {
			tablesOf := from.Tables
			from = known
			from.Tables = tablesOf
		}
	}
	return tables, from
}

// Which of a unit's rows come first is not the same for all units: of 400 with the same four values each comes first
// for about 100.
func TestRankedByUnit(t *testing.T) {
	b := newBench(t)
	rank := rankedBy([]string{"u"}, []engine.Content{{Name: "k0", Type: value.Integer}})
	seen := 0
	err := b.run(t.Context(),
		"SELECT k0, count(*) FROM (SELECT k0, "+rank+" AS q FROM (SELECT a.i AS u, b.i AS k0 FROM range(400) AS a(i), range(4) AS b(i))) WHERE q = 1 GROUP BY k0",
		func(row []driver.Value) error {
			if n, ok := row[1].(int64); !ok || n < 60 || n > 140 {
				t.Errorf("%v comes first for %v units", row[0], row[1])
			}
			seen++
			return nil
		})
	if err != nil || seen != 4 {
		t.Errorf("%d values come first: %v", seen, err)
	}
}
