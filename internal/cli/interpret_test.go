package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// interpreting runs dither interpret.
func interpreting(args ...string) (code int, out, complaint string) {
	var o, e strings.Builder
	code = Run(append([]string{"interpret"}, args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// What docs/explanation/checking.md shows of it is what the program prints.
func TestInterpretDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/checking.md")
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
		if code != console.ExitAnswered {
			t.Errorf("%s: exit %d: %s", command, code, complaint)
		}
		for j, want := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
			if i+1+j >= len(lines) || strings.TrimPrefix(lines[i+1+j], "    ") != want {
				t.Errorf("%s: line %d is now %q", command, j+1, want)
				break
			}
		}
	}
	if shown < 5 {
		t.Errorf("%d commands are shown", shown)
	}
}

func TestInterpretRefuses(t *testing.T) {
	for _, c := range []struct{ args, complaint string }{
		{"", "interpret needs either --epsilon E"},
		{"--epsilon -1", "--epsilon must be at least 0"},
		{"--epsilon NaN", "--epsilon must be a decimal number"},
		{"--epsilon 1 --delta 1", "--delta must be"},
		{"--epsilon 1 --prior 0", "a prior must be above 0"},
		{"--epsilon 1 --prior 1", "a prior must be above 0"},
		{"--epsilon 1 --alpha 2", "the level of a test"},
		{"--epsilon 1 --group 0", "--group must be an integer"},
		{"--epsilon 1 --group 1.5", "--group must be an integer"},
		{"--epsilon 1 --n 0", "-n must be an integer"},
		{"--epsilon 1 pure", "interpret needs either"},
		{"gaussian", "gaussian needs sigma"},
		{"gaussian sigma=1", "quote each mechanism"},
		{"--epsilon 1 --format csv", "table, json or markdown"},
		{"--epsilon 1 --format xml", "--format must be table, json or markdown, not \"xml\""},
		{"--epsilon 1 --neighbours both", "--neighbours must be add-remove or change-one"},
		{"--neighbours add-remove quoted", "there is no mechanism"},
		{"--example smoking --epsilon 0.09", "from 0.1 to 5"},
		{"--example smoking --epsilon 6", "from 0.1 to 5"},
		{"--epsilon 1 --plot x.svg", "--plot needs --example"},
		{"--example drinking", "there is smoking"},
		{"--example smoking --n 3", "-n cannot be used with"},
		{"--example smoking --epsilon 0", "--epsilon must be above 0"},
		{"--example smoking --plot x.gif", "--plot writes"},
		{"--example smoking pure", "takes no mechanism"},
	} {
		code, out, complaint := interpreting(strings.Fields(c.args)...)
		if code != console.ExitUsage || out != "" || !strings.Contains(complaint, c.complaint) {
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
		if err := json.Unmarshal([]byte(out), &value); err != nil || code != console.ExitAnswered {
			t.Errorf("%v: exit %d, %v: %s%s", args, code, err, out, complaint)
		}
		code, out, complaint = interpreting(append([]string{"--format", "markdown"}, args...)...)
		if code != console.ExitAnswered || !strings.Contains(out, "| --- |") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, complaint)
		}
	}
	file := filepath.Join(t.TempDir(), "smoking.svg")
	code, out, complaint := interpreting("--example", "smoking", "--format", "json", "--plot", file)
	if code != console.ExitAnswered || !json.Valid([]byte(out)) {
		t.Errorf("exit %d: %s%s", code, out, complaint)
	}
	picture, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(picture), "Alice has lung cancer") {
		t.Errorf("the picture: %v", err)
	}
}

// What is said is true of what is asked: of the relation, of a δ, of numbers as they were given.
func TestInterpretWords(t *testing.T) {
	const absent = "in the data"
	for _, c := range []struct {
		args   []string
		said   []string
		unsaid []string
	}{
		{[]string{"randomized-response k=3 epsilon=1"}, []string{"changing one person's data may multiply", "(change-one)", "Whether she is in the data is not protected: the number of people counts as public.", "her data or a default instead                 7.39"}, []string{"is she in the data", "members"}},
		{[]string{"--delta", "1e-6", "gaussian sigma=4 sampling=1/10 scheme=fixed"}, []string{"(change-one)", "the data of a group of 4", "come from the job's own curve"}, []string{"is she in the data", "a default"}},
		{[]string{"--epsilon", "1", "--neighbours", "change-one", "--group", "1"}, []string{"(change-one)"}, []string{"group", absent + " rises"}},
		{[]string{"gaussian sigma=1 sampling=1/10"}, []string{"is she in the data", "(add-remove)", "No rating", "--delta 1e-6"}, []string{"change-one", "A belief", "a belief of 1 in 100"}},
		{[]string{"--epsilon", "0", "--delta", ".3"}, []string{"Hardly any protection", "3,000", "Warning: with probability up to δ = .3,", "no bound is known on how often it does", "is a group of 4 in the data?     nothing promised                        –               100 of 100"}, []string{"1 in 99"}},
		{[]string{"--epsilon", "50", "--delta", "1e-6"}, []string{"With probability up to δ = 1e-6,", "nothing promised"}, []string{"Warning"}},
		{[]string{"--epsilon", "1", "--delta", "1e-5", "--n", "10000"}, []string{"Weak protection", "nδ = 0.1 on average (above"}, []string{"assumption"}},
		{[]string{"--epsilon", "1", "--delta", "1e-4"}, []string{"people (an assumption: set -n)", "1 record on average", "rule of thumb, 1/(100n), δ should be at most", "The worst mechanism that this permits"}, []string{"on average, as they"}},
		{[]string{"--epsilon", "1", "--prior", "0.99999999"}, []string{"99,999,999 in 100,000,000 rises to"}, nil},
		{[]string{"--epsilon", "0"}, []string{"does not change", "1 in 100                 5 of 100"}, []string{"99", "6 of"}},
		{[]string{"--epsilon", "3"}, []string{"Weak protection"}, nil},
		{[]string{"--epsilon", "2.9"}, []string{"Moderate protection"}, nil},
		{[]string{"--epsilon", "7"}, []string{"Hardly any protection"}, nil},
		{[]string{"--example", "smoking", "--epsilon", "5"}, []string{"above 0.9999", "|ln of their ratio|", "at most 2ε = 10"}, nil},
	} {
		code, out, complaint := interpreting(c.args...)
		if code != console.ExitAnswered {
			t.Errorf("%q: exit %d: %s", c.args, code, complaint)
		}
		var lines []string
		for _, paragraph := range strings.Split(out, "\n\n") {
			lines = append(lines, strings.ReplaceAll(paragraph, "\n", " "))
		}
		text := strings.Join(lines, "\n")
		for _, said := range c.said {
			if !strings.Contains(text, said) {
				t.Errorf("%q does not say %q:\n%s", c.args, said, out)
			}
		}
		for _, unsaid := range c.unsaid {
			if strings.Contains(text, unsaid) {
				t.Errorf("%q says %q:\n%s", c.args, unsaid, out)
			}
		}
	}
}
