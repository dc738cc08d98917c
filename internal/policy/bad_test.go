package policy_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"dither/internal/policy"
)

var update = flag.Bool("update", false, "rewrite testdata/bad.txt's expectations")

// testdata/bad.txt holds a policy, then cases: the lines that replace others in it, and the exact errors that follow.
//
//	=== what is tried
//	-old text (as it stands once in the policy; \n, \t, \x00, \xff, \e (nothing) are escapes)
//	+new text
//	>line:column: field: message (hint)
func TestBadFiles(t *testing.T) {
	const file = "testdata/bad.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "\n=== ")
	base := parts[0] + "\n"
	if _, err := policy.Decode([]byte(base), ""); err != nil {
		t.Fatal("the base is good:", err)
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\x00`, "\x00", `\x1b`, "\x1b", `\xff`, "\xff", `\e`,
		"", `\\`, `\`)
	var out strings.Builder
	out.WriteString(parts[0])
	for _, part := range parts[1:] {
		lines := strings.Split(strings.TrimRight(part, "\n"), "\n")
		text, before, want := base, "", ""
		out.WriteString("\n=== " + lines[0] + "\n")
		for _, line := range lines[1:] {
			switch line[0] {
			case '-':
				before = unescape.Replace(line[1:])
				if strings.Count(text, before) != 1 {
					t.Fatalf("%s: %q does not stand once in the policy", lines[0], before)
				}
			case '+':
				text = strings.Replace(text, before, unescape.Replace(line[1:]), 1)
			case '>':
				want += line[1:] + "\n"
				continue
			}
			out.WriteString(line + "\n")
		}
		got := ""
		if _, err := policy.Decode([]byte(text), ""); err != nil {
			got = strings.ReplaceAll("\n"+err.Error(), "\nline ", "\n")[1:] + "\n"
		}
		if got != want && !*update {
			t.Errorf("%s\ngot:\n%swant:\n%s", lines[0], got, want)
		}
		for line := range strings.Lines(got) {
			out.WriteString(">" + line)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
