package duckdb

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/internal/zone"
)

func sealTestImport(t testing.TB, table *policy.Table) ([][]string, []csvtable.Invalid, error) {
	t.Helper()
	file := sealTestFile(t, t.TempDir())
	invalids, err := NewSealer(t.TempDir()).Import(t.Context(), file, table, []string{table.Source.File}, nil)
	if err != nil {
		return nil, nil, err
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	return sealTestQuery(t, "SELECT * FROM read_parquet("+text(file)+")"), invalids, nil
}

// One column x of a source, made by an SQL expression over i, the row's number from 0.
func sealTestSource(t testing.TB, expression, rows string) policy.Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), "source.parquet")
	sealTestExec(
		t, "", "COPY (SELECT "+expression+" AS x, i AS other FROM range("+rows+") r(i)) TO "+text(
			file)+" (FORMAT parquet)")
	return policy.Source{Format: policy.Parquet, Path: "source.parquet", File: file}
}

// sealTestDatabase is the same in a database file, for types that Parquet does not keep.
func sealTestDatabase(t testing.TB, expression, rows string) policy.Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), "it's a.duckdb")
	sealTestExec(t, file,
		`CREATE TABLE "my ""table""" AS SELECT `+expression+" AS x, i AS other FROM range("+rows+") r(i)", "CHECKPOINT")
	return policy.Source{Format: policy.DuckDB, Path: "a.duckdb", File: file, Table: `my "table"`}
}

func TestImportTypes(t *testing.T) {
	for _, c := range []struct {
		source string // for i from 0 to 1
		as     value.Type
		want   string // both values, or the error
	}{
		{"i::TINYINT", value.Integer, "0 1"},
		{"i::UINTEGER", value.Integer, "0 1"},
		{"i::BIGINT", value.Integer, "0 1"},
		{"(i*9223372036854775807)::UBIGINT", value.Integer, "0 9223372036854775807"},
		{"(-i*9223372036854775807 - i)::HUGEINT", value.Integer, "0 -9223372036854775808"},
		{"i::UHUGEINT", value.Integer, "0 1"},
		{"i::DECIMAL(5,0)", value.Integer, "0 1"},
		{"i::DECIMAL(38,0)", value.Integer, "0 1"},
		{"i::DECIMAL(5,1)", value.Integer, "declared as integer, but the source has DECIMAL(5,1)"},
		{"i::DOUBLE", value.Integer, "declared as integer, but the source has DOUBLE"},
		{"i::VARCHAR", value.Integer, "declared as integer, but the source has VARCHAR"},
		{"i = 1", value.Integer, "declared as integer, but the source has BOOLEAN"},
		{"(i/2)::FLOAT", value.Real, "0.0 0.5"},
		{"CASE i WHEN 0 THEN 'nan' ELSE '-inf' END::DOUBLE", value.Real, "nan -inf"},
		{"(i/4)::DECIMAL(9,2)", value.Real, "0.0 0.25"},
		{"i::HUGEINT", value.Real, "0.0 1.0"},
		{"i::VARCHAR", value.Real, "declared as real, but the source has VARCHAR"},
		{"'é' || i", value.Text, "é0 é1"},
		{"CASE i WHEN 0 THEN 's3cret' ELSE 'b' END::ENUM('s3cret', 'b')", value.Text, "s3cret b"},
		{"('00000000-0000-0000-0000-00000000000' || i)::UUID", value.Text, "00000000-0000-0000-0000-000000000000 00000000-0000-0000-0000-000000000001"},
		{"'s3cret'::BLOB", value.Text, "declared as text, but the source has BLOB"},
		{"['s3cret']", value.Text, "declared as text, but the source has VARCHAR[]"},
		{"'b'::ENUM('s3cret', 'b')", value.Integer, "declared as integer, but the source has ENUM"},
		{"i = 1", value.Boolean, "false true"},
		{"i", value.Boolean, "declared as boolean, but the source has BIGINT"},
		{"DATE '2000-01-01' + i::INTEGER", value.Date, "2000-01-01 2000-01-02"},
		{"TIMESTAMP '1970-01-01 00:00:01.5' + INTERVAL (i) MICROSECOND", value.Timestamp, "1500000 1500001"},
		{"(TIMESTAMP '1970-01-01 00:00:01' + INTERVAL (i) SECOND)::TIMESTAMP_S", value.Timestamp, "1000000 2000000"},
		{"(TIMESTAMP '1970-01-01 00:00:01' + INTERVAL (i) MILLISECOND)::TIMESTAMP_MS", value.Timestamp, "1000000 1001000"},
		{"make_timestamp_ns(1500 + 999 * i)", value.Timestamp, "1 2"},
		{"CASE i WHEN 0 THEN '1970-01-01 02:00:00.25+02' ELSE '1999-12-31 19:00:00-05' END::TIMESTAMPTZ", value.Timestamp, "250000 946684800000000"},
		{"TIME '00:00:01' + INTERVAL (i) MICROSECOND", value.Time, "1000000 1000001"},
		{"i", value.Timestamp, "declared as timestamp, but the source has BIGINT"},
		{"DATE '2000-01-01'", value.Timestamp, "declared as timestamp, but the source has DATE"},
		{"TIMESTAMP '2000-01-01 00:00:00'", value.Date, "declared as date, but the source has TIMESTAMP"},
		// values that do not fit
		{"(i*9223372036854775808)::UBIGINT", value.Integer, `row 2, column "x": the value cannot be read as integer`},
		{"(i*1e30)::HUGEINT", value.Integer, `row 2, column "x": the value cannot be read as integer`},
		{"repeat('é', 2048 + i::INTEGER)", value.Text, `row 2, column "x": the value cannot be read as text`},
		{"CASE i WHEN 1 THEN 's3cret' || chr(0) ELSE 'a' END", value.Text, `row 2, column "x": the value cannot be read as text`},
		{"CASE i WHEN 1 THEN 'infinity' ELSE '2000-01-01' END::DATE", value.Date, `row 2, column "x": the value cannot be read as date`},
		{"CASE i WHEN 1 THEN '0001-01-01 (BC)' ELSE '2000-01-01' END::DATE", value.Date, `row 2, column "x": the value cannot be read as date`},
		{"nullif(i, 1)", value.Integer, `row 2, column "x": the value is NULL, but the column is not declared nullable`},
	} {
		table := &policy.Table{
			Name: "t", Source: sealTestDatabase(t, c.source, "2"),
			Columns: []*policy.Column{{Name: "x", Type: c.as}},
		}
		rows, _, err := sealTestImport(t, table)
		got := ""
		if err != nil {
			got = err.Error()
			if strings.Contains(got, "s3cret") {
				t.Errorf("%s quotes a cell: %s", c.source, got)
			}
		} else {
			got = rows[0][0] + " " + rows[1][0]
		}
		if err != nil && strings.Contains(got, c.want) && errors.As(err, new(*csvtable.Error)) {
			continue
		}
		if got != c.want {
			t.Errorf("%s as %s: %q, want %q", c.source, c.as, got, c.want)
		}
	}
}

// The error lists the faults of all columns, with their numbers and first rows.
func TestImportListsAllFaults(t *testing.T) {
	table := &policy.Table{
		Name: "t", Source: sealTestDatabase(t, "nullif(i, 1) AS __dither_n, repeat('x', 4096 + i::INTEGER)", "4"),
		Columns: []*policy.Column{
			{Name: "__dither_n", Type: value.Integer},
			{Name: "x", Type: value.Text},
		},
	}
	_, _, err := sealTestImport(t, table)
	want := "2 columns have faults:\n- column \"__dither_n\", 1 field in row 2: the value is NULL, but the column is not " +
		"declared nullable\n- column \"x\", 3 fields in rows 2, …: the value cannot be read as text"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	table.Columns = []*policy.Column{{Name: "no", Type: value.Date}, {Name: "other", Type: value.Date}}
	_, _, err = sealTestImport(t, table)
	want = "2 columns have faults:\n- column \"no\": the source has no such column\n" +
		"- column \"other\": declared as date, but the source has BIGINT"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestImportEmpty(t *testing.T) {
	table := &policy.Table{
		Name: "t", Source: sealTestSource(t, "i", "0"),
		Columns: []*policy.Column{{Name: "x", Type: value.Real}},
	}
	if rows, invalids, err := sealTestImport(t, table); err != nil || len(rows)+len(invalids) > 0 {
		t.Errorf("%q, %v, %v", rows, invalids, err)
	}
}

func TestImportInvalidIsNull(t *testing.T) {
	table := &policy.Table{
		Name: "t", Source: sealTestSource(t,
			"CASE WHEN i % 100000 = 99999 THEN repeat('x', 5000) WHEN i > 5 THEN 'y' END", "300000"),
		Columns: []*policy.Column{
			{Name: "x", Type: value.Text, Nullable: true, Invalid: policy.InvalidIsNull},
			{Name: "other", Type: value.Integer},
		},
	}
	rows, invalids, err := sealTestImport(t, table)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]csvtable.Invalid{{Column: "x", Count: 3, FirstRow: 100000}}, invalids); diff != "" {
		t.Error(diff)
	}
	if len(rows) != 300000 || rows[199999][0] != "NULL" || rows[199998][0] != "y" || rows[199999][1] != "199999" {
		t.Errorf("%d rows, %q", len(rows), rows[199999])
	}
}

// A path means the one file of that name, whatever it would match as a pattern.
func TestImportPaths(t *testing.T) {
	for _, name := range []string{
		"a*b", "a?b", "a[x]b", "a[!y]b", "**", "it's", `say "x"`, "a b", "x=7", "{a,b}",
		"100%", "#;--", "é", `back\slash`,
	} {
		dir := t.TempDir()
		for i, n := range []string{name, "axb"} {
			folder := filepath.Join(dir, n)
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			sealTestExec(t, "", "COPY (SELECT "+string(rune('0'+i))+" AS x) TO "+text(filepath.Join(folder,
				n+".parquet"))+" (FORMAT parquet)")
		}
		table := &policy.Table{
			Name: "t", Columns: []*policy.Column{{Name: "x", Type: value.Integer}},
			Source: policy.Source{Format: policy.Parquet, File: filepath.Join(dir, name, name+".parquet")},
		}
		if rows, _, err := sealTestImport(t, table); err != nil || len(rows) != 1 || rows[0][0] != "0" {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
	table := &policy.Table{
		Name: "t", Columns: []*policy.Column{{Name: "x", Type: value.Integer}},
		Source: policy.Source{Format: policy.Parquet, File: `/data/a\*b.parquet`},
	}
	if _, _, err := sealTestImport(t, table); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("%v", err)
	}
}

func TestImportRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := sealTestSource(t, "i", "10")
	content, err := os.ReadFile(good.File)
	if err != nil {
		t.Fatal(err)
	}
	database := sealTestDatabase(t, "i", "10")
	noTable := database
	noTable.Table = "x"
	view := filepath.Join(dir, "view.duckdb")
	sealTestExec(t, view, "CREATE VIEW v AS SELECT 1 AS x", "CHECKPOINT")
	dirty := sealTestDatabase(t, "i", "10")
	if err := os.WriteFile(dirty.File+".wal", []byte("changes"), 0o600); err != nil {
		t.Fatal(err)
	}
	badText := sealTestSource(t, "'s3cret\u00e9'", "1")
	raw, err := os.ReadFile(badText.File)
	if err != nil {
		t.Fatal(err)
	}
	parquet := func(file string) policy.Source { return policy.Source{Format: policy.Parquet, File: file} }
	for _, c := range []struct {
		name string
		src  policy.Source
		want string
	}{
		{"no Parquet", parquet(write("a", "s3cret, not parquet at all")), "not Parquet"},
		{"empty", parquet(write("b", "")), "not Parquet"},
		{"cut off", parquet(write("c", string(content[:len(content)/2]))), "not Parquet"},
		{"damaged", parquet(write("d", string(content[:4])+strings.Repeat("\xff", 40)+string(content[44:]))), "DuckDB"},
		{"missing", parquet(filepath.Join(dir, "none")), "DuckDB"},
		{"folder", parquet(dir), "DuckDB"},
		{"no database", policy.Source{Format: policy.DuckDB, File: write("e", "s3cret"), Table: "t"}, "DuckDB"},
		{"no such table", noTable, `the database has no table "x"`},
		{"view", policy.Source{Format: policy.DuckDB, File: view, Table: "v"}, `the database has no table "v"`},
		{"not checkpointed", dirty, ".wal file"},
		{"CSV", policy.Source{Format: policy.CSV, File: write("f", "x\n1\n")}, "not imported"},
		{"bad UTF-8", parquet(write("g", strings.ReplaceAll(string(raw), "s3cret\u00e9", "s3cret\xff\xff"))), "not valid UTF-8"},
	} {
		table := &policy.Table{Name: "t", Source: c.src, Columns: []*policy.Column{{Name: "x", Type: value.Integer}}}
		if c.name == "bad UTF-8" {
			table.Columns[0].Type = value.Text
		}
		_, _, err := sealTestImport(t, table)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	_, _, err = sealTestImport(t,
		&policy.Table{Name: "t", Source: good, Columns: []*policy.Column{{Name: "X", Type: value.Integer}}})
	if err == nil || !strings.Contains(err.Error(), `column "X": the source has no such column`) {
		t.Errorf("%v", err)
	}
}

func TestDescribeSource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.duckdb")
	sealTestExec(t, file, `CREATE TABLE t (a HUGEINT, b DECIMAL(9,2), c DECIMAL(9,0), d FLOAT, e BOOLEAN, f DATE, g ENUM('s3cret'), h UUID,
		i TIMESTAMP, j INTEGER[], k ENUM('s3cret')[])`, "CHECKPOINT")
	got, err := NewSealer(t.TempDir()).DescribeSource(t.Context(),
		policy.Source{Format: policy.DuckDB, File: file, Table: "t"})
	want := SealSource{
		Columns: []SealSourceColumn{
			{"a", value.Integer},
			{"b", value.Real},
			{"c", value.Integer},
			{"d", value.Real},
			{"e", value.Boolean},
			{"f", value.Date},
			{"g", value.Text},
			{"h", value.Text},
			{"i", value.Timestamp},
		},
		Skipped: []string{"j (INTEGER[])", "k (ENUM)"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := NewSealer(t.TempDir()).DescribeSource(t.Context(),
			policy.Source{Format: policy.Parquet, File: bad}); err == nil {
			t.Errorf("%s is described", bad)
		}
	}
}

// Several Parquet files are one table if they have the same columns, of the same types, in whichever order.
func TestImportFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, columns string) string {
		file := filepath.Join(folder, name)
		sealTestExec(t, "", "COPY (SELECT "+columns+" FROM range(2) r(i)) TO "+text(file)+" (FORMAT parquet)")
		return file
	}
	a, b := write("a.parquet", "i AS x, 'a' AS y"), write("b.parquet", "'b' AS y, i + 10 AS x, true AS z")
	table := &policy.Table{
		Name: "t", Public: true,
		Source:  policy.Source{Format: policy.Parquet, Path: "*.parquet", File: filepath.Join(folder, "*.parquet")},
		Columns: []*policy.Column{{Name: "x", Type: value.Integer}, {Name: "y", Type: value.Text}},
	}
	into := sealTestFile(t, t.TempDir())
	if _, err := NewSealer(t.TempDir()).Import(t.Context(), into, table, []string{a, b}, nil); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"0", "a"}, {"1", "a"}, {"10", "b"}, {"11", "b"}}
	if diff := cmp.Diff(want,
		sealTestQuery(t, "SELECT x, y FROM read_parquet("+text(into)+") ORDER BY x")); diff != "" {
		t.Error(diff)
	}
	for columns, wrong := range map[string]string{
		"i AS x":                   `column "y" is VARCHAR in the first and no such column in the second`,
		"i::DOUBLE AS x, 'b' AS y": `column "x" is BIGINT in the first and DOUBLE in the second`,
	} {
		c := write("c.parquet", columns)
		if _, err := NewSealer(t.TempDir()).Import(t.Context(), into, table, []string{a, c}, nil); err == nil ||
			!strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", columns, err)
		}
	}
}

// A moment becomes the time that clocks in the policy's zone show, also at the changes of clocks and outside the years for
// which statements have a table of the zone's offsets.
func TestImportMomentsInAZone(t *testing.T) {
	berlin, err := zone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	source := sealTestSource(t, `CASE i WHEN 0 THEN '2025-03-30 00:59:59+00' WHEN 1 THEN '2025-03-30 01:00:00+00' WHEN 2 THEN '1700-01-01 00:00:00+00' `+
		`WHEN 3 THEN 'infinity' END::TIMESTAMPTZ`, "5")
	table := &policy.Table{Name: "t", Source: source, Columns: []*policy.Column{
		{Name: "x", Type: value.Timestamp, Nullable: true, Invalid: policy.InvalidIsNull, Zone: berlin},
	}}
	got, invalids, err := sealTestImport(t, table)
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) string {
		v, err := value.ParseTimestamp(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatInt(v.Int, 10)
	}
	want := [][]string{{at("2025-03-30 01:59:59")}, {at("2025-03-30 03:00:00")}, {"NULL"}, {"NULL"}, {"NULL"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(invalids) != 1 || invalids[0].Count != 2 {
		t.Errorf("%+v are invalid", invalids)
	}
}
