// Package duckdb is the embedded engine: a DuckDB that can reach nothing but the sealed files, and runs nothing but the
// SELECT statements that this package writes for bounded statements.
package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"sync"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine is one locked-down DuckDB. Several goroutines may use it.
type Engine struct {
	sealed, tmp string
	page        int // how many distinct values are read at a time
	rowPage     int // and how many rows

	mu sync.Mutex
	db *sql.DB // nil until the first question

	stage *Engine // the engine for rehearsals; nil in a stage
	small bool    // a stage: it has little memory, one thread, and no room on disk
}

var _ engine.Engine = (*Engine)(nil)

// New makes an engine that may read files below sealed and spill into tmp, and nothing else. DuckDB starts with the
// first question.
func New(sealed, tmp string) *Engine {
	return &Engine{
		sealed: sealed, tmp: tmp, page: defaultPage, rowPage: defaultRowPage,
		stage: &Engine{sealed: sealed, tmp: tmp, small: true},
	}
}

// Close releases the database.
func (e *Engine) Close() (err error) {
	if e.stage != nil {
		err = e.stage.Close()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db == nil {
		return err
	}
	err = errors.Join(err, e.db.Close())
	e.db = nil
	return err
}

// lock returns the settings for every new connection's database, in this order. The last statement makes all settings
// final. Afterwards no file outside the sealed folder, no extension and no other database can be reached.
func (e *Engine) lock() []string {
	var bounds []string
	if e.small {
		bounds = []string{
			fmt.Sprintf("SET memory_limit = '%dMB'", engine.RehearsalMemory), "SET threads = 1",
			"SET max_temp_directory_size = '0KB'",
		}
	}
	return append(bounds, []string{
		"SET temp_directory = " + text(e.tmp),
		"SET allowed_directories = [" + text(e.sealed) + "]",
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		"SET ieee_floating_point_ops = false",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}...)
}

func (e *Engine) open() (*sql.DB, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db != nil {
		return e.db, nil
	}
	if err := os.MkdirAll(e.tmp, 0o700); err != nil {
		return nil, err
	}
	locked := false
	connector, err := driverpkg.NewConnector("", func(c driver.ExecerContext) error {
		if locked { // the settings belong to the database, and are final
			return nil
		}
		for _, statement := range e.lock() {
			if _, err := c.ExecContext(context.Background(), statement, nil); err != nil {
				return err
			}
		}
		locked = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if err := db.Ping(); err != nil { // one connection applies the locks before others exist
		return nil, errors.Join(err, db.Close())
	}
	e.db = db
	return db, nil
}

// Aggregate implements engine.Engine.
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

// statement is the statement that answers b over sealed files.
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

// statementOf is a statement over the sealed files of a Source.
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

// storedScan reads a sealed file's rows, at most Stored of each unit. A version that was sealed with more is filtered
// by rank: the rows are those that sealing would have kept (sealTable).
func storedScan(known engine.Sealed) (string, error) {
	scan, err := sealScan(known.File)
	if err == nil && known.Stored > 0 {
		scan = fmt.Sprintf("(SELECT * FROM %s WHERE %s <= %d)", scan, rankColumn, known.Stored)
	}
	return scan, err
}

// run runs one statement, and passes its rows to each.
func (e *Engine) run(ctx context.Context, statement string, each func([]driver.Value) error) error {
	db, err := e.open()
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(c any) error { return query(ctx, c, statement, each) })
}

// query prepares one statement, checks that it is a SELECT, and passes its rows to each.
func query(ctx context.Context, raw any, statement string, each func([]driver.Value) error) (err error) {
	c, ok := raw.(driver.ConnPrepareContext)
	if !ok {
		return errors.New("duckdb: unexpected driver")
	}
	s, err := c.PrepareContext(ctx, statement)
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

// collect reads one result row and adds it to its cell.
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

// scalar reads a key.
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

// whole reads a sum: NULL for no rows, otherwise a HUGEINT or a smaller integer.
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
