// Package sealing connects package seal with the engines that read tables' sources. Sealing is an owner's
// operation: it sees exact facts, and no question uses this package.
package sealing

import (
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
)

// Files returns a sealer that reads sources from files, and writes sealed files. Data that does not fit in memory
// goes to the folder tmp.
func Files(tmp string) *duckdb.Sealer { return duckdb.NewSealer(tmp) }

// Server returns a sealer for live tables on a PostgreSQL server.
func Server() postgres.Sealer { return postgres.Sealer{} }
