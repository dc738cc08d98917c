package cli

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dither/internal/cli/console"
)

// What docs/explanation/checking.md shows of audits of programs is what the program prints, with the examples' noise from a counted seed, but for the
// times; and the script that it shows is the whole of it.
func TestAuditDoc(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	t.Chdir("../..")
	text, err := os.ReadFile("docs/explanation/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLUMNS", "80")
	t.Setenv("PYTHONPATH", "internal/cli/testdata/seeded")
	t.Setenv("AUDIT_EXAMPLE_COUNTERS", t.TempDir())
	lines := strings.Split(string(text), "\n")
	var audits sync.WaitGroup
	shown := 0
	for i, line := range lines {
		if name, ok := strings.CutPrefix(line, "    $ cat examples/audit/"); ok {
			sameLines(t, lines[i+1:], line, readText(t, "examples/audit/"+name))
		}
		command, ok := strings.CutPrefix(line, "    $ dither ")
		if !ok || !strings.HasPrefix(command, "audit --command") {
			continue
		}
		shown++
		for strings.HasSuffix(command, "\\") {
			i++
			command = strings.TrimSuffix(command, "\\") + strings.TrimSpace(lines[i])
		}
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		audits.Go(func() {
			var out, complaint strings.Builder
			if code := Run(args, strings.NewReader(""), &out, &complaint); code != console.ExitAnswered && code != console.ExitRefused {
				t.Errorf("%s: exit %d: %s", command, code, complaint.String())
			}
			sameLines(t, lines[i+1:], command, out.String())
		})
	}
	audits.Wait()
	if shown != 2 {
		t.Errorf("%d audits are shown", shown)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameLines compares what is shown with what it is, but for times.
func sameLines(t *testing.T, lines []string, what, text string) {
	t.Helper()
	for j, want := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(want, "  a run took") {
			continue
		}
		if j >= len(lines) || strings.TrimPrefix(lines[j], "    ") != want {
			t.Errorf("%s: line %d is now %q", what, j+1, want)
			if os.Getenv("DITHER_SHOW") != "" {
				t.Log(text)
			}
			return
		}
	}
}

// The JSON form has what the words have.
func TestAuditJSON(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for name, text := range map[string]string{a: "1\n", b: "2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, complaint strings.Builder
	code := Run([]string{"audit", "--command", "sh -c 'yes \"$(cat)\" | head -n {runs}'", "--input", a, "--neighbour", b, "--epsilon", "1", "--runs", "1000", "--format", "json"},
		strings.NewReader(""), &out, &complaint)
	var got struct {
		Verdict string
		Claim   struct{ Epsilon, Delta float64 }
		Epsilon float64 `json:"epsilon_at_least"`
		Runs    int
		Learned int `json:"learned_runs"`
		Events  []struct {
			Event, Likely string
			Whole         bool
			AtMost        *float64 `json:"at_most"`
			Counts        struct{ Data, Neighbor int }
		}
		Histogram struct {
			Parts []struct{ Data, Neighbor int }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err, out.String(), complaint.String())
	}
	if code != console.ExitRefused || got.Verdict != "refuted" || got.Claim.Epsilon != 1 || got.Epsilon < 3 || math.IsInf(got.Epsilon, 0) ||
		got.Runs != 1000 || got.Learned != 500 ||
		got.Events[0].Event != "the output is ≤ 1" || !got.Events[0].Whole || got.Events[0].AtMost == nil || *got.Events[0].AtMost != 1 || got.Events[0].Likely != "data" || got.Events[0].Counts.Data != 500 || len(got.Histogram.Parts) != 2 {
		t.Errorf("exit %d: %s", code, out.String())
	}
}
