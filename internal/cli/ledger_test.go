package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/internal/cli/console"
	"dither/internal/ledger"
)

// One entry with a date that is far ahead ends grants only until the owner sets the clock right.
func TestLedgerClock(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	run := func(want int, args ...string) string {
		t.Helper()
		var out, complaint strings.Builder
		if code := Run(append([]string{"-C", home}, args...), strings.NewReader(""), &out, &complaint); code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, out.String(), complaint.String())
		}
		return out.String() + complaint.String()
	}
	run(console.ExitAnswered, "init", home)
	for name, text := range map[string]string{
		"people.csv": "age\n30\n",
		"policy.yaml": "version: 1\npopulation: {name: people}\nbudget: {epsilon: 0.5, per: month, lifetime: 10}\n" +
			"tables:\n  people: {source: {csv: people.csv}, unit: row, columns: {age: {type: integer, bounds: [0, 115]}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(console.ExitAnswered, "seal")
	run(console.ExitAnswered, "query", "--epsilon", "0.5", "SELECT COUNT(*) FROM people")
	if text := run(console.ExitUsage, "ledger", "clock"); !strings.Contains(text, "no entry is dated later") {
		t.Error(text)
	}
	far := time.Date(2100, 1, 2, 0, 0, 0, 0, time.UTC)
	l, err := ledger.Open(home, func() time.Time { return far })
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Resume(); err != nil { // any entry
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if text := run(console.ExitAnswered, "ledger", "verify"); !strings.Contains(text, "dated 2100-01-02") || !strings.Contains(text, "dither ledger clock") {
		t.Error(text)
	}
	if text := run(console.ExitAnswered, "ledger", "clock"); !strings.Contains(text, "the clock was at 2100-01-02") || !strings.Contains(text, "the next one is on "+time.Now().UTC().AddDate(0, 0, 1-time.Now().UTC().Day()).AddDate(0, 1, 0).Format(time.DateOnly)) {
		t.Error(text)
	}
	if text := run(console.ExitAnswered, "ledger", "verify"); strings.Contains(text, "2100") {
		t.Error(text)
	}
	if text := run(console.ExitAnswered, "ledger", "list"); !strings.Contains(text, "the clock was at 2100-01-02") {
		t.Error(text)
	}
}
