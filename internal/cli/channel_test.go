package cli

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// What the section of docs/explanation/checking.md shows is what the program prints, of the files that it shows.
func TestChannelDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/checking.md")
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
		if code := Run(args, strings.NewReader(""), &out, &complaint); code != console.ExitAnswered {
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

// channelOn runs the command on a matrix.
func channelOn(t *testing.T, matrix string, args ...string) (code int, out, complaint string) {
	t.Helper()
	var o, c strings.Builder
	code = Run(append([]string{"channel", "-"}, args...), strings.NewReader(matrix), &o, &c)
	return code, o.String(), c.String()
}

// What is said of numbers that floats hardly tell, and of answers at their ends.
func TestChannelWords(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("none.csv", []byte("1,1\n2,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const far = "input,a,b\nx,exp(-9999)*exp(-9999),1-exp(-9999)*exp(-9999)\ny,.5,.5\n"
	for name, c := range map[string]struct {
		matrix string
		args   []string
		code   int
		says   string
		never  string
	}{
		"a probability below floats":         {"input,a,b\nx,exp(-9998),1-exp(-9998)\ny,.5,.5\n", nil, console.ExitAnswered, "and exp(-9998) if it is x", "e-324"},
		"one of a long text":                 {"input,a,b\nx,exp(-9998)/12345678901234567890*7,1-exp(-9998)/12345678901234567890*7\ny,.5,.5\n", nil, console.ExitAnswered, "less than 2.3e-308", "e-324"},
		"a surest guess of what is rare":     {"input,a,b\nx,exp(-800),1-exp(-800)\ny,2*exp(-800),1-2*exp(-800)\n", nil, console.ExitAnswered, "after output a: the input is then y with probability 0.666667", "probability 1,"},
		"a guess that is almost sure":        {"input,a,b\nx,1-1e-30,1e-30\ny,1e-30,1-1e-30\n", nil, console.ExitAnswered, "x with probability almost 1;", ""},
		"a capacity, rounded up":             {"input,a,b\nx,1/3,2/3\ny,2/3,1/3\n", nil, console.ExitAnswered, "a factor of 1.33333 (at most 1.33334", ""},
		"a curve beyond what e is raised to": {far, []string{"--curve"}, console.ExitAnswered, "10000", ""},
		"a matrix of one row":                {"input1,.5,.5\n", nil, console.ExitUsage, "one row", ""},
		"no pairs":                           {"input,a,b\nx,.5,.5\ny,.5,.5\n", []string{"--adjacent", "none.csv"}, console.ExitUsage, "nothing to check", ""},
		"a prior whose digits cancel":        {"3/4,1/4\n1/4,3/4\n", []string{"--prior", "0.5e77*(exp(1e-77)-1),1-0.5e77*(exp(1e-77)-1)"}, console.ExitAnswered, "right with probability 0.5 without", ""},
		"a prior that takes too long":        {"3/4,1/4\n1/4,3/4\n", []string{"--prior", "((1+exp(1/1009))^40*(1+exp(1))^40)^2,1"}, console.ExitUsage, "too long", ""},
		"an ε that takes too long":           {"3/4,1/4\n1/4,3/4\n", []string{"--epsilon", "ln(((1+exp(1/1009))^40*(1+exp(1))^40)^2)"}, console.ExitUsage, "too long", ""},
	} {
		code, out, complaint := channelOn(t, c.matrix, c.args...)
		if code != c.code || !strings.Contains(out+complaint, c.says) || c.never != "" && strings.Contains(out, c.never) {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, complaint)
		}
	}
	var told struct {
		At struct{ Delta float64 } `json:"at_delta"`
	}
	_, out, complaint := channelOn(t, "3/4,1/4\n1/4,3/4\n", "--delta", "0.3", "--format", "json")
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.At.Delta != math.Nextafter(0.3, 1) {
		t.Errorf("%v: %s%s", err, out, complaint)
	}
}
