package database

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dither/internal/testhome"
	"dither/synth"
)

const policy = `
version: 1
population: {name: town, neighbours: add-remove}
budget: {rho: 100, delta: 1e-6}
price: {default: 1, maximum: 14}
tables:
  the "people":
    source: {csv: people.csv}
    unit: id
    rows_per_unit: 1
    columns:
      id: {type: integer}
      job: {type: text, values: ["it's", =1+1], nullable: true}
      married: {type: boolean}
      size: {type: real, bounds: [0.5, 2.5]}
      born: {type: date, values: [1985-02-03, 1775-12-31]}
      seen: {type: timestamp, values: ["2020-01-02 03:04:05.6", "1960-01-02 00:00:00"]}
      rises: {type: time, values: ["06:30:00", "23:59:59.999999"]}
`

// synthesized returns a synthetic table with a column of each type.
func synthesized(t *testing.T) *synth.Result {
	t.Helper()
	rows := "id,job,married,size,born,seen,rises\n" + strings.Repeat("1,it's,true,1,1985-02-03,2020-01-02 03:04:05.6,06:30:00\n"+
		"2,=1+1,false,2,1775-12-31,1960-01-02 00:00:00,23:59:59.999999\n3,,false,2,1775-12-31,1960-01-02 00:00:00,06:30:00\n", 100)
	c, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"people.csv": rows}), `the "people"`)
	r, err := synth.Synthesize(t.Context(), c.Session(), synth.Request{Table: `the "people"`, Rho: "10", Method: synth.Independent, Rows: 3000})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A file has the rows of the CSV file, in their order, with the types of the real columns.
func TestWrite(t *testing.T) {
	r := synthesized(t)
	for name, write := range map[string]func(context.Context, string, *synth.Table) error{
		"made up.duckdb": Write, "made 'up'.parquet": WriteParquet,
	} {
		t.Run(name, func(t *testing.T) { checkWritten(t, r, name, write) })
	}
}

func checkWritten(t *testing.T, r *synth.Result, name string, to func(context.Context, string, *synth.Table) error) {
	file, table := write(t, name, "an older file"), ""
	if err := to(t.Context(), file, r.Table()); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".parquet") { // which names no table
		table = r.Plan.Table
	}
	a, err := Ask(t.Context(), file, table, `SELECT * FROM "the ""people"""`)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	err = r.Each(func(row []string, null []bool) error {
		for i, want := range row {
			got := a.Rows[at][i]
			if x, is := got.(json.Number); is {
				got = x.String()
			}
			if b, is := got.(bool); is {
				got = map[bool]string{false: "false", true: "true"}[b]
			}
			if null[i] != (got == nil) || !null[i] && got != want {
				t.Fatalf("row %d: %v instead of %s", at, got, want)
			}
		}
		at++
		return nil
	})
	if err != nil || at != len(a.Rows) || at != 3000 {
		t.Errorf("%d rows instead of %d: %v", len(a.Rows), at, err)
	}
	a, err = Ask(t.Context(), file, "t", "SELECT list(column_name || ' ' || data_type ORDER BY column_index) FROM duckdb_columns WHERE table_name = 't'")
	if err != nil || a.Rows[0][0] != "[job VARCHAR married BOOLEAN size DOUBLE born DATE seen TIMESTAMP rises TIME]" {
		t.Errorf("types: %v, %v", a, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
}

// A file stays as it was if the rows cannot be written.
func TestWriteFails(t *testing.T) {
	file := write(t, "old.duckdb", "old")
	for _, r := range []*synth.Table{
		{Name: "t", Columns: []*synth.Column{{Name: "x", Type: "colour"}}},
		{Name: "t", Columns: []*synth.Column{{Name: "x", Type: "text"}, {Name: "X", Type: "text"}}},
	} {
		if err := Write(t.Context(), file, r); err == nil {
			t.Errorf("%v was written", r.Columns)
		}
	}
	if err := Write(t.Context(), "old.duckdb", &synth.Table{}); err == nil {
		t.Error("a relative path was accepted")
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "old" {
		t.Errorf("the file has %q: %v", content, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// Files that are no database of one table are refused.
func TestAskRefusesDatabases(t *testing.T) {
	file := write(t, "x.duckdb", "not a database")
	if _, err := Ask(t.Context(), file, "", "SELECT 1"); err == nil {
		t.Error("a text file was read")
	}
	r := synthesized(t)
	if err := Write(t.Context(), file, r.Table()); err != nil {
		t.Fatal(err)
	}
	if a, err := Ask(t.Context(), file, "", "SELECT 1"); err != nil || !reflect.DeepEqual(a.Rows, [][]any{{json.Number("1")}}) {
		t.Errorf("%v, %v", a, err)
	}
	if _, err := Ask(t.Context(), file, "", "SELECT * FROM source.main.\"the \"\"people\"\"\""); err == nil {
		t.Error("the file is still attached")
	}
	if err := os.WriteFile(file+".wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Ask(t.Context(), file, "", "SELECT 1"); err == nil || !strings.Contains(err.Error(), ".wal") {
		t.Errorf("with changes beside it: %v", err)
	}
}
