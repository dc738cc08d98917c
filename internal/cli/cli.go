// Package cli is the command line: a door to the curator for the data owner, who can read the files, and for analysts whom
// the owner lets run it.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"dither/curator"
	"dither/internal/nearest"
)

// Exit codes.
const (
	exitAnswered  = 0
	exitFailed    = 1
	exitUsage     = 2
	exitRefused   = 3
	exitExhausted = 4
	exitGivenUp   = 130 // as a shell has it of what Ctrl-C ends
)

// Version is the program's version.
const Version = "0.1.0-dev"

// verbs lists the verbs in the order of help.
func verbs() []verb {
	return []verb{
		initVerb, policyVerb, sealVerb,
		tablesVerb, explainVerb, queryVerb,
		testVerb, fitVerb, estimateVerb, clusterVerb,
		budgetVerb, ledgerVerb,
		accountVerb, calibrateVerb, interpretVerb, attackVerb, channelVerb, auditVerb,
		demoVerb, completionVerb(), versionVerb,
	}
}

// verb is a verb of the command line.
type verb struct {
	name  string
	args  string // as its line of usage has them; words that may be typed as they stand are also completed
	about string
	run   func(*session, []string) error
	more  func(*session) string // what stands below its flags in help; nil: nothing
	words func() []string       // that complete it, beside those of args
}

// session is one run of the program.
type session struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	home    string          // -C
	format  string          // --format
	formats []string        // of the verb at hand
	verb    verb            // the one at hand
	flags   *flag.FlagSet   // its flags
	lost    error           // the first failure to write to stdout
	told    bool            // something was written there
	ctx     context.Context //nolint:containedctx // of this one run; nil until an engine is asked
	forget  func()          // the signals that end ctx
	exit    int             // of a command that answered: exitRefused where a claim was refuted
}

// errUsage is an error of the command line itself.
var errUsage = errors.New("usage")

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// Run runs the program and returns its exit code: 0 answered, 2 usage, 3 refused by the policy, unsupported SQL, or a
// claim refuted, 4 budget exhausted, 130 given up on a signal, 1 anything else.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &session{stdin: stdin, stdout: stdout, stderr: stderr, home: os.Getenv("DITHER_HOME"), format: "table"}
	if s.home == "" {
		s.home = "."
	}
	if wantsJSON(args) { // known before a flag that is none is found
		s.format = "json"
	}
	err := dispatch(s, args)
	if s.forget != nil {
		s.forget()
	}
	if err == nil && s.lost != nil {
		err = fmt.Errorf("the output could not be written: %w (what was answered is recorded: ask again, free)", s.lost)
	}
	if err == nil {
		return s.exit
	}
	s.report(err)
	return exitCode(err)
}

// wantsJSON reports --format json among the arguments, wherever it stands.
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

// dispatch takes -C before the verb, then the verb's own flags and -C again after it.
func dispatch(s *session, args []string) error {
	version := false
	s.flags = newFlags("dither")
	s.homeFlag()
	s.flag(&version, "version", "", "the version")
	if err := s.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		help(s)
		return nil
	} else if err != nil {
		return wrongFlag(s.flags, err)
	}
	args = s.flags.Args()
	switch {
	case version:
		return runVersion(s, nil)
	case len(args) == 0:
		return usage("no command")
	case args[0] == "help":
		return runHelp(s, args[1:])
	}
	return run(s, args[0], args[1:])
}

// run runs a verb.
func run(s *session, name string, args []string) error {
	names := []string{"help"}
	for _, v := range verbs() {
		if v.name == name {
			s.take(v)
			return v.run(s, args)
		}
		names = append(names, v.name)
	}
	return usage("there is no command %q%s", name, didYouMean(nearest.Name(name, names)))
}

// take makes a verb the one at hand, whose run declares its flags.
func (s *session) take(v verb) {
	s.verb, s.flags = v, newFlags(v.name)
	s.homeFlag()
}

func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// parse reads flags wherever they stand among the arguments, and returns the others.
func (s *session) parse(args []string) (rest []string, helped bool, err error) {
	args = oneColumn(s.flags, args)
	for {
		if err := s.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				s.help()
				return nil, true, nil
			}
			return nil, false, wrongFlag(s.flags, err)
		}
		args = s.flags.Args()
		if len(args) == 0 {
			return rest, false, s.checkFormat()
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

func (s *session) print(format string, args ...any) {
	s.told = true
	if _, err := fmt.Fprintf(s.stdout, format, args...); err != nil && s.lost == nil {
		s.lost = err
	}
}

// note tells the person at the terminal something that is not the answer.
//
// Where stderr cannot be written there is nobody left to tell.
func (s *session) note(format string, args ...any) { _, _ = fmt.Fprintf(s.stderr, format, args...) }

// report writes an error: as JSON on stdout if that was asked for, else in words on stderr. So it does where the answer stands there, of which a
// part failed that came after it: stdout has one JSON value.
func (s *session) report(err error) {
	e := asError(err)
	if s.flags != nil {
		if f := s.flags.Lookup("fresh"); f != nil && f.Value.String() == "true" {
			e.Retry = false // what the command asked before would be paid again
		}
	}
	if errors.Is(err, errUsage) && s.flags != nil && s.flags.Name() != "dither" {
		e.Hint = fmt.Sprintf("try `dither help %s`", s.flags.Name())
	}
	if s.format == "json" && !s.told {
		if text, jsonErr := e.MarshalJSON(); jsonErr == nil {
			s.print("%s\n", printableJSON(text))
			return
		}
	}
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf("%d:%d: ", e.Line, e.Column)
	}
	s.note("dither: %s%s\n", place, printableLines(e.Message))
	if e.Hint != "" {
		s.note("  %s\n", printableLines(e.Hint))
	}
}

// asError makes the one public form of any error.
func asError(err error) *curator.Error {
	var e *curator.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, errUsage) {
		return &curator.Error{Code: curator.CodeUsage, Message: strings.TrimPrefix(err.Error(), "usage: "), Hint: "try `dither help`"}
	}
	if errors.Is(err, context.Canceled) { // between two questions
		return &curator.Error{Code: curator.CodeCancelled, Message: "it was given up", Hint: "what was answered already can be asked again at no cost", Retry: true}
	}
	return &curator.Error{Code: curator.CodeHome, Message: err.Error()}
}

func exitCode(err error) int {
	switch asError(err).Code {
	case curator.CodeUsage:
		return exitUsage
	case curator.CodeSQL, curator.CodePolicy, curator.CodeAnalyst:
		return exitRefused
	case curator.CodeExhausted:
		return exitExhausted
	case curator.CodeCancelled:
		return exitGivenUp
	}
	return exitFailed
}

// versionVerb is `dither version`.
var versionVerb = verb{
	name:  "version",
	about: "print the version",
	run:   runVersion,
}

func runVersion(s *session, args []string) error {
	if _, _, err := s.parse(args); err != nil {
		return err
	}
	s.print("dither %s\n", Version)
	return nil
}
