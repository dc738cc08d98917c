package postgres

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
	"dither/internal/value"
)

// over is the engine over relations of all tables.
func (b *bench) over() *Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked[""] == nil {
		tables := map[string]policy.Source{}
		for _, t := range b.policy.Tables {
			tables[t.Name] = source(t.Name)
		}
		b.asked[""] = Over(tables)
	}
	return b.asked[""]
}

// writeAll writes random rows of the tables, and now and then makes copies, which are asked then.
func (b *bench) writeAll(t *rapid.T, names []string, most int) (enginetest.Tables, engine.Sealed) {
	all := enginetest.RelationRows(t, b.policy, most)
	copied := rapid.IntRange(0, 9).Draw(t, "copies") == 0 // which take their time
	tables, from := enginetest.Tables{}, engine.Sealed{Tables: map[string]engine.Sealed{}}
	for _, name := range names {
		tables[name] = all[name]
		b.write(t, name, all[name])
		from.Tables[name] = engine.Sealed{}
		if copied {
			from.Tables[name] = b.copiedAs(t, name, "made_"+name)
		}
	}
	return tables, from
}

// Questions about relations have the reference's exact sums, which DuckDB's are too: the same rows of a unit count
// where not all do. Random questions over hostile rows, of tables that are read where they are and of copies; none
// fails, nor does a rehearsal.
func TestRelationsAgreeWithReference(t *testing.T) {
	for _, byGroups := range []bool{false, true} {
		b := newBench(t, enginetest.RelationPolicy("add-remove", byGroups))
		if byGroups {
			// the same numbers, as numerics and domains, texts in another order, and what a role may be set to
			b.exec(
				t, "CREATE DOMAIN number AS bigint; CREATE DOMAIN truth AS boolean; ALTER TABLE p ALTER x TYPE numeric, ALTER s TYPE varchar(99), ALTER person TYPE number, ALTER b TYPE truth;"+
					"ALTER TABLE v ALTER y TYPE numeric; ALTER TABLE l ALTER q TYPE number")
			b.exec(
				t, roleSettings(
					"SET search_path = public, pg_catalog; SET DateStyle = 'SQL, DMY'; SET extra_float_digits = -15; SET transform_null_equals = on; SET standard_conforming_strings = off;"+
						" SET enable_hashjoin = off; SET enable_hashagg = off; SET work_mem = '64kB'; SET join_collapse_limit = 1; SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0"))
			defer b.exec(t, "ALTER ROLE owner RESET ALL")
		}
		admitted, capped := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			sql, _ := enginetest.Relation(t)
			p, err := plan.Build(b.policy, plan.Request{SQL: sql})
			if err != nil || p.Source == nil {
				return
			}
			admitted++
			if p.Caps.Groups > 0 {
				capped++
			}
			tables, from := b.writeAll(t, p.Tables(), 10)
			if rapid.IntRange(1, 4).Draw(t, "rehearse") == 1 {
				if err := b.over().Rehearse(context.Background(), &p.Statement, from); err != nil {
					t.Fatalf("%s: rehearsal: %v", sql, err)
				}
			}
			related{b, sql, tables, from}.sums(t, &p.Statement)
		})
		if admitted < 40 || capped < 3 {
			t.Errorf("only %d generated questions were admitted, %d of them with a cap on groups", admitted, capped)
		}
	}
}

// Whatever goes together with a relation looks at what the reference looks at: sums with distinct counts and bounds per
// group, rows in order, in cells and for bounds that are found, values of a mode, groups that there are, and those that
// are chosen with Other; and all of it is rehearsed.
func TestRelationsMeetReference(t *testing.T) {
	seen := map[string]int{}
	// relations of hostile rows are often empty
	few := func() bool { return min(seen["open"], seen["ordered"], seen["sums"]) < 20 }
	for round := 0; round < 2 || round < 60 && few() && !t.Failed(); round++ {
		b := newBench(t, enginetest.OpenedRelations("add-remove", round%2 == 1))
		b.over().page = 3
		rapid.Check(t, func(t *rapid.T) {
			request, _ := enginetest.Meeting(t)
			p, err := plan.Build(b.policy, request)
			if err != nil || p.Source == nil {
				return
			}
			p = enginetest.FoundRows(t, p)
			if p.Rows != nil {
				seen["rows of units"]++
			}
			b.related(t, p, request.SQL, looksOf(p), seen)
		})
	}
	for _, kind := range []string{"open", "ordered", "sums", "rows of units"} {
		if seen[kind] < 10 {
			t.Errorf("%d of %s: the test shows nothing", seen[kind], kind)
		}
	}
}

// related compares all looks of a plan over random rows of the tables of its relation, or of its one table, and tells
// how much there was to compare.
func (b *bench) related(
	t *rapid.T, p *plan.Plan, sql string, looks []*bounded.Statement, seen map[string]int,
) (all int) {
	if p.Source == nil {
		return 0
	}
	tables, from := b.writeAll(t, p.Tables(), 10)
	r := related{b, sql, tables, from}
	rehearsed := rapid.IntRange(0, 2).Draw(t, "rehearsed") == 0 // which takes its time
	for _, look := range looks {
		if rehearsed {
			if err := b.over().Rehearse(context.Background(), look, from); err != nil {
				t.Fatalf("%s: rehearsal: %v", sql, err)
			}
		}
		kind, n := "sums", 0
		switch {
		case look.Open():
			kind, n = "open", r.groups(t, p)
		case look.Ordered:
			kind, n = "ordered", r.ordered(t, look)
		default:
			n = r.sums(t, look)
		}
		seen[kind] += n
		all += n
	}
	return all
}

// related is a question's tables.
type related struct {
	bench  *bench
	sql    string
	tables enginetest.Tables
	from   engine.Sealed
}

func (r related) sums(t *rapid.T, b *bounded.Statement) int {
	got, reference := map[string]*big.Int{}, map[string]*big.Int{}
	err := r.bench.over().sums(context.Background(), b, r.from, gather(got))
	enginetest.SumOf(b, r.tables, gather(reference))
	if got, want := nonZero(got), nonZero(reference); err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", r.sql, r.tables, got, want, err)
	}
	return len(nonZero(reference))
}

func (r related) ordered(t *rapid.T, b *bounded.Statement) int {
	want := map[string]int64{}
	enginetest.OrderCellsOf(b, r.tables, func(keys []value.Value, v int64) {
		if cell := engine.CellOf(b, keys); cell >= 0 {
			want[fmt.Sprint(cell, " ", v)]++
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scan, err := r.bench.over().scanCells(ctx, b, r.from)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := map[string]int64{}
		if err := scan(func(cell int, v,
			n int64,
		) bool {
			got[fmt.Sprint(cell, " ", v)] += n
			return true
		}); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", r.sql, r.tables, got, want, err)
		}
	}
	return len(want)
}

func (r related) groups(t *rapid.T, p *plan.Plan) int {
	there := engine.Unchosen(&p.Statement)
	want, names := map[string]string{}, []string{}
	for name, sums := range enginetest.GroupsOf(there, r.tables) {
		want[name], names = fmt.Sprint(sums), append(names, name)
	}
	slices.Sort(names)
	got := map[string]string{}
	err := r.bench.over().sums(context.Background(), there.Counting(), r.from,
		func(keys []value.Value, sums []*big.Int) {
			got[bounded.GroupName(keys)] = fmt.Sprint(sums)
		})
	maps.DeleteFunc(got, func(_, sums string) bool { return sums == "[0]" || strings.HasSuffix(sums, " 0]") })
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("%s\n%v\ngot  %v\nwant %v\n%v", r.sql, r.tables, got, want, err)
	}
	found, err := r.bench.over().Groups(context.Background(), &p.Statement, r.from)
	if err != nil || len(found.Units()) != len(want) {
		t.Fatalf("%s: %d groups, want %d: %v", r.sql, len(found.Units()), len(want), err)
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
	return len(want) + r.sums(t, &p.Choose(chosen).Statement)
}
