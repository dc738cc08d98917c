// Package parquet writes released tables as Parquet files, with the engine's writer of sealed files. It reads no rows of
// persons.
package parquet

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"dither/internal/engine/duckdb"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/strategy/tabulate"
)

// Write writes one table to a file, whose path must be absolute. Columns are those of [tabulate.TableResult.Header].
// The value is an integer for counts, and a double for sums. An error may leave a part of the file behind.
func Write(ctx context.Context, file string, t *tabulate.TableResult) error {
	types := []value.Type{value.Real, value.Real, value.Real, value.Real, value.Boolean}
	if t.Sum == "" {
		types[0] = value.Integer
	}
	header := t.Header()
	texts := len(header) - len(types)
	table := &policy.Table{Public: true}
	for i, name := range header {
		c := &policy.Column{Name: name, Type: value.Text}
		if i >= texts {
			c.Type = types[i-texts]
		}
		table.Columns = append(table.Columns, c)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(file), ".dither-parquet-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // the writer has emptied it
	at := 0
	return duckdb.NewSealer(tmp).Write(ctx, file, table, func(row []value.Value) error {
		if at == len(t.Cells) {
			return io.EOF
		}
		c := &t.Cells[at]
		at++
		for i, text := range t.Labels(c) {
			row[i] = value.OfText(text)
		}
		v, _ := c.Value.Float64()
		row[texts] = value.OfReal(v)
		if t.Sum == "" {
			row[texts] = value.OfInt(c.Value.Num().Int64())
		}
		row[texts+1], row[texts+2], row[texts+3] = value.OfReal(c.Estimate), value.OfReal(c.StdDev), value.OfReal(c.Margin)
		row[texts+4] = value.OfBool(c.Marked)
		return nil
	})
}
