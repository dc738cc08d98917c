package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Folders of servers that are gone go; of those that run, or have just begun, none does.
func TestFoldersThatWereLeft(t *testing.T) {
	in, err := os.MkdirTemp("/tmp", "x") //nolint:usetesting // whose path is short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(in) }()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for name, pid := range map[string]int{
		"dead": gone.Process.Pid, "alive": os.Getpid(), "new": gone.Process.Pid,
		"begun": 0,
	} {
		folder := filepath.Join(in, prefix+name)
		if err := os.MkdirAll(filepath.Join(folder, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if pid > 0 {
			if err := os.WriteFile(filepath.Join(folder, "data", "postmaster.pid"), fmt.Appendf(nil, "%d\nx\n", pid),
				0o600); err != nil {
				t.Fatal(err)
			}
		}
		if name != "new" {
			if err := os.Chtimes(folder, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder, err := makeFolder(in)
	if err != nil || filepath.Dir(folder) != in {
		t.Errorf("%s, %v", folder, err)
	}
	for name, stays := range map[string]bool{"dead": false, "alive": true, "new": true, "begun": false} {
		if _, err := os.Stat(filepath.Join(in, prefix+name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A long name of the place for temporary files leaves the socket's path short.
func TestSocketsPath(t *testing.T) {
	folder, err := makeFolder("/tmp/" + strings.Repeat("x", 80))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(folder)
	if len(folder+"/.s.PGSQL.5432") > 107 {
		t.Error(folder)
	}
}
