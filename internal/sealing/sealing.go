// Package sealing gives package seal what reads a table's source. Sealing is the owner's act: it sees exact facts, and no question
// leads to it.
package sealing

import (
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
)

// Files reads sources that are files, and writes the sealed ones. Data that does not fit into memory goes to the folder tmp.
func Files(tmp string) *duckdb.Sealer { return duckdb.NewSealer(tmp) }

// Server looks at tables where they are, on a PostgreSQL server.
func Server() postgres.Sealer { return postgres.Sealer{} }
