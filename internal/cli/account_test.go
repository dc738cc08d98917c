package cli

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// What docs/reference/accounting.md shows is what the program prints.
func TestAccountingDoc(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	text, err := os.ReadFile("../../docs/reference/accounting.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLUMNS", "80")
	lines := strings.Split(string(text), "\n")
	shown := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "    $ dither ")
		if !ok {
			continue
		}
		shown++
		if strings.Contains(command, "sampling=") && os.Getenv("DITHER_LONG") == "" {
			continue
		}
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(command, -1) {
			args = append(args, strings.Trim(word, `"`))
		}
		var out, complaint strings.Builder
		if code := Run(args, strings.NewReader(""), &out, &complaint); code != exitAnswered {
			t.Errorf("%s: exit %d: %s", command, code, complaint.String())
		}
		for j, want := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
			if i+1+j >= len(lines) || strings.TrimPrefix(lines[i+1+j], "    ") != want {
				t.Errorf("%s: line %d is now %q", command, j+1, want)
				break
			}
		}
	}
	if shown < 8 {
		t.Errorf("%d commands are shown", shown)
	}
}

// Numbers are written so that what is said of them stays true.
func TestShortNumbers(t *testing.T) {
	for got, want := range map[string]string{
		above(1e-6): "1e-6", above(1.0000001e-6): "1.00001e-6", below(1.9999999): "1.99999", above(0.99999999): "1", above(1234567): "1.23457e6",
		digitsAbove(1.101e-5, 3): "1.11e-5", digitsAbove(0.9999, 3): "1", above(0): "0", grouped(1e-6): "1,000,000", grouped(0.0999999): "10",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
