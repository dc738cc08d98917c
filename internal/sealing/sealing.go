// Package sealing connects package seal with the engines and libraries that read tables' sources. Sealing is an
// owner's operation: it sees exact facts, and no question uses this package.
package sealing

import (
	"context"
	"fmt"
	"io"

	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/xlsxtable"
)

// Files returns a sealer that reads sources from files, and writes sealed files. Data that does not fit in memory
// goes to the folder tmp.
func Files(tmp string) *duckdb.Sealer { return duckdb.NewSealer(tmp) }

// Server returns a sealer for live tables on a PostgreSQL server.
func Server() postgres.Sealer { return postgres.Sealer{} }

// Sheet opens the sheet of a table's workbook for sealing.
func Sheet(in io.Reader, t *policy.Table) (seal.Sheet, error) {
	book, err := xlsxtable.Open(in)
	if err != nil {
		return nil, err
	}
	return xlsxtable.New(book, t.Source, t.Columns)
}

// SketchSheets returns the names and types of the columns of a workbook's sheets: of the named one, or of all visible
// ones if the name is "". The names of the sheets are in the workbook's order.
func SketchSheets(in io.Reader, name string) (sheets []string, columns map[string][]policy.SketchColumn, err error) {
	book, err := xlsxtable.Open(in)
	if err != nil {
		return nil, nil, err
	}
	if sheets = []string{name}; name == "" {
		sheets = book.Sheets()
	}
	columns = map[string][]policy.SketchColumn{}
	for _, sheet := range sheets {
		if columns[sheet], err = book.Sketch(sheet); err != nil {
			return nil, nil, fmt.Errorf("sheet %q: %w", sheet, err)
		}
	}
	return sheets, columns, nil
}

// DescribeServer lists the tables on a PostgreSQL server. The server is that of the source, or the one at url if that
// is not "".
func DescribeServer(ctx context.Context, source policy.Source, url string) ([]policy.Sketch, []string, error) {
	tables, err := Server().Describe(ctx, source, url)
	var sketches []policy.Sketch
	var skipped []string
	for _, t := range tables {
		s := policy.Sketch{Table: t.Table, Source: source}
		s.Source.Schema, s.Source.Table = t.Schema, t.Table
		for _, c := range t.Columns {
			s.Columns = append(s.Columns, policy.SketchColumn{Name: c.Name, Type: c.Type})
		}
		for _, name := range t.Skipped {
			skipped = append(skipped, t.Table+"."+name)
		}
		if len(s.Columns) > 0 {
			sketches = append(sketches, s)
		}
	}
	return sketches, skipped, err
}
