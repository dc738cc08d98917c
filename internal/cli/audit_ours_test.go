package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"dither/audit/ours"
)

// The list names every mechanism with what it declares, and audits of two of them find what they should: nothing against the declared
// loss, a counterexample against half of it; exact checks and exit codes agree. False alarms: at most 1e-6 each.
func TestAuditOurs(t *testing.T) {
	run := func(code int, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		if got := Run(args, strings.NewReader(""), &out, &errs); got != code {
			t.Errorf("%v: exit %d, want %d: %s%s", args, got, code, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	list := run(0, "audit")
	var listed struct {
		Mechanisms []struct {
			Name  string
			Exact *struct{ Holds bool }
		}
	}
	if err := json.Unmarshal([]byte(run(0, "audit", "--format", "json")), &listed); err != nil {
		t.Fatal(err)
	}
	for i, s := range ours.All() {
		if !strings.Contains(list, "\n"+s.Name+" ") || listed.Mechanisms[i].Name != s.Name {
			t.Errorf("the lists lack %s", s.Name)
		}
		if x := listed.Mechanisms[i].Exact; x != nil && !x.Holds {
			t.Errorf("%s declares too small a loss", s.Name)
		}
	}
	for _, says := range []string{"Declared  ε = 1.", "and no smaller claim does", "over all 26 pairs of neighbours among 9 inputs", "not refuted"} {
		if text := run(0, "audit", "laplace", "--runs", "2000"); !strings.Contains(text, says) {
			t.Errorf("audit laplace does not say %q:\n%s", says, text)
		}
	}
	if text := run(3, "audit", "laplace", "--epsilon", "0.25", "--runs", "4000"); !strings.Contains(text, "The claim is too small") || !strings.Contains(text, "Counterexample") {
		t.Errorf("a quarter of its ε:\n%s", text)
	}
	// So few runs cannot refute it, but its law does.
	if text := run(3, "audit", "exponential", "--epsilon", "0.76", "--runs", "100"); !strings.Contains(text, "The claim is too small") {
		t.Errorf("less than its law has:\n%s", text)
	}
	// A claim of one's own is checked at its own ε, also of what has a δ at every ε.
	for args, code := range map[string]int{
		"gaussian --epsilon 1 --delta 0.5": 0, "gaussian --epsilon 1 --delta 0.001": 3, "gaussian --epsilon 1": 3, "threshold-gaussian --epsilon 0.5 --delta 0.004": 3,
		"laplace --epsilon 0.5 --delta 0.3": 0, "laplace --epsilon 0.5 --delta 0.2": 3, "partition-counts --epsilon 5": 3, "joint-quantiles --epsilon 9 --delta 0.25": 0,
	} {
		if text := run(code, append([]string{"audit", "--runs", "100"}, strings.Fields(args)...)...); !strings.Contains(text, "(--epsilon, --delta)") {
			t.Errorf("%s: %s", args, text)
		}
	}
	var found struct {
		Exact struct {
			EpsilonExact string `json:"epsilon_exact"`
			Attained     bool
		}
		Audit struct{ Verdict string }
	}
	if err := json.Unmarshal([]byte(run(0, "audit", "--format", "json", "randomized-response", "--runs", "500")), &found); err != nil {
		t.Fatal(err)
	}
	if found.Exact.EpsilonExact != "ln 3" || !found.Exact.Attained || found.Audit.Verdict != "not refuted" {
		t.Errorf("%+v", found)
	}
	for _, bad := range [][]string{{"lapace"}, {"laplace", "staircase"}, {"--epsilon", "1"}, {"laplace", "--runs", "0"}, {"laplace", "--confidence", "1"}, {"laplace", "--input", "x"}} {
		run(2, append([]string{"audit"}, bad...)...)
	}
	if text := run(2, "audit", "lapace"); !strings.Contains(text, "did you mean laplace?") {
		t.Error(text)
	}
}

// What docs/explanation/checking.md shows of dither's own mechanisms is what the program prints; of audits of runs, what comes before the runs.
func TestOursInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/explanation/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## dither's own mechanisms\n")
	section, _, _ = strings.Cut(section, "\n## ")
	lines := strings.Split(section, "\n")
	shown := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither ")
		if !ok {
			continue
		}
		shown++
		args := strings.Fields(command)
		if len(args) > 1 {
			args = append(args, "--runs", "100")
		}
		var out strings.Builder
		if code := Run(args, strings.NewReader(""), &out, &out); code != 0 && (code != 3 || !strings.Contains(command, "--epsilon")) {
			t.Errorf("%s: exit %d", command, code)
		}
		for j, got := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
			want := strings.TrimPrefix(lines[i+1+j], "    ")
			if want == "…" {
				break
			}
			if got != want {
				t.Errorf("%s: line %d is now %q", command, j+1, got)
				break
			}
		}
	}
	if shown < 4 {
		t.Errorf("the page shows %d commands", shown)
	}
}
