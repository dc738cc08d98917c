package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"dither/internal/engine"
	"dither/internal/plan"
)

// What takes more memory than a rehearsal may is refused by its name, on one thread and without a file.
func TestRehearsalsHaveLittleMemory(t *testing.T) {
	e := New(t.TempDir(), t.TempDir())
	t.Cleanup(func() { _ = e.Close() })
	if err := e.rehearse(t.Context(), large); !errors.Is(err, engine.ErrRehearsal) {
		t.Errorf("%v", err)
	}
	if err := e.rehearse(t.Context(),
		"SELECT SUM(LEN(l)) FROM (SELECT LIST(REPEAT('x', 1000)) AS l FROM RANGE(1300))"); err != nil {
		t.Error(err)
	}
}

// Rehearsals that run when the engine is closed leave no database open.
func TestClosedEnginesStayClosed(t *testing.T) {
	b := newBench(t)
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM p"})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		e := New(t.TempDir(), t.TempDir())
		var ended sync.WaitGroup
		for range 4 {
			ended.Go(func() { _ = e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}) })
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		ended.Wait()
		if e.questions.db != nil || e.rehearsals.db != nil {
			t.Error("a database is open")
		}
		if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); !errors.Is(err, errClosed) {
			t.Errorf("%v", err)
		}
	}
}

// rows returns the first column of a statement's result, as texts.
func rows(t *testing.T, run func(context.Context, string, func([]driver.Value) error) error, statement string) (out []string) {
	t.Helper()
	if err := run(t.Context(), statement, func(row []driver.Value) error {
		out = append(out, fmt.Sprint(row[0]))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// settings are all settings but that of the memory, which is rounded.
const settings = "SELECT concat(name, ' = ', value) FROM duckdb_settings() WHERE name NOT IN ('memory_limit', 'max_memory') " +
	"ORDER BY name"

// large is a question that takes more memory than a rehearsal may, and cannot use a file instead.
const large = "SELECT SUM(LEN(l)) FROM (SELECT LIST(REPEAT('x', 1000000)) AS l FROM RANGE(1300))"

// The first rehearsal's database becomes that of questions. Then it has the settings of one that opens for them, and
// the next rehearsal has a database of its own.
func TestRehearsedDatabasesAnswer(t *testing.T) {
	b := newBench(t)
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM p"})
	if err != nil {
		t.Fatal(err)
	}
	sealed, tmp := t.TempDir(), t.TempDir()
	fresh := New(sealed, tmp)
	t.Cleanup(func() { _ = fresh.Close() })
	opened := rows(t, fresh.questions.run, settings)
	e := New(sealed, tmp)
	t.Cleanup(func() { _ = e.Close() })
	confined := rows(t, e.rehearsals.run, settings)
	first := e.rehearsals.db
	if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
		t.Fatal(err)
	}
	if e.questions.db != first || e.rehearsals.db != nil {
		t.Error("another database answers")
	}
	if got := rows(t, e.questions.run, settings); !slices.Equal(got, opened) {
		t.Errorf("%q, not %q", got, opened)
	}
	if len(opened) < 100 || slices.Equal(confined, opened) {
		t.Errorf("%q do not show the settings", opened)
	}
	for range 2 {
		if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatal(err)
		}
		if again := rows(t, e.rehearsals.run, settings); !slices.Equal(again, confined) || e.questions.db != first {
			t.Errorf("%q, not %q", again, confined)
		}
	}
}

// A database that rehearsed takes nearly as much memory as one that opens for questions. This is the memory that DuckDB
// takes, and not the setting: after RESET the two differ.
func TestRehearsedDatabasesHaveMemory(t *testing.T) {
	b := newBench(t)
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM p"})
	if err != nil {
		t.Fatal(err)
	}
	taken := func(d *instance) (limit float64) {
		text := rows(t, d.run, "SELECT memory_limit FROM pragma_database_size()")[0]
		unit := ""
		if _, err := fmt.Sscan(text, &limit, &unit); err != nil {
			t.Fatal(text, err)
		}
		for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
			if limit *= 1024; larger == unit {
				return limit
			}
		}
		t.Fatal(text)
		return 0
	}
	fresh, e := New(t.TempDir(), t.TempDir()), New(t.TempDir(), t.TempDir())
	t.Cleanup(func() { _ = errors.Join(fresh.Close(), e.Close()) })
	least := taken(&e.rehearsals)
	if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
		t.Fatal(err)
	}
	got, want := taken(&e.questions), taken(&fresh.questions)
	if got > want || got < .85*want || want > 2*least && got < 1.5*least {
		t.Errorf("%v bytes, and a new database takes %v", got, want)
	}
	if want > 8*least { // the statement takes 1.3 GB, some of it twice
		rows(t, e.questions.run, large)
	}
}

// All connections of a database have the settings of its first. Some settings of DuckDB belong to a connection, among
// them that a division by zero is NULL.
func TestConnectionsAgree(t *testing.T) {
	b := newBench(t)
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM p"})
	if err != nil {
		t.Fatal(err)
	}
	fresh, e := New(t.TempDir(), t.TempDir()), New(t.TempDir(), t.TempDir())
	t.Cleanup(func() { _ = errors.Join(fresh.Close(), e.Close()) })
	if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*instance{"fresh": &fresh.questions, "rehearsed": &e.questions, "rehearsals": &e.rehearsals} {
		db, err := d.hold()
		if err != nil {
			t.Fatal(err)
		}
		var first []string
		for i := range 4 {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			run := func(ctx context.Context, statement string, each func([]driver.Value) error) error {
				return conn.Raw(func(c any) error { return query(ctx, c, statement, each) })
			}
			if got := rows(t, run, "SELECT CAST(1 AS DOUBLE) / CAST(0 AS DOUBLE)"); got[0] != "<nil>" {
				t.Errorf("%s, connection %d: 1 / 0 is %s", name, i, got)
			}
			if got := rows(t, run, settings); i == 0 {
				first = got
			} else if !slices.Equal(got, first) {
				t.Errorf("%s, connection %d: %q, not %q", name, i, got, first)
			}
		}
		d.leave()
	}
}

// A database of rehearsals whose settings are not final yet runs one SELECT at a time, and reaches no file.
func TestRehearsalsChangeNothing(t *testing.T) {
	e := New(t.TempDir(), t.TempDir())
	t.Cleanup(func() { _ = e.Close() })
	outside := filepath.Join(t.TempDir(), "outside.csv")
	if err := os.WriteFile(outside, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"SET threads = 2", "SET threads = 2; SELECT 1", "RESET memory_limit; SELECT 1", "SELECT 1; SELECT 2",
		"SET enable_external_access = true", "SET VARIABLE x = 1", "PRAGMA enable_profiling", "CREATE TABLE x AS SELECT 1",
		"COPY (SELECT 1) TO " + text(outside), "SELECT * FROM read_csv(" + text(outside) + ")", "LOAD httpfs",
	} {
		if err := e.rehearse(t.Context(), statement); err == nil {
			t.Errorf("admitted: %s", statement)
		}
	}
	threads := ""
	if err := e.rehearsals.run(t.Context(), "SELECT current_setting('threads')", func(row []driver.Value) error {
		threads = fmt.Sprint(row[0])
		return nil
	}); err != nil || threads != "1" {
		t.Errorf("%q threads, %v", threads, err)
	}
	// Without the check of the statement's type, external access still cannot be enabled, nor a folder be allowed.
	for _, setting := range []string{"SET enable_external_access = true", "SET allowed_directories = ['/etc']"} {
		if _, err := e.rehearsals.db.Exec(setting); err == nil {
			t.Errorf("admitted: %s", setting)
		}
	}
}
