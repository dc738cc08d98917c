package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dither/internal/engine/postgres/pgtest"
)

// served are the binary's tests, with the server that some of them start.
type served struct{ *testing.M }

func (s served) Run() int {
	defer pgtest.Stop()
	return s.M.Run()
}

func TestMain(m *testing.M) {
	testscript.Main(served{m}, map[string]func(){
		"dither": func() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// The command line, in plain-text scripts. `exits N dither …` checks the exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/.state")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
		RequireExplicitExec: true,
	})
}

// exits runs a program and checks its exit code, keeping its output for stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("%s exited %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}
