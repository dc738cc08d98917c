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
	"testing"
)

// What docs/checking.md shows of audits of programs is what the program prints, with the examples' noise from a counted seed, but for the
// times.
func TestAuditDoc(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	t.Chdir("../..")
	text, err := os.ReadFile("docs/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLUMNS", "80")
	lines := strings.Split(string(text), "\n")
	shown := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither ")
		if !ok || !strings.HasPrefix(command, "audit --command") {
			continue
		}
		shown++
		t.Setenv("AUDIT_EXAMPLE_COUNTER", filepath.Join(t.TempDir(), "counter"))
		for strings.HasSuffix(command, "\\") {
			i++
			command = strings.TrimSuffix(command, "\\") + strings.TrimSpace(lines[i])
		}
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		var out, complaint strings.Builder
		if code := Run(args, strings.NewReader(""), &out, &complaint); code != exitAnswered && code != exitRefused {
			t.Errorf("%s: exit %d: %s", command, code, complaint.String())
		}
		for j, want := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
			if strings.HasPrefix(want, "  a run took") {
				continue
			}
			if i+1+j >= len(lines) || strings.TrimPrefix(lines[i+1+j], "    ") != want {
				t.Errorf("%s: line %d is now %q", command, j+1, want)
				if os.Getenv("DITHER_SHOW") != "" {
					t.Log(out.String())
				}
				break
			}
		}
	}
	if shown != 2 {
		t.Errorf("%d audits are shown", shown)
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
	code := Run([]string{"audit", "--command", "sh -c 'yes \"$(cat)\" | head -n {runs}'", "--input", a, "--neighbor", b, "--epsilon", "1", "--runs", "1000", "--format", "json"},
		strings.NewReader(""), &out, &complaint)
	var got struct {
		Verdict string
		Claim   struct{ Epsilon, Delta float64 }
		Epsilon float64 `json:"epsilon_at_least"`
		Events  []struct {
			Event, Likely string
			Counts        struct{ Data, Neighbor int }
		}
		Histogram struct {
			Parts []struct{ Data, Neighbor int }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err, out.String(), complaint.String())
	}
	if code != exitRefused || got.Verdict != "refuted" || got.Claim.Epsilon != 1 || got.Epsilon < 3 || math.IsInf(got.Epsilon, 0) ||
		got.Events[0].Event != "the output is ≤ 1" || got.Events[0].Likely != "data" || got.Events[0].Counts.Data != 500 || len(got.Histogram.Parts) != 2 {
		t.Errorf("exit %d: %s", code, out.String())
	}
}
