package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"dither/internal/value"
	"dither/synth"
)

// types holds the DuckDB type of each type of a column.
var types = map[value.Type]string{
	value.Integer: "BIGINT", value.Real: "DOUBLE", value.Text: "VARCHAR", value.Boolean: "BOOLEAN", value.Date: "DATE",
	value.Timestamp: "TIMESTAMP", value.Time: "TIME",
}

// CheckFile returns an error if a DuckDB file of this name cannot be written. Changes of an older file that were never
// checkpointed would otherwise become part of the new one.
func CheckFile(file string) error {
	if _, err := os.Lstat(file + ".wal"); err == nil {
		return fmt.Errorf("%s has a file .wal beside it, with changes of another database: close the programs that use it, "+
			"or remove it", file)
	}
	return nil
}

// Write writes the rows of a table into a DuckDB file of one table, in order. It replaces the file, whose path is
// absolute, or leaves it unchanged on an error.
func Write(ctx context.Context, file string, t *synth.Table) error {
	return written(ctx, file, t, false)
}

// WriteParquet is Write for a Parquet file.
func WriteParquet(ctx context.Context, file string, t *synth.Table) error {
	return written(ctx, file, t, true)
}

func written(ctx context.Context, file string, t *synth.Table, parquet bool) (err error) {
	if !filepath.IsAbs(file) { // DuckDB would expand ~/x
		return fmt.Errorf("%s is not an absolute path", file)
	}
	var kinds []value.Type
	var declared []string
	for _, c := range t.Columns {
		kind, known := value.ParseType(c.Type)
		if !known {
			return fmt.Errorf("there is no type %q", c.Type)
		}
		kinds = append(kinds, kind)
		declared = append(declared, identifier(c.Name)+" "+types[kind])
	}
	tmp, err := os.MkdirTemp(filepath.Dir(file), ".dither-duckdb-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	made, copied := filepath.Join(tmp, "rows.duckdb"), filepath.Join(tmp, "rows.parquet")
	err = with(ctx, func(c *duckdb.Conn) error {
		for _, statement := range []string{
			"ATTACH " + text(made) + " AS made (TYPE duckdb)",
			"CREATE TABLE made.main." + identifier(t.Name) + " (" + strings.Join(declared, ", ") + ")",
		} {
			if _, err := c.ExecContext(ctx, statement, nil); err != nil {
				return plain(err)
			}
		}
		if err := appendRows(ctx, c, t, kinds); err != nil {
			return plain(err)
		}
		last := "DETACH made" // writes everything into the file
		if parquet {
			last = "COPY made.main." + identifier(t.Name) + " TO " + text(copied) + " (FORMAT parquet, COMPRESSION zstd)"
		}
		_, err := c.ExecContext(ctx, last, nil)
		return plain(err)
	})
	if err != nil {
		return err
	}
	if parquet {
		made = copied
	}
	if err := os.Chmod(made, 0o600); err != nil {
		return err
	}
	return os.Rename(made, file)
}

// appendRows writes the rows into the table.
func appendRows(ctx context.Context, c *duckdb.Conn, t *synth.Table, kinds []value.Type) (err error) {
	a, err := duckdb.NewAppender(c, "made", "main", t.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	row := make([]driver.Value, len(kinds))
	return t.Each(func(texts []string, null []bool) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, kind := range kinds {
			if row[i] = nil; null[i] {
				continue
			}
			v, err := value.Parse(kind, texts[i])
			if err != nil {
				return err
			}
			row[i] = stored(v)
		}
		return a.AppendRow(row...)
	})
}

// stored returns a value, which is not NULL, as the driver takes it.
func stored(v value.Value) driver.Value {
	switch v.Type {
	case value.Real:
		return v.Real
	case value.Text:
		return v.Text
	case value.Boolean:
		return v.Bool
	case value.Date:
		return time.Unix(v.Int*24*60*60, 0).UTC()
	case value.Timestamp, value.Time:
		return time.UnixMicro(v.Int).UTC()
	}
	return v.Int
}
