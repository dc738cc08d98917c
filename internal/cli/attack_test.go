package cli

import (
	"os"
	"path/filepath"
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
		if shown++; strings.HasPrefix(command, "attack reconstruct") && os.Getenv("DITHER_LONG") == "" {
			continue // hundreds of linear programs
		}
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

// What the attacks print, of which the figures of ours vary.
func TestAttacks(t *testing.T) {
	folder := t.TempDir()
	counts := filepath.Join(folder, "counts.csv")
	if err := os.WriteFile(counts, []byte("1,1,0,1.2\n0,1,1,0.9\n1,0,1,2.1\n0,0,1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(folder, "p.svg")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"reconstruct --runs 2", []string{
			`(?m)^Each of 64 made-up people has a secret bit. 320 counts of random groups`, `(?m)^exact +100 % +0 %$`, `(?m)^noise within ±2 +9[6-9]\.. % +[0-9.]+ %$`,
			`(?m)^noise within ±8 +[67].\.. % `, `(?m)^ours, ε = 1 in all +[0-9.]+ % +[0-9.]+ % +73.2 %$`,
		}},
		{"reconstruct --people 16 --questions 40 --runs 2 --noise 1,3 --epsilon .5 --fit max --format json", []string{
			`^\{"attack":"reconstruct","curators":\[\{"curator":"exact","noise":null,"epsilon":null,"recovered":1,"stddev":0,"at_most":null\},\{"curator":"bounded","noise":1,`,
			`"epsilon":0.5,"recovered":[0-9.]+,"stddev":[0-9.]+,"at_most":0.62245933120185[0-9]+\}\],"fit":"max","people":16,"questions":40,"runs":2,"seed":1\}\n$`,
		}},
		{"reconstruct --people 16 --questions 40 --runs 1 --format markdown --plot " + picture, []string{`(?m)^\| curator \| recovered \|`}},
		{"reconstruct --format json --table " + counts, []string{`"bits":\[1,0,1\],"fit":"sum",.*"recovered":null,`}},
		{"difference --runs 200", []string{`(?m)^exact +100 % +100 % +100 %$`, `(?m)^ours, ε = 1 in all +[0-9.]+ % .* 73.2 %$`}},
		{"difference --example -k 5", []string{`(?m)^together +1: hepatitis$`, `(?m)^5-anonymous: not east.csv.$`}},
		{"membership --runs 2 --plot " + picture, []string{`(?m)^exact +[89].\.. %$`, `(?m)^ours, ε = 1 in all +.*13.6 %$`}},
		{"name-and-shame --runs 100", []string{`(?m)^0.0001 +63.2 % .*0.0001 +0$`, `(?m)^ +1e-6 +1.0 % .*1e-6 +0$`}},
	} {
		var out, complaint strings.Builder
		if code := Run(strings.Fields("attack "+c.args), strings.NewReader(""), &out, &complaint); code != exitAnswered {
			t.Errorf("%s: exit %d: %s", c.args, code, complaint.String())
		}
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: no %s in\n%s", c.args, want, out.String())
			}
		}
	}
	if drawn, err := os.ReadFile(picture); err != nil || !strings.Contains(string(drawn), "at most, at this") {
		t.Errorf("the picture holds no bound: %v", err)
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
