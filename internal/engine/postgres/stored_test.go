package postgres

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// A copy keeps the first rows of a unit, and says how many it left out; and of rows that have their unit through
// another table, each question does. Either way random questions have the reference's sums over what is kept. A copy
// that was made with more is read as if it kept no more.
func TestCopiesKeepStoredRows(t *testing.T) {
	b := newBench(t, enginetest.StoredRelations("add-remove"))
	leftOut, counted, owned := 0, 0, 0
	ask := func(t *rapid.T) {
		sql, _ := enginetest.Relation(t)
		p, err := plan.Build(b.policy, plan.Request{SQL: sql})
		if err != nil || p.Source == nil || rapid.IntRange(0, 2).Draw(t, "skip") > 0 {
			return
		}
		all := enginetest.RelationRows(t, b.policy, 12)
		tables, from := enginetest.Tables{}, engine.Sealed{Tables: map[string]engine.Sealed{}}
		for _, name := range p.Tables() {
			b.write(t, name, all[name])
			declared, bound := b.policy.Table(name), int64(0)
			older := *declared
			if declared.Unit.Column != "" && rapid.Bool().Draw(t, "made before there was a bound") {
				bound, declared.StoredRows = declared.Stored(), policy.MaxStoredRows
			}
			known := b.copiedAs(t, name, "made_"+name,
				&policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
			*declared = older
			known.Stored = bound
			tables[name] = b.kept(t, "made_"+name, declared, all[name], bound)
			if most, _ := enginetest.Recorded(declared, all[name]); most > declared.Stored() && declared.Unit.Column != "" {
				leftOut++
			}
			if rapid.Bool().Draw(t, "counted") {
				known.MostRows, known.MostPerKey = enginetest.Recorded(declared, tables[name])
				counted++
			}
			from.Tables[name] = known
		}
		p.Source.Walk(func(s *bounded.Source) {
			if s.Op == bounded.Owned {
				owned++
			}
		})
		if err := b.over().Rehearse(context.Background(), &p.Statement, from); err != nil {
			t.Fatalf("%s: rehearsal: %v", sql, err)
		}
		related{b, sql, tables, from}.sums(t, &p.Statement)
	}
	few := func() bool { return leftOut < 5 || owned < 3 }
	for round := 0; round == 0 || round < 60 && few() && !t.Failed(); round++ {
		rapid.Check(t, ask)
	}
	t.Logf("%d tables had rows left out, %d were counted, %d read through others", leftOut, counted, owned)
	if few() {
		t.Errorf("%d tables had rows left out, %d were read through others: the test shows nothing", leftOut, owned)
	}
}

// kept are the rows that a copy has, or of them those of the lowest ranks.
func (b *bench) kept(
	t failer, table string, declared *policy.Table, rows []enginetest.Row, bound int64,
) (out []enginetest.Row) {
	t.Helper()
	sql := "SELECT __row, 0 FROM copies." + table
	if declared.Unit.Column != "" && bound > 0 {
		sql += " WHERE " + rankColumn + " <= " + strconv.FormatInt(bound, 10)
	}
	var ids []int64
	if err := b.query(sql, func(row [][]byte) error {
		id, _, err := valueAndCount(row)
		ids = append(ids, id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	for _, id := range ids {
		out = append(out, rows[id-1])
	}
	return out
}

// What a copy leaves out is told to the owner, and its facts are about what it has.
func TestFactsOfACopyThatLeavesRowsOut(t *testing.T) {
	b := newBench(t, enginetest.StoredRelations("add-remove"))
	var rows []enginetest.Row
	for i := range 9 {
		who := value.OfInt(int64(i / 7)) // seven rows, and two
		rows = append(rows, enginetest.Row{"person": who, "id": value.OfInt(int64(i)), "i": value.OfInt(int64(i % 3))})
	}
	rows = append(rows, enginetest.Row{"id": value.OfInt(99)}) // of nobody
	b.write(t, "p", rows)
	declared := *b.policy.Table("p")
	declared.Source = source("p")
	b.exec(t, "CREATE SCHEMA copies")
	found, err := Sealer{}.Copy(context.Background(), &declared, "copies", "made")
	if err != nil {
		t.Fatal(err)
	}
	f := found.Facts
	if f.Rows != 6 || f.NullUnits != 1 || f.Units != 2 || f.MaxRowsPerUnit != 3 || f.UnitsLeftOut != 1 || f.RowsLeftOut != 4 || f.UnitsOver != 0 || found.Copy.Rows != 5 {
		t.Errorf("%+v, %+v", f, found.Copy)
	}
	live, err := Sealer{}.Look(context.Background(), &declared)
	if err != nil || live.Facts.Rows != 10 || live.Facts.MaxRowsPerUnit != 7 || live.Facts.UnitsLeftOut != 0 || live.Facts.UnitsOver != 1 || live.Facts.RowsOver != 4 {
		t.Errorf("%+v, %v", live.Facts, err)
	}
}

// BenchmarkUnitCost holds what one person can cost against time.
func BenchmarkUnitCost(b *testing.B) {
	s := newBench(b, []byte(enginetest.UnitCostPolicy))
	from := map[bool]engine.Sealed{}
	for _, heavy := range []bool{false, true} {
		name := map[bool]string{false: "without", true: "with_it"}[heavy]
		s.write(b, "visits", enginetest.UnitCostRows(20_000, heavy))
		known := s.copiedAs(b, "visits", name)
		known.Tables = map[string]engine.Sealed{"visits": known}
		from[heavy] = known
	}
	over, one := s.over(), New(source("visits"))
	b.Cleanup(func() { _ = one.Close() })
	begin := time.Now()
	clock := func() time.Duration { return time.Since(begin) }
	enginetest.UnitCost(b, clock, func(look *bounded.Statement, heavy bool) error {
		e := one
		if look.Source != nil {
			e = over
		}
		_, err := e.Aggregate(b.Context(), look, from[heavy])
		return err
	})
}
