// Package sealing connects package seal with the engines and libraries that read tables' sources. Sealing is an
// owner's operation: it sees exact facts, and no question uses this package.
package sealing

import (
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
