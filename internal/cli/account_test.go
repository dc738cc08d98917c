package cli

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// What docs/reference/accounting.md shows is what the program prints.
func TestAccountingDoc(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	text, err := os.ReadFile("../../docs/reference/accounting.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLUMNS", "80")
	lines := strings.Split(string(text), "\n")
	shown := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither ")
		if !ok {
			continue
		}
		shown++
		if strings.Contains(command, "sampling=") && os.Getenv("DITHER_LONG") == "" {
			continue
		}
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		var out, complaint strings.Builder
		if code := Run(args, strings.NewReader(""), &out, &complaint); code != console.ExitAnswered {
			t.Errorf("%s: exit %d: %s", command, code, complaint.String())
		}
		for j, want := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
			if i+1+j >= len(lines) || strings.TrimPrefix(lines[i+1+j], "    ") != want {
				t.Errorf("%s: line %d is now %q", command, j+1, want)
				break
			}
		}
	}
	if shown < 8 {
		t.Errorf("%d commands are shown", shown)
	}
}
