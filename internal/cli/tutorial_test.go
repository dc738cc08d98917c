package cli

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// TestTabulateTutorial follows docs/tutorials/tabulate.md in an empty folder: it saves the files that the tutorial shows,
// and runs its commands in their order. Each command must succeed. If the tutorial shows what a command prints, the
// command must print that.
func TestTabulateTutorial(t *testing.T) {
	page, err := os.ReadFile("../../docs/tutorials/tabulate.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	files := []string{"home/policy.yaml", "census.yaml"} // in the order in which the tutorial shows them
	shown := 0
	for _, block := range regexp.MustCompile("(?s)```(yaml|console)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if block[1] == "yaml" {
			if err := os.WriteFile(files[0], []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			files = files[1:]
			continue
		}
		for _, command := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			command, want, _ := strings.Cut(command, "\n")
			shown++
			if got := followed(t, command); want != "" && strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s prints %q, but the tutorial shows %q", command, got, want)
			}
		}
	}
	if shown != 9 || len(files) != 0 {
		t.Errorf("the tutorial shows %d commands, and not the files %v", shown, files)
	}
}

// followed runs a command of a page, and returns what it prints.
func followed(t *testing.T, command string) string {
	t.Helper()
	if args, ours := strings.CutPrefix(command, "dither "); ours {
		var out, complaint strings.Builder
		if code := Run(strings.Fields(args), strings.NewReader(""), &out, &complaint); code != console.ExitAnswered {
			t.Fatalf("%s: exit %d: %s", command, code, complaint.String())
		}
		return out.String()
	}
	out, err := exec.Command("sh", "-c", command).CombinedOutput() //nolint:gosec // the page's own commands
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}
