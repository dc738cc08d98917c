package duckdb

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

func storedTable(stored int64) *policy.Table {
	return &policy.Table{
		Name: "t", StoredRows: stored, Unit: policy.Unit{Column: "u", RowsPerUnit: 2, MaxGroups: 1},
		Source:  policy.Source{Format: policy.CSV, Path: "t.csv", Dialect: policy.DefaultDialect("t.csv")},
		Columns: []*policy.Column{{Name: "u", Type: value.Text, Nullable: true}, {Name: "i", Type: value.Integer}},
	}
}

// storedRows are so many rows of each unit; "" stands for rows of nobody.
func storedRows(of map[string]int) (out [][]value.Value) {
	for unit, n := range of {
		for i := range n {
			u := value.OfText(unit)
			if unit == "" {
				u = value.NullOf(value.Text)
			}
			out = append(out, []value.Value{u, value.OfInt(int64(i * i % 7))}) // some are equal
		}
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Sealing keeps the first stored_rows_per_unit rows of a unit: which ones does not depend on the order of the source
// nor on anybody else's rows, and the owner is told how many were left out.
func TestSealingKeepsStoredRows(t *testing.T) {
	s := NewSealer(t.TempDir())
	kept := func(of map[string]int, stored int64) (rows []string, facts seal.Facts) {
		table, file := storedTable(stored), sealTestFile(t, t.TempDir())
		if err := s.Write(t.Context(), file, table, sealTestRows(storedRows(of))); err != nil {
			t.Fatal(err)
		}
		facts, err := s.Inspect(t.Context(), file, table)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range sealTestQuery(t,
			"SELECT u, i, "+rankColumn+", "+rowsColumn+" FROM read_parquet("+text(file)+")") {
			rows = append(rows, strings.Join(r, " "))
		}
		return rows, facts
	}
	of := map[string]int{"x": 9, "y": 3, "z": 1, "": 6}
	rows, facts := kept(of, 3)
	want := seal.Facts{
		Rows: 13, Units: 3, MaxRowsPerUnit: 3, UnitsOver: 2, RowsOver: 2, NullUnits: 6, UnitsLeftOut: 1, RowsLeftOut: 6,
		Columns: []seal.ColumnFacts{{Name: "u", Nulls: 6}, {Name: "i"}},
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Error(diff)
	}
	ofX := func(rows []string) []string {
		return slices.DeleteFunc(slices.Clone(rows), func(r string) bool { return !strings.HasPrefix(r, "x ") })
	}
	if len(ofX(rows)) != 3 {
		t.Errorf("%q", rows)
	}
	for range 3 {
		again, _ := kept(of, 3)
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Errorf("another order of the source keeps others: %s", diff)
		}
		alone, _ := kept(map[string]int{"x": 9}, 3)
		if diff := cmp.Diff(ofX(rows), alone); diff != "" {
			t.Errorf("what others have changes what is kept: %s", diff)
		}
	}
	all, facts := kept(of, 9)
	if facts.RowsLeftOut != 0 || facts.UnitsLeftOut != 0 || facts.Rows != 19 {
		t.Errorf("%+v", facts)
	}
	if first := ofX(all)[:3]; !slices.Equal(first, ofX(rows)) {
		t.Errorf("a version with all rows has %q first, and not %q", first, ofX(rows))
	}
}

// A version serves as long as it has all rows that the policy's bound keeps; else sealing makes another of the same
// source.
func TestSealingAgainUnderAnotherBound(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("u,i\n")
	for i := range 6 {
		fmt.Fprintf(&b, "x,%d\ny,%d\n", i, i%2)
	}
	file := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		stored  int64
		version int
		leftOut int64
	}{{4, 1, 4}, {4, 1, 4}, {3, 1, 6}, {5, 2, 2}, {100, 3, 0}, {0, 3, 0}, {2, 3, 8}} {
		table := storedTable(c.stored)
		table.Source.File = file
		v, report, err := seal.Seal(t.Context(), dir, table, NewSealer(filepath.Join(dir, "tmp")),
			seal.Options{Getenv: func(string) string { return "" }})
		if err != nil || v.Number != c.version || report.Facts.RowsLeftOut != c.leftOut {
			t.Errorf("%d: version %d, %+v, %v", i, v.Number, report.Facts, err)
		}
		if c.leftOut > 0 && !strings.Contains(report.String(), fmt.Sprintf("units with more rows than stored_rows_per_unit: 2; %d of their rows were left out", c.leftOut)) {
			t.Errorf("%d: %s", i, report)
		}
	}
}

// Of a table whose rows have their unit through a reference, how many refer to one row is counted.
func TestSealingCountsRowsPerKey(t *testing.T) {
	table := storedTable(0)
	table.Unit = policy.Unit{Through: "i", RowsPerUnit: 2, MaxGroups: 1}
	s, file := NewSealer(t.TempDir()), sealTestFile(t, t.TempDir())
	var rows [][]value.Value
	for _, key := range []int64{1, 2, 2, 3, 2} {
		rows = append(rows, []value.Value{value.OfText("a"), value.OfInt(key)})
	}
	if err := s.Write(t.Context(), file, table, sealTestRows(rows)); err != nil {
		t.Fatal(err)
	}
	facts, err := s.Inspect(t.Context(), file, table)
	if err != nil || facts.MaxRowsPerKey != 3 || facts.Rows != 5 {
		t.Errorf("%+v, %v", facts, err)
	}
}

// A version that was sealed with all rows of a unit is read as one that was sealed with as many as are stored.
func TestOlderVersionsKeepToTheBound(t *testing.T) {
	b := newBench(t)
	text := `
version: 1
population: {name: p}
budget: {epsilon: 10}
tables:
  t: {source: {csv: t.csv}, unit: u, rows_per_unit: 2, stored_rows_per_unit: 3, columns: {u: {type: text, nullable: true}, i: {type: integer, bounds: [0, 9]}}}
`
	var err error
	if b.policy, err = policy.Decode([]byte(text), b.dir); err != nil {
		t.Fatal(err)
	}
	of := map[string]int{"a": 9, "b": 8, "c": 7, "d": 3, "": 5}
	for i := range 40 {
		of[fmt.Sprint(i)] = 4 + i%4
	}
	var rows []enginetest.Row
	for _, r := range storedRows(of) {
		rows = append(rows, enginetest.Row{"u": r[0], "i": r[1]})
	}
	bounded := b.write(t, "t", rows)
	b.policy.Table("t").StoredRows = 100
	older := b.write(t, "t", rows)
	b.policy.Table("t").StoredRows = 3
	for _, sql := range []string{
		"SELECT COUNT(*) FROM t WHERE i > 2", "SELECT SUM(i) FROM t WHERE i % 2 = 0",
		"SELECT COUNT(*) FROM (SELECT u, COUNT(*) AS n FROM t GROUP BY u) AS p WHERE n > 2",
	} {
		p, err := plan.Build(b.policy, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		sums := func(known engine.Sealed) map[string]string {
			known.Tables = map[string]engine.Sealed{"t": known}
			statement, err := statement(&p.Statement, known)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]*big.Int{}
			if err := b.run(t.Context(), statement, collect(&p.Statement, gather(got))); err != nil {
				t.Fatal(err)
			}
			return nonZero(got)
		}
		want, got := sums(engine.Sealed{File: bounded}), sums(engine.Sealed{File: older, Stored: 3})
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, and %v of a version that was sealed with the bound", sql, got, want)
		}
		if maps.Equal(sums(engine.Sealed{File: older}), want) && !strings.Contains(sql, "GROUP BY") {
			t.Errorf("%s: the same without the bound: this shows nothing", sql)
		}
	}
}
