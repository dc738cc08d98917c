package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// interpreting runs dither interpret.
func interpreting(args ...string) (code int, out, complaint string) {
	var o, e strings.Builder
	code = Run(append([]string{"interpret"}, args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// What docs/checking.md shows of it is what the program prints.
func TestInterpretDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	shown := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither interpret ")
		if !ok {
			continue
		}
		shown++
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		code, out, complaint := interpreting(args...)
		if code != exitAnswered {
			t.Errorf("%s: exit %d: %s", command, code, complaint)
		}
		for j, want := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
			if i+1+j >= len(lines) || strings.TrimPrefix(lines[i+1+j], "    ") != want {
				t.Errorf("%s: line %d is now %q", command, j+1, want)
				break
			}
		}
	}
	if shown < 3 {
		t.Errorf("%d commands are shown", shown)
	}
}

func TestInterpretRefuses(t *testing.T) {
	for _, c := range []struct{ args, complaint string }{
		{"", "interpret --epsilon E"},
		{"--epsilon -1", "--epsilon must be at least 0"},
		{"--epsilon NaN", "--epsilon must be a decimal number"},
		{"--epsilon 1 --delta 1", "--delta must be"},
		{"--epsilon 1 --prior 0", "a prior must be above 0"},
		{"--epsilon 1 --prior 1", "a prior must be above 0"},
		{"--epsilon 1 --alpha 2", "the level of a test"},
		{"--epsilon 1 --group 0", "--group is an integer"},
		{"--epsilon 1 --group 1.5", "--group is an integer"},
		{"--epsilon 1 --n 0", "-n is an integer"},
		{"--epsilon 1 pure", "one of them"},
		{"gaussian", "gaussian needs sigma"},
		{"gaussian sigma=1", "quote each mechanism"},
		{"--epsilon 1 --format csv", "table, json or markdown"},
		{"--epsilon 1 --plot x.svg", "--plot goes with --example"},
		{"--example drinking", "there is smoking"},
		{"--example smoking --n 3", "-n does not go with"},
		{"--example smoking --epsilon 0", "--epsilon must be above 0"},
		{"--example smoking --plot x.gif", "--plot writes"},
		{"--example smoking pure", "takes no mechanism"},
	} {
		code, out, complaint := interpreting(strings.Fields(c.args)...)
		if code != exitUsage || out != "" || !strings.Contains(complaint, c.complaint) {
			t.Errorf("%s: exit %d, %q", c.args, code, complaint)
		}
	}
}

// JSON is whole at the ends too, and the tables are Markdown where they should be.
func TestInterpretForms(t *testing.T) {
	for _, args := range [][]string{
		{"--epsilon", "1", "--delta", "1e-6"},
		{"--epsilon", "1e20"},
		{"--epsilon", "0"},
		{"gaussian sigma=1"},
		{"--delta", "1e-6", "gdp mu=1", "zcdp rho=1/4"},
		{"--epsilon", "1", "--group", "1e12", "--n", "1e12", "--delta", "0.999"},
		{"--example", "smoking"},
	} {
		code, out, complaint := interpreting(append([]string{"--format", "json"}, args...)...)
		var value map[string]any
		if err := json.Unmarshal([]byte(out), &value); err != nil || code != exitAnswered {
			t.Errorf("%v: exit %d, %v: %s%s", args, code, err, out, complaint)
		}
		code, out, complaint = interpreting(append([]string{"--format", "markdown"}, args...)...)
		if code != exitAnswered || !strings.Contains(out, "| --- |") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, complaint)
		}
	}
	file := filepath.Join(t.TempDir(), "smoking.svg")
	code, out, complaint := interpreting("--example", "smoking", "--format", "json", "--plot", file)
	if code != exitAnswered || !json.Valid([]byte(out)) {
		t.Errorf("exit %d: %s%s", code, out, complaint)
	}
	picture, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(picture), "Alice has lung cancer") {
		t.Errorf("the picture: %v", err)
	}
}
