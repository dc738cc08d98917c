package duckdb

import (
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

// What takes more memory than a rehearsal may is refused by its name, on one thread and without a file; a question may
// take more.
func TestRehearsalsHaveLittleMemory(t *testing.T) {
	e := New(t.TempDir(), t.TempDir())
	t.Cleanup(func() { _ = e.Close() })
	const large = "SELECT SUM(LEN(l)) FROM (SELECT LIST(REPEAT('x', 1000000)) AS l FROM RANGE(1300))"
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

// The first rehearsal's database becomes that of questions. Then it has the settings of one that opens for them, and
// the next rehearsal has a database of its own.
func TestRehearsedDatabasesAnswer(t *testing.T) {
	b := newBench(t)
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM p"})
	if err != nil {
		t.Fatal(err)
	}
	sealed, tmp := t.TempDir(), t.TempDir()
	settings := func(d *instance) (out []string) {
		const all = "SELECT concat(name, ' = ', value) FROM duckdb_settings() ORDER BY name"
		if err := d.run(t.Context(), all, func(row []driver.Value) error {
			out = append(out, row[0].(string))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	fresh := New(sealed, tmp)
	t.Cleanup(func() { _ = fresh.Close() })
	opened := settings(&fresh.questions)
	e := New(sealed, tmp)
	t.Cleanup(func() { _ = e.Close() })
	confined := settings(&e.rehearsals)
	first := e.rehearsals.db
	if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
		t.Fatal(err)
	}
	if e.questions.db != first || e.rehearsals.db != nil {
		t.Error("another database answers")
	}
	if got := settings(&e.questions); !slices.Equal(got, opened) {
		t.Errorf("%q, not %q", got, opened)
	}
	if len(opened) < 100 || slices.Equal(confined, opened) {
		t.Errorf("%q do not show the settings", opened)
	}
	for range 2 {
		if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatal(err)
		}
		if again := settings(&e.rehearsals); !slices.Equal(again, confined) || e.questions.db != first {
			t.Errorf("%q, not %q", again, confined)
		}
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
