package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"dither/internal/policy"
	"dither/internal/value"
)

// SealSource describes the columns of a Parquet or DuckDB source, for the draft of a policy. It contains names and
// types, and nothing from rows.
type SealSource struct {
	Columns []SealSourceColumn
	Skipped []string // columns whose type cannot be sealed, as "name (TYPE)"
}

// SealSourceColumn is a column of a source that a policy can declare.
type SealSourceColumn struct {
	Name string
	Type value.Type
}

// DescribeSource returns the columns of a Parquet file, or of a table in a .duckdb file. If the file is a pattern,
// it describes the first file that matches.
func (s *Sealer) DescribeSource(ctx context.Context, src policy.Source) (SealSource, error) {
	var out SealSource
	if src.IsPattern() {
		if files, err := filepath.Glob(src.File); err == nil && len(files) > 0 {
			src.File = files[0]
		}
	}
	info, err := os.Stat(src.File)
	if err != nil {
		return out, err
	}
	if !info.Mode().IsRegular() {
		return out, fmt.Errorf("%s is not a regular file", src.File)
	}
	err = s.with(ctx, func(conn *sql.Conn) error {
		source, err := openSealSource(ctx, conn, src, []string{src.File})
		if err != nil {
			return err
		}
		for _, name := range source.names {
			kind := source.types[name]
			t, ok := sealDraftType(kind)
			if !ok {
				out.Skipped = append(out.Skipped, fmt.Sprintf("%s (%s)", name, sealKindName(kind)))
				continue
			}
			out.Columns = append(out.Columns, SealSourceColumn{Name: name, Type: t})
		}
		return nil
	})
	return out, err
}

// Tables returns the names of the base tables in a .duckdb file, those of the schema main alone.
func (s *Sealer) Tables(ctx context.Context, file string) (names []string, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error {
		if err := attachSealFile(ctx, conn, file); err != nil {
			return err
		}
		rows, err := conn.QueryContext(ctx, "SELECT table_name FROM duckdb_tables() WHERE database_name = 'dither_source' "+
			"AND schema_name = 'main' ORDER BY table_name")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names, err
}

// sealDraftType returns the type that a draft declares for a source's type: the first, in the order of the loop, to
// which sealing can convert it. It returns false if there is none.
func sealDraftType(kind string) (value.Type, bool) {
	for _, t := range []value.Type{
		value.Integer, value.Real, value.Boolean, value.Date, value.Timestamp, value.Time, value.Text,
	} {
		if sealable(kind, t) {
			return t, true
		}
	}
	return 0, false
}
