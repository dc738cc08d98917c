package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"math/big"
	"slices"
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

// rowsOf runs a statement whose result rows are groups, and gives them as texts by the groups' names.
func (b *bench) rowsOf(statement string, of *bounded.Statement) (map[string]string, error) {
	out := map[string]string{}
	err := b.run(context.Background(), statement, func(row []driver.Value) error {
		return collect(of, func(keys []value.Value, sums []*big.Int) {
			out[bounded.GroupName(keys)] = fmt.Sprint(sums)
		})(row)
	})
	return out, err
}

// The groups that there are, with their numbers of units and their sums, are those of the reference for random
// questions over hostile rows; and once some are chosen, so are those groups' sums and Other's.
func TestGroupsAgreeWithReference(t *testing.T) {
	stattest.ShortCases(t, 75)
	for name, text := range map[string]func(string) []byte{
		"by rows":   enginetest.Opened,
		"by groups": enginetest.OpenedByGroups,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var err error
			if b.policy, err = policy.Decode(text("add-remove"), b.dir); err != nil {
				t.Fatal(err)
			}
			b.groupsAgree(t)
		})
	}
}

func (b *bench) groupsAgree(t *testing.T) {
	admitted, several := 0, 0
	enough := func() bool { return admitted >= 30 && several >= 10 }
	for range stattest.Until(t, 20, enough) {
		rapid.Check(t, func(t *rapid.T) {
			table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
			request := plan.Request{
				SQL:     enginetest.OpenQuestion(t, table),
				Unknown: plan.Unknown{Other: rapid.Bool().Draw(t, "other")},
			}
			if table == "p" {
				request.MaxGroups = int64(rapid.IntRange(0, 4).Draw(t, "max groups"))
			}
			p, err := plan.Build(b.policy, request)
			if err != nil {
				return
			}
			admitted++
			file := b.write(t, table, enginetest.Rows(t, b.policy.Table(table), 12))
			rows, known, err := b.sealedRows(table, file)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Rehearse(context.Background(), &p.Statement, engine.Sealed{}); err != nil {
				t.Fatalf("%s: rehearsal: %v", request.SQL, err)
			}
			there := *engine.Unchosen(&p.Statement)
			reference := enginetest.Groups(&there, rows)
			want, names := map[string]string{}, []string{}
			for name, sums := range reference {
				want[name], names = fmt.Sprint(sums), append(names, name)
			}
			slices.Sort(names)
			scan, err := sealScan(file)
			if err != nil {
				t.Fatal(err)
			}
			statement := render(there.Counting(), scan, known)
			got, err := b.rowsOf(statement, there.Counting())
			for name, sums := range got { // a group in which no unit counts is none
				if sums[len(sums)-3:] == " 0]" || sums == "[0]" {
					delete(got, name)
				}
			}
			if err != nil || !maps.Equal(got, want) {
				t.Fatalf("%s\n%s\n%v\ngot  %v\nwant %v\n%v", request.SQL, statement, rows, got, want, err)
			}
			if len(names) > 1 {
				several++
			}
			found, err := b.Groups(context.Background(), &p.Statement, engine.Sealed{File: file})
			if err != nil || len(found.Units()) != len(want) {
				t.Fatalf("%s: %d groups, want %d: %v", request.SQL, len(found.Units()), len(want), err)
			}
			var kept []string
			for _, name := range names {
				if rapid.Bool().Draw(t, "chosen") {
					kept = append(kept, name)
				}
			}
			chosen, _, err := found.Chosen(kept)
			if err != nil {
				t.Fatal(err)
			}
			bounded.SortGroups(chosen)
			after := p.Choose(chosen)
			if !p.Other {
				return
			}
			gathered := map[string]*big.Int{}
			enginetest.Sum(&after.Statement, rows, gather(gathered))
			cells, err := b.sums(after, b.again(file, known))
			if want := nonZero(gathered); err != nil || !maps.Equal(cells, want) {
				t.Fatalf("%s\nchosen %q\n%v\n%v\ngot  %v\nwant %v\n%v", request.SQL, kept,
					render(&after.Statement, "FILE", known), rows, cells, want, err)
			}
		})
	}
	if !enough() {
		t.Errorf("only %d generated questions were admitted, %d of them over several groups", admitted, several)
	}
}

// again is the file, with what sealing would have recorded of it.
func (b *bench) again(file string, known engine.Sealed) string {
	b.records[file] = known
	return file
}
