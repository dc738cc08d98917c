package curator

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// resetOf returns the one record of resets beside a home.
func resetOf(t *testing.T, home string) (r resetRecord) {
	t.Helper()
	text, err := os.ReadFile(home + ".resets")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil || strings.Count(string(text), "\n") != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// The record of a reset has what was spent when the ledger was moved, and not when the owner was asked.
func TestResetRecordsLateAnswers(t *testing.T) {
	home := newHome(t)
	r, err := ResetHome(home, ResetLedger)
	if err != nil {
		t.Fatal(err)
	}
	before := *r.record.Head
	c, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people", Epsilon: "0.5"}); err != nil {
		t.Fatal(err)
	}
	state, err := c.ledger.State()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Do(r.Confirm); err != nil {
		t.Fatal(err)
	}
	got := resetOf(t, home)
	if *got.Head == before || *got.Head != state.Head || got.Spent.Short(false) != state.Spent.Short(false) {
		t.Errorf("recorded head %v and %v spent, not %v and %v", got.Head, got.Spent, state.Head, state.Spent)
	}
	if exists(filepath.Join(home, "ledger.log")) {
		t.Error("the ledger is still there")
	}
}

// The ledger is read although the policy cannot be.
func TestResetNeedsNoPolicy(t *testing.T) {
	home := newHome(t)
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte("version: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ResetHome(home, ResetLedger)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Do(r.Confirm); err != nil {
		t.Fatal(err)
	}
	if got := resetOf(t, home); got.Unreadable != "" || got.Head == nil || got.Budget == nil || got.Population == "" {
		t.Errorf("%+v", got)
	}
}
