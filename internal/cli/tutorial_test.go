package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// TestTutorialsFromNothing follows tutorials in empty folders: it saves the files that a page shows, and runs its
// commands in their order. Each command must succeed. If the page shows what a command prints, the command must print
// that.
func TestTutorialsFromNothing(t *testing.T) {
	for page, of := range map[string]struct {
		files    []string // in the order in which the page shows them
		commands int
	}{
		"tabulate": {[]string{"home/policy.yaml", "census.yaml"}, 9},
		"stream":   {[]string{"home/policy.yaml"}, 12},
		"workload": {[]string{"home/policy.yaml"}, 12},
		"synth":    {[]string{"home/policy.yaml", "rules.txt"}, 17},
		"together": {[]string{"home/policy.yaml", "two.sql", "many.sql", "later.sql"}, 10},
	} {
		t.Run(page, func(t *testing.T) { follow(t, "../../docs/tutorials/"+page+".md", of.files, of.commands) })
	}
}

func follow(t *testing.T, name string, files []string, commands int) {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("REPO", repository)
	t.Chdir(t.TempDir())
	shown := 0
	for _, block := range regexp.MustCompile("(?s)```(yaml|sql|console)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if block[1] != "console" {
			if err := os.WriteFile(files[0], []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			files = files[1:]
			continue
		}
		for _, command := range strings.Split("\n"+continued.Replace(block[2]), "\n$ ")[1:] {
			command, want, _ := strings.Cut(command, "\n")
			shown++
			if got := followed(t, command); want != "" && strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s prints %q, but the page shows %q", command, got, want)
			}
		}
	}
	if shown != commands || len(files) != 0 {
		t.Errorf("the page shows %d commands, and not the files %v", shown, files)
	}
}

// continued joins the lines of a command.
var continued = strings.NewReplacer("\\\n", " ")

// argument matches an argument of a command, which may be in quotes.
var argument = regexp.MustCompile(`"[^"]*"|\S+`)

// followed runs a command of a page, and returns what it prints, unless the command writes it to a file.
func followed(t *testing.T, command string) string {
	t.Helper()
	if args, ours := strings.CutPrefix(command, "dither "); ours {
		var out, complaint strings.Builder
		args, file, _ := strings.Cut(args, " > ")
		words := argument.FindAllString(args, -1)
		for i := range words {
			words[i] = strings.Trim(words[i], `"`)
		}
		if code := Run(words, strings.NewReader(""), &out, &complaint); code != console.ExitAnswered {
			t.Fatalf("%s: exit %d: %s", command, code, complaint.String())
		}
		if file == "" {
			return out.String()
		}
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}
