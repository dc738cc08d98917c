package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"dither/internal/cli/console"
)

// TestTutorialsFromNothing follows tutorials in empty folders: it saves the files that a page shows, and runs its
// commands in their order. Each command must succeed. If the page shows what a command prints, the command must print
// that. A command with & at its end runs until a page kills it. The address of a collector is another one here.
func TestTutorialsFromNothing(t *testing.T) {
	for page, of := range map[string]struct {
		files    []string // in the order in which the page shows them
		commands int
	}{
		"tabulate": {[]string{"home/policy.yaml", "census.yaml"}, 9},
		"stream":   {[]string{"home/policy.yaml"}, 12},
		"workload": {[]string{"home/policy.yaml"}, 12},
		"synth":    {[]string{"home/policy.yaml", "rules.txt"}, 17},
		"survey":   {[]string{"survey.yaml"}, 6},
		"together": {[]string{"home/policy.yaml", "two.sql", "many.sql", "later.sql"}, 10},
	} {
		t.Run(page, func(t *testing.T) { follow(t, "../../docs/tutorials/"+page+".md", of.files, of.commands) })
	}
}

// TestStatisticianFromNothing runs the commands of the statistician's tutorial in their order. Each must succeed, and print
// the lines that the page shows, but for what noise decides: lines are compared up to their first digit.
func TestStatisticianFromNothing(t *testing.T) {
	page, err := os.ReadFile("../../docs/tutorials/statistician.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(examples, "examples"); err != nil {
		t.Fatal(err)
	}
	shown, spaces, undecided := 0, regexp.MustCompile(` +`), regexp.MustCompile(`^[^0-9[<?-]*`)
	for _, block := range regexp.MustCompile("(?s)```\n(\\$ .*?)```").FindAllStringSubmatch(string(page), -1) {
		for _, command := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(command, "\n")
			shown++
			if home, ok := strings.CutPrefix(command, "export DITHER_HOME="); ok {
				t.Setenv("DITHER_HOME", home)
				continue
			}
			if strings.HasPrefix(command, "dither ") {
				command = strings.ReplaceAll(command, "'", `"`)
			}
			got := followed(t, command)
			if strings.HasPrefix(command, "dither seal ") { // what it prints is for the owner alone, beside the answers
				continue
			}
			// the widths of columns depend on noise
			begins := "\n" + regexp.MustCompile(`(?m)^ +| +$`).ReplaceAllString(spaces.ReplaceAllString(got, " "), "")
			for line := range strings.Lines(want) {
				begin := strings.TrimSpace(spaces.ReplaceAllString(undecided.FindString(line), " "))
				if !strings.Contains(begins, "\n"+begin) {
					t.Errorf("%s prints %s without a line that begins %q", command, got, begin)
				}
			}
		}
	}
	if shown != 15 {
		t.Errorf("the page shows %d commands", shown)
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
	shown, stop := 0, func() { t.Error("there is nothing to kill") }
	address := free(t)
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
			command = strings.ReplaceAll(command, "127.0.0.1:8484", address)
			if begun, ends := strings.CutSuffix(command, " &"); ends {
				command, stop = "true", begin(t, begun, address)
			} else if command == "kill %1" {
				command = "true"
				stop()
			}
			if got := followed(t, command); want != "" && strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s prints %q, but the page shows %q", command, got, want)
			}
		}
	}
	if shown != commands || len(files) != 0 {
		t.Errorf("the page shows %d commands, and not the files %v", shown, files)
	}
}

// free returns an address that nothing listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// begin starts a command that writes to a file, and waits until it listens at the address. The function that it returns
// ends the command, which must succeed.
func begin(t *testing.T, command, address string) (stop func()) {
	t.Helper()
	command, file, _ := strings.Cut(command, " > ")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Args, c.Stdout, c.Stderr = argument.FindAllString(command, -1), out, out // as dither: see TestMain
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // if the page did not kill it
	for range 600 {
		if connection, err := net.Dial("tcp", address); err == nil {
			_ = connection.Close()
			return func() {
				_ = c.Process.Signal(syscall.SIGTERM)
				if err := c.Wait(); err != nil {
					t.Error(err)
				}
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not listen at %s in a minute", command, address)
	return nil
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
