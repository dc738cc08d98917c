package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// What docs/explanation/checking.md shows of the attacks is what the program prints, but for what real noise makes of the figures of ours: there
// only the bound is compared.
func TestAttackDoc(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	text, err := os.ReadFile("../../docs/explanation/checking.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What is not private")
	section, _, _ = strings.Cut(section, "\n## ")
	figures := regexp.MustCompile(` +(?:[<>] )?[0-9.]+ %`)
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
		if shown++; strings.Contains(command, "--fit max") && os.Getenv("DITHER_LONG") == "" {
			continue // a hundred more linear programs
		}
		var out, complaint strings.Builder
		if code := Run(strings.Fields(command), strings.NewReader(""), &out, &complaint); code != console.ExitAnswered {
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
	odd, one, other := filepath.Join(folder, "odd.csv"), filepath.Join(folder, "one.csv"), filepath.Join(folder, "other.csv")
	for file, text := range map[string]string{
		odd:   "1,0,0,1e9\n0,1,0,0\n0,1,0,1\n",
		one:   "age,disease\n30-39,\"{flu,cold}\"\n50+,\n20-29,gout\n",
		other: "age,disease\nabout 30,flu\n34,gout\n35,cold\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	picture := filepath.Join(folder, "p.svg")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"reconstruct --runs 2", []string{
			`(?m)^Each of 64 made-up people has a secret bit. A curator publishes 320 counts of random groups`, `(?m)^exact +100 % +0 %$`, `(?m)^noise within ±2 +9[6-9]\.. % +[0-9.]+ %$`,
			`(?m)^noise within ±8 +[67].\.. % `, `(?m)^ours, ε = 1 in all +[0-9.]+ % +[0-9.]+ % +73.2 %$`,
		}},
		{"reconstruct --people 16 --questions 40 --runs 2 --noise 1,3 --epsilon .5 --fit max --format json", []string{
			`^\{"attack":"reconstruct","curators":\[\{"curator":"exact","noise":null,"epsilon":null,"at_most":null,"recovered":1,"stddev":0\},\{"curator":"bounded","noise":1,`,
			`"epsilon":0.5,"at_most":0.62245933120185[0-9]+,"recovered":[0-9.]+,"stddev":[0-9.]+\}\],"fit":"max","people":16,"questions":40,"runs":2,"seed":1\}\n$`,
		}},
		{"reconstruct --people 16 --questions 40 --runs 1 --format markdown --plot " + picture, []string{`(?m)^\| curator \| recovered \|`}},
		{"reconstruct --format json --table " + counts, []string{`"bits":\[1,0,1\],"drawn_in":0,"fit":"sum",.*"recovered":null,`}},
		{"reconstruct --people 16 --questions 4 --runs 1 --noise 3", []string{`(?m)^exact +[0-9.]+ %$`, `This ε is for changing one person's bit\. `}},
		{"reconstruct --table " + odd, []string{
			`(?m)^1–3 +1\?\?$`, `(?m)^1 answer was below −3 or above 6, `, `(?m)^2 bits were undecided \(\?\)`, `closer by\nmore than [0-9]e-[0-9]+: `,
		}},
		{"reconstruct --format json --table " + odd, []string{`"bits":\[1,null,null\],"drawn_in":1`}},
		{"difference --about age=34 --sensitive disease --table " + one + " --table " + other, []string{
			`(?m)^one.csv +3 +1 +1 +1: \{flu,cold\}$`, `(?m)^together +1: flu$`, `(?m)^One value is possible: if the person is in all of the tables, it is flu.$`,
			`(?m)^1 value was not understood, and kept: about 30.$`,
		}},
		{"difference --about age=55 --sensitive disease --table " + one, []string{`(?m)^one.csv +3 +1 +1 +1: nothing$`, `(?m)^The tables exclude no value.$`}},
		{"difference --about age=34 --sensitive disease --format json --table " + other, []string{`"certain":false,"left":\["flu","gout"\],"not_understood":\["about 30"\]`}},
		{"difference --runs 20 --epsilon 50", []string{`(?m)^ours, ε = 50 in all .* > 99.9 %$`}},
		{"name-and-shame --runs 10 --delta .1", []string{`(?m)^ *0.1 +> 99.9 % +100 % `}},
		{"difference --runs 200", []string{`(?m)^exact +100 % +100 % +100 %$`, `(?m)^ours, ε = 1 in all +[0-9.]+ % .* 73.2 %$`}},
		{"difference --example -k 5", []string{`(?m)^together +1: hepatitis$`, `(?m)^5-anonymous: not east.csv.$`}},
		{"membership --runs 2 --plot " + picture, []string{`(?m)^exact +[89].\.. %$`, `(?m)^ours, ε = 1 in all +.*13.6 %$`}},
		{"name-and-shame --runs 100", []string{`(?m)^0.0001 +63.2 % .*0.0001 +0$`, `(?m)^ +1e-6 +1.0 % .*1e-6 +0$`}},
	} {
		var out, complaint strings.Builder
		if code := Run(strings.Fields("attack "+c.args), strings.NewReader(""), &out, &complaint); code != console.ExitAnswered {
			t.Errorf("%s: exit %d: %s", c.args, code, complaint.String())
		}
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: no %s in\n%s", c.args, want, out.String())
			}
		}
	}
	if drawn, err := os.ReadFile(picture); err != nil || !strings.Contains(string(drawn), "ours, at most") {
		t.Errorf("the picture holds no bound: %v", err)
	}
}

// What would take too much, or show nothing, is refused.
func TestAttackLimits(t *testing.T) {
	for args, want := range map[string]string{
		"membership --people 2 --runs 3":                       "--people times --runs must be at least 200",
		"membership --people 9223372036854775807 --runs 2":     "at most 4194304 people",
		"membership --attributes 1048577":                      "1048576 attributes",
		"reconstruct --people 512 --questions 8192 --runs 3":   "people² × questions × runs must be at most",
		"difference --runs 10001":                              "runs must be 1 to 10000",
		"difference -k 2,5 --runs 2001":                        "times --runs must be at most 4000",
		"difference -k 2,x":                                    "a list of at most 40 integers",
		"difference --about age= --sensitive x --table y":      "--about has no value for age",
		"difference" + strings.Repeat(" --table /dev/null", 9): "attack difference takes at most 8 tables",
		"difference --example --about age=1 --plot x.svg":      "--plot cannot be used with --example",
		"reconstruct --people 0":                               "people must be 1 to 512",
		"name-and-shame --people 1000000000 --runs 1000":       "people × runs",
	} {
		var out, complaint strings.Builder
		if code := Run(strings.Fields("attack "+args), strings.NewReader(""), &out, &complaint); code != console.ExitUsage || !strings.Contains(complaint.String(), want) {
			t.Errorf("%s: exit %d: %s", args, code, complaint.String())
		}
	}
}
