// Package duckdb is the embedded engine: a DuckDB that can read only the sealed files, and runs only the SELECT
// statements that this package writes for bounded statements. Its [Sealer] writes the sealed files, in separate
// databases.
package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/big"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine is a DuckDB without access to anything but sealed files. It is safe for concurrent use.
type Engine struct {
	sealed, tmp string
	page        int // the number of distinct values that one statement returns
	rowPage     int // the number of rows that one statement returns

	questions  instance
	rehearsals instance // with little memory, one thread and no disk
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that may read files below the folder sealed, may spill into the folder tmp, and may reach
// nothing else. DuckDB starts with the first rehearsal.
func New(sealed, tmp string) *Engine {
	e := &Engine{sealed: sealed, tmp: tmp, page: defaultPage, rowPage: defaultRowPage}
	e.questions.open, e.rehearsals.open = e.openQuestions, e.openRehearsals
	return e
}

// Close closes the databases. No further one opens, also not by a rehearsal that runs.
func (e *Engine) Close() error { return errors.Join(e.rehearsals.close(), e.questions.close()) }

// Aggregate implements [engine.Engine].
func (e *Engine) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	sql, err := statement(b, from)
	if err != nil {
		return nil, err
	}
	cells := engine.NewCells(b)
	if err := e.run(ctx, sql, collect(b, cells.Add)); err != nil {
		return nil, err
	}
	return cells.Exact(), nil
}

// Margins implements [engine.Engine].
func (e *Engine) Margins(
	ctx context.Context, b *bounded.Statement, keys [][]int, from engine.Sealed,
) ([][]mechanism.Exact, error) {
	sql, err := statement(b, from)
	if err != nil {
		return nil, err
	}
	margins := engine.NewMargins(b, keys)
	if err := e.run(ctx, sql, collect(b, margins.Add)); err != nil {
		return nil, err
	}
	return margins.Exact(), nil
}

// statement returns the SQL that answers b over sealed files.
func statement(b *bounded.Statement, from engine.Sealed) (string, error) {
	if b.Source == nil {
		scan, err := storedScan(from)
		if err != nil {
			return "", err
		}
		return render(b, scan, from), nil
	}
	return statementOf(b, from, renderSource)
}

// statementOf returns the SQL that render writes for b, a statement with a Source, over its sealed files.
func statementOf(
	b *bounded.Statement, from engine.Sealed, render func(*bounded.Statement, sealedFiles) string,
) (string, error) {
	files := sealedFiles{map[string]string{}, map[string]bool{}, from.Tables}
	for _, table := range b.Tables() {
		known, ok := from.Tables[table]
		if !ok {
			return "", fmt.Errorf("duckdb: no sealed file of table %q was given", table)
		}
		scan, err := storedScan(known)
		if err != nil {
			return "", err
		}
		files.scans[table], files.oneRowEach[table] = scan, known.OneRowEach
	}
	return render(b, files), nil
}

// storedScan returns SQL that reads a sealed file, with at most known.Stored rows of each unit. If sealing kept more
// rows of a unit than that, a filter by rank leaves the rows that sealing would keep under the current policy: see
// sealTable. A rank numbers the rows of one unit.
func storedScan(known engine.Sealed) (string, error) {
	scan, err := sealScan(known.File)
	if err == nil && known.Stored > 0 {
		scan = fmt.Sprintf("(SELECT * FROM %s WHERE %s <= %d)", scan, rankColumn, known.Stored)
	}
	return scan, err
}

// run runs one statement and passes each result row to the function each.
func (e *Engine) run(ctx context.Context, statement string, each func([]driver.Value) error) error {
	return e.questions.run(ctx, statement, each)
}

// run runs one statement in d.
func (d *instance) run(ctx context.Context, statement string, each func([]driver.Value) error) error {
	db, err := d.hold()
	if err != nil {
		return err
	}
	defer d.leave()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(c any) error { return query(ctx, c, statement, each) })
}

// query prepares one statement, checks that it is a SELECT, and calls the function each with every row of the result.
func query(ctx context.Context, raw any, statement string, each func([]driver.Value) error) (err error) {
	c, ok := raw.(driver.Conn)
	if !ok {
		return errors.New("duckdb: unexpected driver")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := c.Prepare(statement) // PrepareContext would run all of several statements but the last
	if err != nil {
		return err
	}
	stmt, ok := s.(*driverpkg.Stmt)
	if !ok {
		return errors.Join(errors.New("duckdb: unexpected driver"), s.Close())
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if kind, err := stmt.StatementType(); err != nil || kind != driverpkg.STATEMENT_TYPE_SELECT {
		return errors.Join(fmt.Errorf("duckdb: statement of type %d, not SELECT", kind), err)
	}
	rows, err := stmt.QueryContext(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// collect returns a function that reads the keys and sums of one result row and passes them to add.
func collect(b *bounded.Statement, add func([]value.Value, []*big.Int)) func([]driver.Value) error {
	types := b.KeyTypes()
	return func(row []driver.Value) error {
		keys, err := engine.Keys(types, row, scalar)
		if err != nil {
			return err
		}
		sums := make([]*big.Int, b.Width())
		for i := range sums {
			n, err := whole(row[len(keys)+i])
			if err != nil {
				return err
			}
			sums[i] = n
		}
		add(keys, sums)
		return nil
	}
}

// scalar converts a key of a result row to a value of type t.
func scalar(t value.Type, v driver.Value) (value.Value, error) {
	switch v := v.(type) {
	case nil:
		return value.NullOf(t), nil
	case int64:
		return value.Value{Type: t, Int: v}, nil
	case string:
		return value.OfText(v), nil
	case bool:
		return value.OfBool(v), nil
	}
	return value.Value{}, fmt.Errorf("duckdb: a key of Go type %T", v)
}

// whole converts a sum of a result row, a HUGEINT or a smaller integer. It returns nil for NULL, the sum of no
// rows.
func whole(v driver.Value) (*big.Int, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *big.Int:
		return v, nil
	case int64:
		return big.NewInt(v), nil
	}
	return nil, fmt.Errorf("duckdb: a sum of Go type %T", v)
}
