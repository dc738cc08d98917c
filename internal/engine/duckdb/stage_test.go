package duckdb

import (
	"errors"
	"testing"

	"dither/internal/engine"
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
