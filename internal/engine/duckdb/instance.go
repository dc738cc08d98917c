package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"sync"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/engine"
)

// instance is a DuckDB that opens when it is first used. It is safe for concurrent use.
type instance struct {
	open func() (*sql.DB, error)

	mu     sync.Mutex
	db     *sql.DB // nil until it opens
	users  int     // the number of statements that run
	closed bool    // it opens no more
}

var errClosed = errors.New("the engine is closed")

// hold returns the database for one statement, and opens it if it is not open. The caller calls leave afterwards.
func (d *instance) hold() (db *sql.DB, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	if d.db == nil {
		if d.db, err = d.open(); err != nil {
			return nil, err
		}
	}
	d.users++
	return d.db, nil
}

func (d *instance) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users--
}

// take returns the open database and forgets it. It returns nil if there is none, or if a statement runs in it.
func (d *instance) take() *sql.DB {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users > 0 {
		return nil
	}
	db := d.db
	d.db = nil
	return db
}

func (d *instance) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db = nil
	return err
}

// openQuestions opens the database of questions. It is the first rehearsal's, if no statement runs there any more: to
// open another DuckDB takes longer than to answer a small question.
func (e *Engine) openQuestions() (*sql.DB, error) {
	db := e.rehearsals.take()
	if db == nil {
		return e.openDB(final)
	}
	if err := enlarge(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// enlarge takes back the settings of small, and makes all settings final. RESET alone changes only what DuckDB says about
// its memory, so the limit is set again, to what DuckDB says: a tenth of a GB less than before at most.
func enlarge(db *sql.DB) error {
	for _, setting := range small {
		if _, err := db.Exec("RESET GLOBAL " + setting.name); err != nil {
			return err
		}
	}
	var memory string
	if err := db.QueryRow("SELECT current_setting('memory_limit')").Scan(&memory); err != nil {
		return err
	}
	for _, setting := range []string{"memory_limit = " + text(memory), final} {
		if _, err := db.Exec("SET GLOBAL " + setting); err != nil {
			return err
		}
	}
	return nil
}

// openRehearsals opens a database of rehearsals. Its settings are not final, so that it can become that of questions.
// Only statements that this package writes run there, and query admits no SET.
func (e *Engine) openRehearsals() (*sql.DB, error) {
	var settings []string
	for _, setting := range small {
		settings = append(settings, setting.name+" = "+setting.value)
	}
	return e.openDB(settings...)
}

// small are the settings of a database of rehearsals.
var small = []struct{ name, value string }{
	{"memory_limit", fmt.Sprintf("'%dMB'", engine.RehearsalMemory)},
	{"threads", "1"},
	{"max_temp_directory_size", "'0KB'"},
}

// final makes all settings final.
const final = "lock_configuration = true"

// sound leaves out a step of the optimizer that fails with an internal error on some row_number() <= n, in DuckDB 1.5.6.
const sound = "disabled_optimizers = 'top_n_window_elimination'"

// confined returns the settings of every database: DuckDB can reach no file outside the sealed folder, no extension and
// no other database. External access cannot be enabled again.
func (e *Engine) confined() []string {
	return []string{
		"temp_directory = " + text(e.tmp),
		"allowed_directories = [" + text(e.sealed) + "]",
		"autoinstall_known_extensions = false",
		"autoload_known_extensions = false",
		"ieee_floating_point_ops = false",
		"parquet_metadata_cache = true", // a statement may read a file several times, and sealed files never change
		sound,
		"enable_external_access = false",
	}
}

// openDB opens a confined database with further settings.
func (e *Engine) openDB(further ...string) (*sql.DB, error) {
	if err := os.MkdirAll(e.tmp, 0o700); err != nil {
		return nil, err
	}
	settings, applied := append(e.confined(), further...), false
	connector, err := driverpkg.NewConnector("", func(c driver.ExecerContext) error {
		if applied {
			return nil
		}
		for _, setting := range settings { // GLOBAL: some would hold for this connection alone
			if _, err := c.ExecContext(context.Background(), "SET GLOBAL "+setting, nil); err != nil {
				return err
			}
		}
		applied = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if err := db.Ping(); err != nil { // a first connection applies the settings before any other exists
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
