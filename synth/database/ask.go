package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// Answer is the result of a question over synthetic rows. It has no intervals.
type Answer struct {
	Table   string // the name of the table in questions
	Columns []string
	Rows    [][]any // nil, bool, string, or a number as json.Number
}

// MostRows is the largest number of rows of an Answer.
const MostRows = 1_000_000

// mostSQL is the largest length of a question, in bytes.
const mostSQL = 1 << 14

// Ask answers one SELECT over the synthetic rows of a file, which ends in .csv, .parquet or .duckdb. table is the name of the
// table in the question; if it is "", it is the name of the file without its ending, or that of the table in a DuckDB file. Ask reads the file first. The
// question then runs in a database that can reach no file, no other database and no extension.
func Ask(ctx context.Context, file, table, question string) (*Answer, error) {
	switch {
	case len(question) > mostSQL:
		return nil, fmt.Errorf("a question has at most %d bytes", mostSQL)
	case strings.ContainsRune(question, 0):
		return nil, errors.New("the question contains a NUL byte")
	}
	found, err := sourceOf(file)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Table: table}
	err = with(ctx, func(c *duckdb.Conn) error {
		if err := found.attach(ctx, c); err != nil {
			return plain(err)
		}
		if table == "" {
			answer.Table = found.name
		}
		if err := load(ctx, c, found, answer.Table); err != nil {
			return plain(err)
		}
		return plain(answer.read(ctx, c, question))
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// load copies the rows into a table of the database, and shuts the database.
func load(ctx context.Context, c *duckdb.Conn, from *source, table string) error {
	statements := []string{"CREATE TABLE " + identifier(table) + " AS SELECT * FROM " + from.scan}
	if from.database != "" {
		statements = append(statements, "DETACH source")
	}
	for _, statement := range append(statements,
		// as in questions to dither, if the engine lacks it
		"CREATE MACRO width_bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1 "+
			"ELSE CAST(floor((x - low) * n / (high - low)) AS BIGINT) + 1 END",
		"SET integer_division = true",
		"SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	) {
		if _, err := c.ExecContext(ctx, statement, nil); err != nil {
			return err
		}
	}
	return nil
}

// read runs the question, which must be one SELECT.
func (a *Answer) read(ctx context.Context, c *duckdb.Conn, question string) (err error) {
	if err := confined(ctx, c, question); err != nil {
		return err
	}
	// Prepare refuses several statements. PrepareContext would run all but the last one.
	prepared, err := c.Prepare(question)
	var known *duckdb.Error
	switch {
	case errors.As(err, &known):
		return err
	case err != nil:
		return errNotOne
	}
	statement, ok := prepared.(*duckdb.Stmt)
	if !ok {
		return errors.Join(errors.New("unexpected driver"), prepared.Close())
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	if kind, err := statement.StatementType(); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
		return errNotOne
	}
	if statement.NumInput() != 0 {
		return errors.New("the question has parameters, such as $1 or ?: write their values")
	}
	rows, err := statement.QueryContext(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, ok := rows.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return errors.New("unexpected driver")
	}
	a.Columns = append(a.Columns, rows.Columns()...)
	row := make([]driver.Value, len(a.Columns))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(a.Rows) == MostRows:
			return fmt.Errorf("the answer has more than %d rows: add LIMIT", MostRows)
		}
		out := make([]any, len(row))
		for i, v := range row {
			out[i] = shown(types.ColumnTypeDatabaseTypeName(i), v)
		}
		a.Rows = append(a.Rows, out)
	}
}

// errNotOne refuses anything but one SELECT.
var errNotOne = errors.New("the question must be one SELECT, and nothing else")
