package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

func sealTestTable() *policy.Table {
	return &policy.Table{
		Name: "all types",
		Source: policy.Source{
			Format: policy.CSV, Path: "all.csv",
			Dialect: policy.Dialect{Delimiter: ',', Quote: '"', Header: true},
		},
		Unit: policy.Unit{RowsPerUnit: 1, MaxGroups: 1},
		Columns: []*policy.Column{
			{Name: "i", Type: value.Integer, Nullable: true},
			{Name: `r "quoted" 'name'`, Type: value.Real, Nullable: true},
			{Name: "t", Type: value.Text, Nullable: true},
			{Name: "b", Type: value.Boolean, Nullable: true},
			{Name: "select", Type: value.Date, Nullable: true},
		},
	}
}

// sealTestQuery runs a query in a database of its own and returns the rows as texts.
func sealTestQuery(t testing.TB, query string) [][]string {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM (SELECT COLUMNS(*)::VARCHAR FROM ("+query+"))")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(names))
		for i, c := range cells {
			row[i] = "NULL"
			if c.Valid {
				row[i] = c.String
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// sealTestExec runs statements in a database file or, for "", in memory.
func sealTestExec(t testing.TB, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

func sealTestFile(t testing.TB, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "sealed.parquet")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sealTestRows(rows [][]value.Value) func([]value.Value) error {
	return func(row []value.Value) error {
		if len(rows) == 0 {
			return io.EOF
		}
		copy(row, rows[0])
		rows = rows[1:]
		return nil
	}
}

// What is written is what is read back: every type's extremes, NULLs, across chunks, in order, in a private file, and
// the same bytes each time.
func TestSealerWrite(t *testing.T) {
	table := sealTestTable()
	rows := [][]value.Value{
		{value.OfInt(math.MinInt64), value.OfReal(math.Inf(-1)), value.OfText(""), value.OfBool(false), value.OfDay(value.MinDay)},
		{value.OfInt(math.MaxInt64), value.OfReal(math.NaN()), value.OfText("é'\"\n\\"), value.OfBool(true), value.OfDay(value.MaxDay)},
		{value.NullOf(value.Integer), value.NullOf(value.Real), value.NullOf(value.Text), value.NullOf(value.Boolean), value.NullOf(value.Date)},
		{value.OfInt(0), value.OfReal(5e-324), value.OfText(strings.Repeat("x", value.MaxTextBytes)), value.OfBool(false), value.OfDay(-1)},
	}
	for i := range 5000 {
		rows = append(rows, []value.Value{
			value.OfInt(int64(i)), value.OfReal(float64(i) / 7), value.NullOf(value.Text),
			value.OfBool(i%2 == 0), value.OfDay(int64(i)),
		})
	}
	var first []byte
	for range 2 {
		tmp := filepath.Join(t.TempDir(), "tmp")
		file := sealTestFile(t, t.TempDir())
		if err := NewSealer(tmp).Write(t.Context(), file, table, sealTestRows(rows)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
			t.Errorf("left in tmp: %v, %v", entries, err)
		}
		got := sealTestQuery(t, "SELECT * FROM read_parquet("+text(file)+")")
		if len(got) != len(rows) {
			t.Fatalf("%d rows", len(got))
		}
		want := [][]string{
			{"-9223372036854775808", "-inf", "", "false", "0001-01-01"},
			{"9223372036854775807", "nan", "é'\"\n\\", "true", "9999-12-31"},
			{"NULL", "NULL", "NULL", "NULL", "NULL"},
			{"0", "5e-324", strings.Repeat("x", value.MaxTextBytes), "false", "1969-12-31"},
		}
		if diff := cmp.Diff(want, got[:4]); diff != "" {
			t.Error(diff)
		}
		if last := got[len(got)-1]; last[0] != "4999" || last[2] != "NULL" || last[4] != "1983-09-09" {
			t.Errorf("the last row is %q", last)
		}
		described := sealTestQuery(t,
			"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet("+text(file)+"))")
		if diff := cmp.Diff([][]string{
			{"i", "BIGINT"},
			{`r "quoted" 'name'`, "DOUBLE"},
			{"t", "VARCHAR"},
			{"b", "BOOLEAN"},
			{"select", "DATE"},
		}, described); diff != "" {
			t.Error(diff)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && string(first) != string(content) {
			t.Error("the same rows made another file")
		}
		first = content
	}
}

func TestSealerWriteFails(t *testing.T) {
	broken := errors.New("broken")
	s, file := NewSealer(t.TempDir()), sealTestFile(t, t.TempDir())
	n := 0
	err := s.Write(t.Context(), file, sealTestTable(), func(row []value.Value) error {
		for i, c := range sealTestTable().Columns {
			row[i] = value.NullOf(c.Type)
		}
		if n++; n > 3000 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("next's error is lost: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Write(ctx, file, sealTestTable(), sealTestRows(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := s.Write(t.Context(), "/dev/full", sealTestTable(), sealTestRows(nil)); err == nil ||
		!strings.Contains(err.Error(), "DuckDB: IO Error") {
		t.Errorf("full disk: %v", err)
	}
	if err := s.Write(t.Context(), filepath.Join(t.TempDir(), "no", "such"), sealTestTable(),
		sealTestRows(nil)); err == nil {
		t.Error("written to a folder that is not there")
	}
	twins := sealTestTable()
	twins.Columns[2].Name = "I"
	if err := s.Write(t.Context(), file, twins, sealTestRows(nil)); err == nil ||
		!strings.Contains(err.Error(), "differ only in case") {
		t.Errorf("twins: %v", err)
	}
	if err := NewSealer("/proc/no").Write(t.Context(), file, sealTestTable(), sealTestRows(nil)); err == nil {
		t.Error("spills into /proc")
	}
}

func TestSealerInspect(t *testing.T) {
	table := &policy.Table{
		Name: "t", Unit: policy.Unit{Column: "u", RowsPerUnit: 3, MaxGroups: 1},
		Columns: []*policy.Column{
			{Name: "u", Type: value.Text, Nullable: true},
			{Name: "i", Type: value.Integer, Nullable: true, Lower: big.NewRat(-3, 2), Upper: big.NewRat(5, 2)},
			{Name: "r", Type: value.Real, Nullable: true, Lower: big.NewRat(1, 10), Upper: big.NewRat(3, 10)},
			{Name: "d", Type: value.Date, Nullable: true, Lower: big.NewRat(0, 1), Upper: big.NewRat(10, 1)},
			{Name: "v", Type: value.Text, Nullable: true, Values: []value.Value{value.OfText("it's"), value.OfText("b")}},
			{Name: "e", Type: value.Date, Nullable: true, Values: []value.Value{value.OfDay(5)}},
			{Name: "s", Type: value.Real, Lower: big.NewRat(-1, 10), Upper: big.NewRat(1, 10)},
		},
	}
	text, day := value.OfText, value.OfDay
	null := func(i int) value.Value { return value.NullOf(table.Columns[i].Type) }
	rows := [][]value.Value{
		{text("x"), value.OfInt(-2), value.OfReal(0.1), day(-1), text("it's"), day(5), value.OfReal(0.1)}, // the double 0.1 is above 1/10
		{text("x"), value.OfInt(-1), value.OfReal(math.Nextafter(0.1, 0)), day(0), text("b"), day(6), value.OfReal(-0.1)},
		{text("y"), value.OfInt(2), value.OfReal(0.3), day(10), text("B"), null(5), value.OfReal(math.Nextafter(0.1, 1))}, // the double 0.3 is below 3/10
		{null(0), value.OfInt(3), value.OfReal(math.Nextafter(0.3, 1)), day(11), null(4), null(5), value.OfReal(0)},
		{null(0), null(1), value.OfReal(math.NaN()), null(3), null(4), null(5), value.OfReal(0)},
		{text(""), null(1), value.OfReal(math.Inf(1)), null(3), null(4), null(5), value.OfReal(0)},
	}
	folder := filepath.Join(t.TempDir(), "k=v [1]*?'\"")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s, file := NewSealer(t.TempDir()), sealTestFile(t, folder)
	if err := s.Write(t.Context(), file, table, sealTestRows(rows)); err != nil {
		t.Fatal(err)
	}
	got, err := s.Inspect(t.Context(), file, table)
	if err != nil {
		t.Fatal(err)
	}
	want := seal.Facts{Rows: 6, Units: 3, MaxRowsPerUnit: 2, NullUnits: 2, Columns: []seal.ColumnFacts{
		{Name: "u", Nulls: 2},
		{Name: "i", Nulls: 2, Outside: 2},
		{Name: "r", Special: 2, Outside: 2},
		{Name: "d", Nulls: 2, Outside: 2},
		{Name: "v", Nulls: 3, Outside: 1, Similar: 1},
		{Name: "e", Nulls: 4, Outside: 1},
		{Name: "s", Outside: 1}, // not the values that read as the bounds
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i := range int64(manyValues) { // long lists are compared in another way
		table.Columns[4].Values = append(table.Columns[4].Values, text(fmt.Sprintf("further %d", i)))
		table.Columns[5].Values = append(table.Columns[5].Values, day(1000+i))
	}
	if got, err = s.Inspect(t.Context(), file, table); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	table.Columns[5].Values = table.Columns[5].Values[:1]
	for _, i := range []int{1, 3} { // bounds beyond 64 bits, and no value inside
		table.Columns[i].Lower, table.Columns[i].Upper = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(-1), 200)),
			new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 200))
	}
	table.Columns[2].Lower, table.Columns[2].Upper = big.NewRat(7, 1), big.NewRat(8, 1)
	table.Unit, table.Columns[4].Values = policy.Unit{RowsPerUnit: 1}, []value.Value{}
	if got, err = s.Inspect(t.Context(), file, table); err != nil {
		t.Fatal(err)
	}
	want.Units, want.MaxRowsPerUnit, want.NullUnits = 6, 1, 0
	for i, n := range []int64{0, 0, 4, 0, 3, 1, 1} {
		want.Columns[i].Outside = n
	}
	want.Columns[4].Similar = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Units that differ only in case or blanks are counted, but stay different persons.
func TestSimilarUnitsAreCounted(t *testing.T) {
	table := &policy.Table{
		Name: "t", Unit: policy.Unit{Column: "u", RowsPerUnit: 3, MaxGroups: 1},
		Columns: []*policy.Column{{Name: "u", Type: value.Text, Nullable: true}},
	}
	var rows [][]value.Value
	for _, u := range []string{"A7", "a7", "a7", " A7\u00a0", "B", "C ", "c", "É", "é", ""} {
		rows = append(rows, []value.Value{value.OfText(u)})
	}
	rows = append(rows, []value.Value{value.NullOf(value.Text)})
	s, file := NewSealer(t.TempDir()), sealTestFile(t, t.TempDir())
	if err := s.Write(t.Context(), file, table, sealTestRows(rows)); err != nil {
		t.Fatal(err)
	}
	facts, err := s.Inspect(t.Context(), file, table)
	if err != nil || facts.SimilarUnits != 7 || facts.Units != 9 {
		t.Errorf("%d of %d units, %v; want 7 of 9", facts.SimilarUnits, facts.Units, err)
	}
}

// A CSV file goes through the store and comes back, an empty one too.
func TestSealCSV(t *testing.T) {
	dir := t.TempDir()
	table := sealTestTable()
	table.Source.File = filepath.Join(dir, "all.csv")
	sealer, options := NewSealer(filepath.Join(dir, "tmp")), seal.Options{Getenv: func(string) string { return "" }}
	header := "i,\"r \"\"quoted\"\" 'name'\",t,b,select\n"
	for n, c := range []struct {
		rows string
		want int64
	}{{"", 0}, {"1,nan,\"a\nb\",t,2000-01-01\n,,,,\n", 2}} {
		if err := os.WriteFile(table.Source.File, []byte(header+c.rows), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, unchanged := range []bool{false, true} {
			v, report, err := seal.Seal(t.Context(), dir, table, sealer, options)
			if err != nil || v.Number != n+1 || v.Rows != c.want || report.Unchanged != unchanged {
				t.Errorf("%+v, %+v, %v", v, report, err)
			}
			if got := sealTestQuery(t, "SELECT * FROM read_parquet("+text(v.File)+")"); int64(len(got)) != c.want {
				t.Errorf("%q", got)
			}
		}
	}
	if err := os.WriteFile(table.Source.File,
		[]byte(header+strings.Repeat("1,2,x,t,2000-01-01\n", 5000)+"1,2,s3cret,s3cret,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := seal.Seal(t.Context(), dir, table, sealer, options)
	var fault *csvtable.Error
	if !errors.As(err, &fault) || fault.Row != 5001 || fault.Column != "b" || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("left in tmp: %v, %v", entries, err)
	}
}
