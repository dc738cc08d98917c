package duckdb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// BenchmarkSealCSV seals a million rows of six columns.
func BenchmarkSealCSV(b *testing.B) {
	dir := b.TempDir()
	var file bytes.Buffer
	file.WriteString("id,age,amount,sex,member,day\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&file, "%d,%d,%d.%02d,%s,%t,2021-%02d-%02d\n", i/5, i%90, i%1000, i%100, []string{"f", "m"}[i%2],
			i%3 == 0, i%12+1, i%28+1)
	}
	path := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	table := &policy.Table{
		Name: "people", Unit: policy.Unit{Column: "id", RowsPerUnit: 5, MaxGroups: 5},
		Source: policy.Source{
			Format: policy.CSV, File: path,
			Dialect: policy.Dialect{Delimiter: ',', Quote: '"', Header: true},
		},
		Columns: []*policy.Column{
			{Name: "id", Type: value.Integer},
			{Name: "age", Type: value.Integer},
			{Name: "amount", Type: value.Real},
			{Name: "sex", Type: value.Text},
			{Name: "member", Type: value.Boolean},
			{Name: "day", Type: value.Date},
		},
	}
	b.SetBytes(int64(file.Len()))
	n := 0
	for b.Loop() {
		n++
		home := filepath.Join(dir, fmt.Sprint(n))
		v, _, err := seal.Seal(b.Context(), home, table, NewSealer(filepath.Join(home, "tmp")), seal.Options{})
		if err != nil || v.Rows != 1_000_000 {
			b.Fatal(v.Rows, err)
		}
	}
}
