// Package cli is the command line of dither, for the data owner, who can read the files, and for analysts whom the
// owner permits to run it.
package cli

import (
	"errors"
	"flag"
	"io"
	"strings"

	"dither/internal/cli/analyst"
	"dither/internal/cli/console"
	"dither/internal/cli/laboratory"
	"dither/internal/cli/owner"
	"dither/internal/cli/statistics"
	"dither/internal/cli/strategies"
	"dither/internal/cli/survey"
	"dither/internal/cli/tour"
	"dither/internal/nearest"
)

// Version is the version of the program.
const Version = "0.1.0-dev"

// verbs returns the commands in the order of the help text.
func verbs() []console.Verb {
	return []console.Verb{
		owner.Init,
		owner.Policy,
		owner.Seal,
		owner.Doctor,
		analyst.Tables,
		analyst.Explain,
		analyst.Query,
		statistics.Test,
		statistics.Fit,
		statistics.Estimate,
		statistics.Cluster,
		strategies.Tabulate,
		strategies.Synth,
		owner.Budget,
		owner.Ledger,
		owner.Stream,
		owner.Reset,
		laboratory.Account,
		laboratory.Calibrate,
		strategies.Workload,
		survey.Local,
		survey.Collect,
		laboratory.Interpret,
		laboratory.Attack,
		laboratory.Channel,
		laboratory.Audit,
		tour.Demo,
		completionVerb(),
		versionVerb,
	}
}

// Run runs the program and returns its exit code: 0 for success, 2 for an error of usage, 3 for a refusal by the
// policy, unsupported SQL or a refuted claim, 4 for an exhausted budget, 130 after a signal, and 1 for any other
// error.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := console.New(stdin, stdout, stderr)
	if wantsJSON(args) { // set before the flags are parsed, so that an unknown flag is reported as JSON too
		s.Format = "json"
	}
	return s.Finish(dispatch(s, args))
}

// wantsJSON reports whether --format json is among the arguments, in any position.
func wantsJSON(args []string) bool {
	for i, a := range args {
		switch strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-") {
		case "format=json":
			return a[0] == '-'
		case "format":
			return a[0] == '-' && i+1 < len(args) && args[i+1] == "json"
		}
	}
	return false
}

// dispatch parses the flags before the command, such as -C, and then runs the command.
func dispatch(s *console.Console, args []string) error {
	version := false
	s.Take(console.Verb{Name: "dither"})
	s.Flag(&version, "version", "", "the version")
	if err := s.Flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		help(s)
		return nil
	} else if err != nil {
		return console.WrongFlag(s.Flags, err)
	}
	args = s.Flags.Args()
	switch {
	case version:
		return runVersion(s, nil)
	case len(args) == 0:
		return console.Usage("no command")
	case args[0] == "help":
		return runHelp(s, args[1:])
	}
	return run(s, args[0], args[1:])
}

func run(s *console.Console, name string, args []string) error {
	names := []string{"help"}
	for _, v := range verbs() {
		if v.Name == name {
			s.Take(v)
			return v.Run(s, args)
		}
		names = append(names, v.Name)
	}
	return console.Usage("there is no command %q%s", name, console.DidYouMean(nearest.Name(name, names)))
}

// versionVerb is the command `dither version`.
var versionVerb = console.Verb{
	Name:  "version",
	About: "print the version",
	Run:   runVersion,
}

func runVersion(s *console.Console, args []string) error {
	if _, _, err := s.Parse(args); err != nil {
		return err
	}
	s.Print("dither %s\n", Version)
	return nil
}
