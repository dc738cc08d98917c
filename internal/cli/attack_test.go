package cli

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// What docs/checking.md shows of the attacks is what the program prints, but for what real noise makes of the figures of ours: there
// only the bound is compared.
func TestAttackDoc(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	text, err := os.ReadFile("../../docs/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What is not private")
	section, _, _ = strings.Cut(section, "\n## ")
	figures := regexp.MustCompile(` +[0-9.]+ %`)
	same := func(got, want string) bool {
		if strings.HasPrefix(got, "ours, ") {
			bound := strings.LastIndex(got, "  ")
			return figures.ReplaceAllString(got, " x") == figures.ReplaceAllString(want, " x") && strings.HasSuffix(want, got[bound:])
		}
		return got == want
	}
	lines := strings.Split(section, "\n")
	shown := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither ")
		if !ok {
			continue
		}
		shown++
		var out, complaint strings.Builder
		if code := Run(strings.Fields(command), strings.NewReader(""), &out, &complaint); code != exitAnswered {
			t.Errorf("%s: exit %d: %s", command, code, complaint.String())
		}
		for j, got := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
			if i+1+j >= len(lines) || !same(got, strings.TrimPrefix(lines[i+1+j], "    ")) {
				t.Errorf("%s: line %d is now %q", command, j+1, got)
				break
			}
		}
	}
	if shown < 7 {
		t.Errorf("%d commands are shown", shown)
	}
}

// Shares are written so that what is said of them stays true.
func TestShares(t *testing.T) {
	for got, want := range map[string]string{
		share(0): "0 %", share(1): "100 %", share(0.9996): "100.0 %", share(0.5): "50.0 %",
		mostShare(0.7310585786300049): "73.2 %", mostShare(0.1359140914229523): "13.6 %", mostShare(1): "100 %", mostShare(0.99995): "100 %",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
