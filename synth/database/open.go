package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// with calls f with a new database in memory, which may spill into a folder of its own. Afterwards nothing is left.
func with(ctx context.Context, f func(*duckdb.Conn) error) (err error) {
	tmp, err := os.MkdirTemp("", "dither-synthetic-") // with mode 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	connector, err := duckdb.NewConnector("", func(c driver.ExecerContext) error {
		for _, statement := range []string{
			"SET temp_directory = " + text(tmp),
			"SET memory_limit = '2GB'",
			"SET autoinstall_known_extensions = false",
			"SET autoload_known_extensions = false",
			"SET allow_community_extensions = false",
			"SET allow_persistent_secrets = false",
			"SET extension_directory = " + text(tmp),
		} {
			if _, err := c.ExecContext(ctx, statement, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connector.Close()) }()
	opened, err := connector.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	c, ok := opened.(*duckdb.Conn)
	if !ok {
		return errors.New("unexpected driver")
	}
	return f(c)
}

// source is a file of synthetic rows.
type source struct {
	scan     string // SQL that reads the rows
	name     string // of the file, without its ending
	database string // the file, if it is of DuckDB; scan and name come from its table
}

// sourceOf checks that a file can have synthetic rows. It follows symbolic links.
func sourceOf(file string) (*source, error) {
	path, err := filepath.EvalSymlinks(file)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", file)
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file)
	}
	if isSealed(path) {
		return nil, fmt.Errorf("%s is in the folder of sealed tables of a home: its rows may be real", file)
	}
	literal, err := literalPath(path)
	if err != nil {
		return nil, err
	}
	ending := filepath.Ext(file)
	out := &source{name: strings.TrimSuffix(filepath.Base(file), ending)}
	switch strings.ToLower(ending) {
	case ".csv":
		out.scan = "read_csv(" + text(literal) + ", header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', " +
			"compression = 'none', sample_size = -1, hive_partitioning = false)"
	case ".parquet":
		out.scan = "read_parquet(" + text(literal) + ", hive_partitioning = false)"
	case ".duckdb":
		if err := CheckFile(path); err != nil {
			return nil, err
		}
		out.database = path
	default:
		return nil, fmt.Errorf("%s: name a file of dither synth, which ends in .csv, .parquet or .duckdb", file)
	}
	return out, nil
}

// attach opens a DuckDB file for reading, and finds its only table.
func (s *source) attach(ctx context.Context, c *duckdb.Conn) (err error) {
	if s.database == "" {
		return nil
	}
	if _, err := c.ExecContext(ctx, "ATTACH "+text(s.database)+" AS source (TYPE duckdb, READ_ONLY)", nil); err != nil {
		return err
	}
	rows, err := c.QueryContext(ctx, "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source'", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row, tables := make([]driver.Value, 2), 0
	for ; ; tables++ {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		schema, _ := row[0].(string)
		s.name, _ = row[1].(string)
		s.scan = "source." + identifier(schema) + "." + identifier(s.name)
	}
	if tables != 1 {
		return fmt.Errorf("%s has %d tables, and a synthetic one has 1", s.database, tables)
	}
	return nil
}

// isSealed reports whether a path is below the sealed folder of a home, whose rows may be real.
func isSealed(path string) bool {
	for folder := filepath.Dir(path); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if filepath.Base(folder) != "sealed" {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(folder), "policy.yaml")); err == nil {
			return true
		}
	}
	return false
}

// literalPath returns a pattern of DuckDB that matches a path and nothing else.
func literalPath(path string) (string, error) {
	if !strings.ContainsAny(path, "*?[") {
		return path, nil
	}
	if strings.Contains(path, `\`) {
		return "", errors.New(`a path cannot contain both a backslash and one of "*?[": rename it`)
	}
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path), nil
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// plain returns an error of DuckDB with the first line of its message alone. The message may quote values, which are made up.
func plain(err error) error {
	var known *duckdb.Error
	if errors.As(err, &known) {
		message, _, _ := strings.Cut(known.Msg, "\n")
		return errors.New(message)
	}
	return err
}
