package cli

import (
	"io"
	"strings"
	"testing"

	"dither/internal/cli/console"
)

// Every flag of every command has its line of help.
func TestHelpIsWhole(t *testing.T) {
	for _, args := range [][]string{
		{"init"},
		{"policy"},
		{"seal"},
		{"tables"},
		{"explain"},
		{"query"},
		{"estimate"},
		{"estimate", "quantile"},
		{"estimate", "survival"},
		{"estimate", "rate"},
		{"fit"},
		{"fit", "linear"},
		{"fit", "logistic"},
		{"fit", "network"},
		{"cluster"},
		{"test"},
		{"test", "gof"},
		{"test", "means"},
		{"test", "power"},
		{"budget"},
		{"ledger"},
		{"account"},
		{"calibrate"},
		{"workload"},
		{"channel"},
		{"audit"},
		{"audit", "timing"},
		{"attack"},
		{"attack", "reconstruct"},
		{"attack", "difference"},
		{"attack", "membership"},
		{"attack", "name-and-shame"},
		{"interpret"},
		{"local"},
		{"local", "randomize"},
		{"local", "estimate"},
		{"local", "compare"},
		{"collect"},
		{"collect", "serve"},
		{"collect", "results"},
		{"demo"},
		{"demo", "data"},
		{"completion"},
		{"version"},
	} {
		var out strings.Builder
		s := &console.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Format: "table"}
		if err := runHelp(s, args); err != nil {
			t.Errorf("help %v: %v", args, err)
		}
		for line := range strings.Lines(out.String()) {
			flag, about, _ := strings.Cut(strings.TrimSpace(line), "   ")
			if !strings.HasPrefix(flag, "-") {
				continue
			}
			if strings.TrimSpace(about) == "" {
				t.Errorf("help %v says nothing of %s", args, flag)
			}
		}
	}
}
