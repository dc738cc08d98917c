package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// What docs/reference/statistics.md shows of tests is what the program prints.
func TestHypothesisDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/statistics.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, shown := strings.Split(string(text), "\n"), 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither test ")
		if !ok || i+1 >= len(lines) || lines[i+1] == "" {
			continue
		}
		shown++
		args := []string{"test"}
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, "'"))
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
	if shown < 6 {
		t.Errorf("%d commands are shown", shown)
	}
}
