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

// SealSource is what a typed source contributes to a policy's draft: names and types, and nothing from rows.
type SealSource struct {
	Columns []SealSourceColumn
	Skipped []string // "name (TYPE)": columns of types that are not sealed
}

// SealSourceColumn is a column that could be declared.
type SealSourceColumn struct {
	Name string
	Type value.Type
}

// DescribeSource reads the columns of a Parquet file (the first that a pattern matches), or of a table in a .duckdb
// file.
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

// sealDraftType is the first type, in this order, to which a source's type can be converted.
func sealDraftType(kind string) (value.Type, bool) {
	for _, t := range []value.Type{value.Integer, value.Real, value.Boolean, value.Date, value.Text} {
		if sealable(kind, t) {
			return t, true
		}
	}
	return 0, false
}
