package embed_test

import (
	"context"
	"dither/curator"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/embed"
)

// A program outside the module opens a curator, asks, and handles a refusal.
func TestEmbed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // the claims are this test's, not the user's
	home := t.TempDir()
	for _, name := range []string{"policy.yaml", "randhie.csv"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "randhie", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := curator.Init(home); err != nil {
		t.Fatal(err)
	}
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Seal(t.Context(), "visits", curator.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	said, err := embed.Visits(t.Context(), home)
	if err != nil || !strings.Contains(said, "visits a year") {
		t.Fatalf("%q, %v", said, err)
	}
	// Spend the rest; what was answered is still answered, a new question is refused.
	for {
		if _, err := c.Answer(t.Context(), curator.Question{SQL: "SELECT COUNT(*) FROM visits", Epsilon: "0.5", Fresh: true}); err != nil {
			break
		}
	}
	if again, err := embed.Visits(context.Background(), home); err != nil || again != said {
		t.Errorf("replay: %q, %v; want %q", again, err, said)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
