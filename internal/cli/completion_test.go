package cli

import (
	"os/exec"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// Every command and every flag of every command is in every shell's completion.
func TestCompletionIsWhole(t *testing.T) {
	all := completions()
	for shell, text := range map[string]string{"bash": bashCompletion(all), "zsh": zshCompletion(all), "fish": fishCompletion(all)} {
		for _, c := range verbs() {
			line := ""
			for l := range strings.Lines(text) {
				switch trimmed := strings.TrimSpace(l); {
				case shell != "fish" && strings.HasPrefix(trimmed, c.Name+")"), shell == "fish" && strings.Contains(l, "from "+c.Name+"'"):
					line += l
				}
			}
			if !strings.Contains(text, c.Name) || line == "" && shell != "fish" {
				t.Errorf("%s has no %s", shell, c.Name)
			}
			for _, f := range flagsOf(c) {
				want := " " + console.Dashed(f.name)
				if shell == "fish" {
					want = map[bool]string{true: " -s ", false: " -l "}[len(f.name) == 1] + f.name
				}
				if f.name == "C" && shell == "fish" {
					line += text // it is the same for all
				}
				if !strings.Contains(strings.ReplaceAll(line, `"`, " "), want) {
					t.Errorf("%s: %s has no %s", shell, c.Name, console.Dashed(f.name))
				}
			}
		}
	}
}

// What is known of each command comes from the command itself.
func TestCompletionsAreTheCommands(t *testing.T) {
	got := map[string]string{}
	for _, c := range completions() {
		got[c.name] = strings.Join(c.offers(), " ")
	}
	for name, want := range map[string]string{
		"demo":   "data -C --format --keep --out --rows --seed",
		"policy": "check expand accept -C --abandon --dry-run", "completion": "bash zsh fish -C", "version": "-C", "budget": "-C --format --group",
		"ledger": "head list show verify merge resume clock recover -C --against --format --into --rows --spent",
	} {
		if got[name] != want {
			t.Errorf("%s offers %q, want %q", name, got[name], want)
		}
	}
	for _, want := range []string{"--plot", "--chart", "--epsilon", "-f"} {
		if !strings.Contains(got["query"]+" ", want+" ") {
			t.Errorf("query offers %q, not %s", got["query"], want)
		}
	}
}

// The shells that are there read what is printed for them, and bash completes with it.
func TestShellsReadTheirCompletion(t *testing.T) {
	all := completions()
	for shell, text := range map[string]string{"bash": bashCompletion(all), "zsh": zshCompletion(all), "fish": fishCompletion(all)} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(text)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for line, want := range map[string]string{
		"dither pol":                    "policy",
		"dither policy ":                "check expand accept -C --abandon --dry-run",
		"dither -C home led":            "ledger",
		"dither query --format m":       "markdown",
		"dither query --format = j":     "json", // bash takes --format=j apart
		"dither query --format =":       "table json csv markdown",
		"dither query --plot ":          "",
		"dither fit linear --norm":      "--normalise",
		"dither fit network --hid":      "--hidden",
		"dither explain --f":            "--format --fresh",
		"dither -C home query --epsi":   "--epsilon",
		"dither completion b":           "bash",
		"dither query --chart x --plo":  "--plot",
		"dither policy check -C home -": "-C --abandon --dry-run",
	} {
		words := strings.Split(line, " ")
		script := bashCompletion(all) + "\nCOMP_WORDS=(" + strings.Join(words, " ") + ")\n"
		if strings.HasSuffix(line, " ") {
			script += "COMP_WORDS+=('')\n"
		}
		script += "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_dither\necho \"${COMPREPLY[*]}\"\n"
		run := exec.Command(bash)
		run.Stdin = strings.NewReader(script)
		out, err := run.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, want %q (%v)", line, got, want, err)
		}
	}
}
