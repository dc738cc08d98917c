package duckdb

import (
	"errors"
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
		if e.db != nil || e.stage.db != nil {
			t.Error("a database is open")
		}
		if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); !errors.Is(err, errClosed) {
			t.Errorf("%v", err)
		}
	}
}
