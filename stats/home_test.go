package stats

import (
	"os"
	"path/filepath"
	"testing"

	"dither/curator"
)

// sealedHome makes a home of a policy and the files beside it, and seals a table. It is closed when the test is done.
func sealedHome(t testing.TB, policy, table string, files map[string]string) (c *curator.Curator, home string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home = filepath.Join(t.TempDir(), "home")
	if err := curator.Init(home); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("policy.yaml", policy)
	for name, text := range files {
		write(name, text)
	}
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Seal(t.Context(), table, curator.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return c, home
}
