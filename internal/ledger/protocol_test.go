package ledger

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The protocol is checked as a model by SPIN: docs/design/0002-ledger.pml names the claims, and each step of the protocol that can be
// left out. All claims hold of the whole; each step that is left out breaks one.

// minSteps is how many steps the model names at least, so that no step is lost unnoticed.
const minSteps = 20

func TestProtocol(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("a model checker's search of some minutes: DITHER_LONG=1")
	}
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("DITHER_TEST_NEEDS_SPIN") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	model, err := filepath.Abs("../../docs/design/0002-ledger.pml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile(`(?m)^#if(?:n)?def (WITHOUT_[A-Z_]+)$`).FindAllStringSubmatch(string(text), -1)
	names := []string{}
	for _, s := range steps {
		names = append(names, s[1])
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < minSteps {
		t.Fatalf("%d steps, want at least %d", len(names), minSteps)
	}
	t.Run("whole", func(t *testing.T) {
		if failed := search(t, model, ""); failed != "" {
			t.Error(failed)
		}
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if failed := search(t, model, name); !strings.HasPrefix(failed, "assertion violated") {
				t.Errorf("all claims hold, but for %q", failed)
			}
		})
	}
}

// search looks through all states of the model, with one step left out where it is named, and returns the first claim that fails.
func search(t *testing.T, model, without string) (failed string) {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	args := []string{"-a", model}
	if without != "" {
		args = slices.Insert(args, 0, "-D"+without)
	}
	run("spin", args...)
	run("cc", "-O1", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-o", "search", "pan.c")
	out := run("./search", "-m400000")
	if found := regexp.MustCompile(`pan:\d+: (.*)`).FindStringSubmatch(out); found != nil {
		return found[1]
	}
	if !strings.Contains(out, "errors: 0") || strings.Contains(out, "Search not completed") || strings.Contains(out, "max search depth too small") {
		t.Fatalf("the search did not end:\n%s", out)
	}
	return ""
}
