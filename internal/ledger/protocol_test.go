package ledger

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The protocol is checked as a model by SPIN. docs/design/0002-ledger.pml names the claims, the set-ups, and each step
// of the protocol that can be left out, with the claim that then fails.
const modelPath = "../../docs/design/0002-ledger.pml"

// The least that the model has, so that nothing is lost from it unnoticed.
const (
	minSetUps = 10
	minSteps  = 34
)

// promela is what the model says of itself.
type promela struct {
	setUps [][2]string // name and definitions
	steps  [][3]string // name, set-up, and the claim that fails without the step
	claims []string
}

// parsePromela reads the tables in the model's first comment, and holds them to the model.
func parsePromela(t *testing.T) promela {
	t.Helper()
	data, err := os.ReadFile(modelPath)
	must(t, err)
	text := string(data)
	head, body, _ := strings.Cut(text, "*/")
	var p promela
	for _, m := range regexp.MustCompile(`(?m)^  SETUP (\S+) +(.+)$`).FindAllStringSubmatch(head, -1) {
		p.setUps = append(p.setUps, [2]string{m[1], m[2]})
	}
	for _, m := range regexp.MustCompile(`(?m)^  STEP (\S+) +(\S+) +(\S+)$`).FindAllStringSubmatch(head, -1) {
		p.steps = append(p.steps, [3]string{m[1], m[2], m[3]})
	}
	for _, m := range regexp.MustCompile(`(?m)^  ([A-Z]+)  +[a-z].*$`).FindAllStringSubmatch(head, -1) {
		p.claims = append(p.claims, m[1])
	}
	if len(p.setUps) < minSetUps || len(p.steps) < minSteps {
		t.Fatalf("%d set-ups and %d steps, want %d and %d", len(p.setUps), len(p.steps), minSetUps, minSteps)
	}
	named := map[string]bool{}
	for _, s := range p.steps {
		named[s[0]] = true
		if !regexp.MustCompile(`(?m)^#ifn?def ` + s[0] + `$`).MatchString(body) {
			t.Errorf("%s is a step that the model does not have", s[0])
		}
	}
	for _, name := range regexp.MustCompile(`WITHOUT_[A-Z_]+`).FindAllString(body, -1) {
		if !named[name] {
			t.Errorf("%s is not in the table of steps", name)
		}
	}
	return p
}

// TestProtocol searches each set-up of the model whole, where no claim may fail, and leaves out one step after the
// other, where the claim of the table must fail. Without DITHER_LONG it is one set-up and one step.
func TestProtocol(t *testing.T) {
	p := parsePromela(t)
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("DITHER_TEST_NEEDS_SPIN") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	for _, claim := range p.claims {
		broken := slices.ContainsFunc(p.steps, func(s [3]string) bool { return s[2] == claim })
		if !broken && claim != "ROOM" { // the size of the arrays, which says nothing of the protocol
			t.Errorf("no step breaks the claim %s", claim)
		}
	}
	if os.Getenv("DITHER_LONG") == "" {
		p.setUps, p.steps = p.setUps[:1], p.steps[:1]
	}
	for _, setUp := range p.setUps {
		t.Run(setUp[0], func(t *testing.T) {
			if failed := searchModel(t, setUp[1], ""); failed != "" {
				t.Errorf("the claim %s fails", failed)
			}
			for _, step := range p.steps {
				if step[1] != setUp[0] {
					continue
				}
				t.Run(step[0], func(t *testing.T) {
					if failed := searchModel(t, setUp[1], step[0]); failed != step[2] {
						t.Errorf("the claim %q fails, want %s", failed, step[2])
					}
				})
			}
		})
	}
}

// searchModel looks through all states of the model with these definitions, with one step left out where it is named,
// and returns the first claim that fails. A search that could not be whole fails the test.
func searchModel(t *testing.T, definitions, without string) (failed string) {
	t.Helper()
	model, err := filepath.Abs(modelPath)
	must(t, err)
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	args, optimize := []string{}, "-O2"
	for _, d := range strings.Fields(definitions) {
		args = append(args, "-D"+d)
	}
	if without != "" {
		args, optimize = append(args, "-D"+without), "-O0" // the search is short: compiling it is longer
	}
	run("spin", append(args, "-a", model)...)
	run("cc", optimize, "-w", "-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", "-DVECTORSZ=1024", "-DMEMLIM=4096", "-o",
		"search", "pan.c")
	out := run("./search", "-m1000000", "-w24")
	if found := regexp.MustCompile(`pan:\d+: assertion violated .*\|\| ?([A-Z]+)\)`).FindStringSubmatch(
		out); found != nil {
		return found[1]
	}
	for _, cut := range []string{
		"Search not completed", "max search depth too small", "out of memory",
		"memory limit",
	} {
		if strings.Contains(out, cut) {
			t.Fatalf("the search was not whole: %s:\n%s", cut, out)
		}
	}
	states := regexp.MustCompile(`(\S+) states, stored`).FindStringSubmatch(out)
	if !strings.Contains(out, "errors: 0") || states == nil {
		t.Fatalf("the search did not end:\n%s", out)
	}
	t.Logf("%s: %s states, %s", definitions, states[1], regexp.MustCompile(`elapsed time .*`).FindString(out))
	return ""
}
