package duckdb

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"testing"

	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// A typed source holds out the units that a text with the same values does, for units of each type, and if each row is a unit.
// A function of the unit is the test's own here. The decision gets the sealed values: NULL, −0, dates as days.
func TestHoldoutOfTypedSources(t *testing.T) {
	seen := func(row []value.Value) string {
		out := ""
		for _, v := range row {
			out += fmt.Sprintf("%v|", v)
		}
		return out
	}
	for _, c := range []struct {
		source string // for i from 0 to 99
		as     value.Type
		of     func(i int64) value.Value
	}{
		{"CAST(i * 10007 - 7 AS BIGINT)", value.Integer, func(i int64) value.Value { return value.Value{Int: i*10007 - 7} }},
		{"'é' || i", value.Text, func(i int64) value.Value { return value.Value{Text: fmt.Sprint("é", i)} }},
		{"DATE '1969-12-20' + CAST(i AS INTEGER)", value.Date, func(i int64) value.Value { return value.Value{Int: i - 12} }},
		{"CASE WHEN i < 99 THEN i / 4 ELSE 'nan' END::DOUBLE", value.Real, func(i int64) value.Value {
			if i == 99 {
				return value.Value{Real: math.NaN()}
			}
			return value.Value{Real: float64(i) / 4}
		}},
		{"i % 3 = 1", value.Boolean, func(i int64) value.Value { return value.Value{Bool: i%3 == 1} }},
		{"TIMESTAMP '1970-01-01 00:00:01' + to_seconds(i)", value.Timestamp, func(i int64) value.Value { return value.Value{Int: (i + 1) * 1e6} }},
	} {
		for _, unit := range []string{"x", ""} {
			if unit == "x" && c.as != value.Integer && c.as != value.Text && c.as != value.Date {
				continue // such a column identifies nobody
			}
			source := sealTestSource(t, "CASE WHEN i <> 5 THEN "+c.source+" END", "100")
			want := map[string]int{}
			for i := range int64(100) {
				v := c.of(i)
				if v.Type = c.as; i == 5 {
					v = value.NullOf(c.as)
				}
				row := []value.Value{v}
				if unit == "" {
					row = append(row, value.Value{Type: value.Integer, Int: i})
				}
				want[seen(row)]++
			}
			table := &policy.Table{
				Name: "t", Source: source, StoredRows: 100,
				Unit: policy.Unit{Column: unit, RowsPerUnit: 100, MaxGroups: 100, RowsPerGroup: 100},
				Columns: []*policy.Column{
					{Name: "x", Type: c.as, Nullable: true, Invalid: policy.InvalidRefused},
					{Name: "held", Type: value.Boolean, Invalid: policy.InvalidRefused, Holdout: big.NewRat(1, 5)},
					{Name: "other", Type: value.Integer, Invalid: policy.InvalidRefused},
				},
			}
			held := func(row []value.Value) bool { return len(seen(row))%2 == 0 }
			expected := 0
			for row, n := range want {
				if len(row)%2 == 0 {
					expected += n
				}
			}
			file := sealTestFile(t, t.TempDir())
			if _, err := NewSealer(t.TempDir()).Import(t.Context(), file, table, []string{source.File}, held); err != nil {
				t.Fatal(c.source, err)
			}
			rows := sealTestQuery(t, "SELECT count(*), count(*) FILTER (WHERE held) FROM read_parquet("+text(file)+")")
			if got := fmt.Sprint(rows); got != fmt.Sprintf("[[100 %d]]", expected) {
				t.Errorf("%s, unit %q: %s, and %d are to be held out", c.source, unit, got, expected)
			}
		}
	}
}

// The same persons are held out of a CSV file and of a Parquet file in one home.
func TestHoldoutIsOfUnits(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(t.TempDir(), "people.parquet")
	csv := filepath.Join(t.TempDir(), "people.csv")
	rows := "COPY (SELECT CAST(i // 2 AS BIGINT) AS id, i AS other FROM range(2000) r(i)) TO "
	sealTestExec(t, "", rows+text(file)+" (FORMAT parquet)", rows+text(csv)+" (FORMAT csv)")
	var held []string
	for name, source := range map[string]policy.Source{
		"typed": {Format: policy.Parquet, Path: "people.parquet", File: file},
		"text":  {Format: policy.CSV, Path: "people.csv", File: csv, Dialect: policy.DefaultDialect("people.csv")},
	} {
		table := &policy.Table{
			Name: name, Source: source, StoredRows: 100,
			Unit: policy.Unit{Column: "id", RowsPerUnit: 100, MaxGroups: 100, RowsPerGroup: 100},
			Columns: []*policy.Column{
				{Name: "id", Type: value.Integer, Invalid: policy.InvalidRefused},
				{Name: "held", Type: value.Boolean, Invalid: policy.InvalidRefused, Holdout: big.NewRat(1, 5)},
			},
		}
		v, _, err := seal.Seal(t.Context(), home, table, NewSealer(t.TempDir()), seal.Options{
			Sheet: func(io.Reader, *policy.Table) (seal.Sheet, error) { return nil, io.EOF },
		})
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, fmt.Sprint(sealTestQuery(t, "SELECT DISTINCT id FROM read_parquet("+text(v.File)+") WHERE held ORDER BY id")))
	}
	if held[0] != held[1] || len(held[0]) < 200 { // 200 of 1,000 persons, in the mean
		t.Errorf("held out are %s, and %s", held[0], held[1])
	}
}
