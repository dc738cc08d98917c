package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the section of docs/checking.md shows is what the program prints, of the files that it shows.
func TestChannelDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## A finite mechanism, exactly")
	section, _, _ = strings.Cut(section, "\n## ")
	t.Chdir(t.TempDir())
	t.Setenv("COLUMNS", "80")
	shown := 0
	blocks := regexp.MustCompile(`(?m)^    \$ `).Split(section, -1)
	for _, block := range blocks[1:] {
		command, rest, _ := strings.Cut(block, "\n")
		var body []string
		for _, line := range strings.Split(rest, "\n") {
			if !strings.HasPrefix(line, "    ") && line != "" {
				break
			}
			body = append(body, strings.TrimPrefix(line, "    "))
		}
		want := strings.TrimRight(strings.Join(body, "\n"), "\n") + "\n"
		if file, ok := strings.CutPrefix(command, "cat "); ok {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		shown++
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(strings.TrimPrefix(command, "dither "), -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		var out, complaint strings.Builder
		if code := Run(args, strings.NewReader(""), &out, &complaint); code != exitAnswered {
			t.Errorf("%s: exit %d: %s", command, code, complaint.String())
		}
		if out.String() != want {
			t.Errorf("%s: it now prints\n%s", command, out.String())
		}
	}
	if shown < 8 {
		t.Errorf("%d commands are shown", shown)
	}
}
